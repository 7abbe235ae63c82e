"""With a calibration map for the model, the editor shows calibrated confidence, and says so."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.confidence import Aggregation
from counterlens.confidence.calibration import EVERYTHING, Calibration, Curve, save_calibration
from counterlens.models.llama.model import LlamaModel
from tests.lsp.conftest import configure, open_file, scored

TEXT = "def add(a, b):\n    return a + b\n"


@pytest.fixture(autouse=True)
def _map(model: LlamaModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A map by which every node is predicted correctly in a quarter of all cases."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    curves = {EVERYTHING: Curve(9, (0.0, 1.0), (0.25, 0.25))}
    save_calibration(
        Calibration(model.info.identity, model.info.name, Aggregation.MEAN, curves, "2026-11-01")
    )


async def test_the_map_is_used_and_named(own_client: LanguageClient, tmp_path: Path) -> None:
    client = own_client
    uri = open_file(client, tmp_path / "add.py", TEXT)
    await scored(client, uri)
    params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(1, 13))
    answer = await client.text_document_hover_async(params)
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    assert "Calibrated confidence: " in answer.contents.value
    assert "2026-11-01" in answer.contents.value
    assert "**25 %**" in answer.contents.value
    for granularity in ("token", "leaf", "statement", "concept"):
        found: Any = await client.protocol.send_request_async(
            "counterlens/overlay", {"textDocument": {"uri": uri}, "granularity": granularity, "calm": False}
        )
        assert found.calibrated
        assert {round(span.confidence, 6) for span in found.spans} == {0.25}

    configure(client, confidence={"calibrated": False})
    for _ in range(600):  # it is scored anew
        answer = await client.text_document_hover_async(params)
        assert answer is not None
        assert isinstance(answer.contents, types.MarkupContent)
        if "scoring…" not in answer.contents.value:
            break
        await asyncio.sleep(0.05)
    assert "Raw confidence: " in answer.contents.value
    assert "2026-11-01" not in answer.contents.value
