"""With correctness maps for the model, hovers say how often such statements were right."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.confidence.correctness import (
    ChanceMap,
    Correctness,
    RightShare,
    Summary,
    save_correctness,
)
from counterlens.metrics.bootstrap import IntervalEstimate
from counterlens.models.llama.model import LlamaModel
from tests.conftest import short_model
from tests.folders import emptied
from tests.lsp.conftest import CONFIG, begin_session, fresh, initialize, open_file, scored

TEXT = "def add(a, b):\n    return a + b\n"


def fitted(skill: float, longest: int = 100) -> ChanceMap:
    """A map by which 8 in 10 pieces are right, whatever the confidence."""
    return ChanceMap(
        weights={Summary.MEAN: 0.0},
        whole={},
        offset=1.386,
        kinds={},
        n=515,
        functions=60,
        longest=longest,
        right=0.6,
        skill=IntervalEstimate(skill, skill - 0.05, skill + 0.05),
        auroc=IntervalEstimate(0.8, 0.75, 0.85),
        ece=IntervalEstimate(0.02, 0.01, 0.03),
        shares=(RightShare(0.7, 0.9, 412, 330, 0.8),),
    )


def store(model: LlamaModel, skill: float, longest: int = 100) -> Correctness:
    fit = fitted(skill, longest)
    info = model.info
    maps = Correctness(info.identity, info.name, "python", fit, fit, "2026-11-01", "HumanEval")
    save_correctness(maps)
    return maps


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's data of the server of these tests, which reads the maps after it has scored a document."""
    return tmp_path_factory.mktemp("data")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(data: Path) -> AsyncIterator[LanguageClient]:
    """A client of a server that has these data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(data))
        started = await CONFIG.start()
    assert isinstance(started, LanguageClient)
    await begin_session(started, initialize({"model": str(short_model(endless=True))}))
    yield started
    await started.shutdown_session()
    await started.stop()  # type: ignore[no-untyped-call]


@pytest_asyncio.fixture(loop_scope="session")
async def measured(
    server: LanguageClient, data: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[LanguageClient]:
    """The client, before anything is measured."""
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    emptied(data)
    async with fresh(server) as client:
        yield client


async def hover(client: LanguageClient, uri: str) -> str:
    await scored(client, uri)
    params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(1, 13))
    answer = await client.text_document_hover_async(params)
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


async def test_where_it_holds_it_is_shown(
    measured: LanguageClient, model: LlamaModel, tmp_path: Path
) -> None:
    store(model, 0.2)
    uri = open_file(measured, tmp_path / "add.py", TEXT)
    text = await hover(measured, uri)
    assert "was this sure of, in functions that it was this sure of, 8 in 10 were right (n = 412)." in text
    assert "does not tell" not in text


async def test_where_it_does_not_hold_that_is_said(
    measured: LanguageClient, model: LlamaModel, tmp_path: Path
) -> None:
    store(model, 0.01)
    uri = open_file(measured, tmp_path / "add.py", TEXT)
    text = await hover(measured, uri)
    assert "does not tell right statements from wrong ones (measured on 515 that it wrote)" in text
    assert "were right" not in text


async def test_of_longer_functions_than_were_measured_nothing_is_said(
    measured: LanguageClient, model: LlamaModel, tmp_path: Path
) -> None:
    store(model, 0.2, longest=2)
    uri = open_file(measured, tmp_path / "add.py", TEXT)
    assert "right" not in await hover(measured, uri)


async def test_little_confidence_says_nothing_because_people_write_unlikely_code(
    measured: LanguageClient, model: LlamaModel, tmp_path: Path
) -> None:
    maps = store(model, 0.2)
    save_correctness(replace(maps, statement=replace(maps.statement, right=0.9)))
    uri = open_file(measured, tmp_path / "add.py", TEXT)
    assert "were right" not in await hover(measured, uri)


async def test_of_code_outside_functions_nothing_is_said(
    measured: LanguageClient, model: LlamaModel, tmp_path: Path
) -> None:
    store(model, 0.2)
    uri = open_file(measured, tmp_path / "sum.py", "total = 1\nmiddle = total + 1\n")
    assert "were right" not in await hover(measured, uri)


async def test_what_is_not_measured_is_said(measured: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(measured, tmp_path / "add.py", TEXT)
    assert "`counterlens calibrate` does." in await hover(measured, uri)


async def test_maps_of_another_language_do_not_count(
    measured: LanguageClient, model: LlamaModel, tmp_path: Path
) -> None:
    save_correctness(replace(store(model, 0.2), language="java"))
    uri = open_file(measured, tmp_path / "add.py", TEXT)
    assert "is not measured" in await hover(measured, uri)
