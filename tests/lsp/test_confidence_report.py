"""The confidence as a report for assistants, with the real model."""

from __future__ import annotations

from pathlib import Path

from pytest_lsp import LanguageClient

from tests.lsp.conftest import open_file
from tests.lsp.test_tasks import SOURCE, ask

COMMAND = "counterlens.confidence"


async def test_the_report_is_of_a_function_or_of_the_file(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "a.py", SOURCE)
    part = await ask(client, COMMAND, uri, function="same")
    assert part.ok
    assert "`return x`" in part.markdown
    assert "if n < 0" not in part.markdown
    whole = await ask(client, COMMAND, uri)
    assert whole.ok
    assert "not whether the code is right" in whole.markdown
    assert "no function absent" in (await ask(client, COMMAND, uri, function="absent")).error
    assert "not open" in (await ask(client, COMMAND, "file:///absent.py")).error
