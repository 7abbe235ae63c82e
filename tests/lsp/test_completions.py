"""Completions explained as an editor sees them, with the real model."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from pytest_lsp import LanguageClient

from tests.lsp.conftest import open_file
from tests.lsp.test_tasks import ask

COMMAND = "counterlens.complete"
PARITY = (Path(__file__).parents[2] / "examples" / "parity.py").read_text()
BRANCH = PARITY.splitlines().index('        return "even"')


@pytest.mark.usefixtures("embedded_by_default")
async def test_a_completion_has_its_place_and_its_explanation(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "parity.py", PARITY)
    answer = await ask(client, COMMAND, uri, position={"line": BRANCH, "character": 0})
    assert answer.ok, answer.error
    assert answer.function == "parity"
    assert re.search(r"return .even", answer.text)
    assert (answer.range.start.line, answer.range.start.character) == (BRANCH, 0)
    assert answer.range.end.line >= len(PARITY.rstrip().splitlines()) - 1
    assert "It wrote the existing code" in answer.markdown


async def test_both_sides_of_a_counterfactual(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "parity.py", PARITY)
    place = {"line": BRANCH, "character": 0}
    answer = await ask(client, COMMAND, uri, position=place, mutation="if-else-flip")
    assert answer.ok, answer.error
    assert "after if-else-flip" in answer.markdown
    refused = await ask(client, COMMAND, uri, position=place, mutation="rename-random")
    assert not refused.ok
    assert "no variables" in refused.error


async def test_only_a_body_can_be_completed(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "parity.py", PARITY)
    answer = await ask(client, COMMAND, uri, position={"line": 0, "character": 0})
    assert not answer.ok
    assert "not in the body of a function" in answer.error


@pytest.mark.usefixtures("embedded_by_default")
async def test_the_first_line_comes_before_the_explanation(client: LanguageClient, tmp_path: Path) -> None:
    news: list[tuple[Any, bool]] = []
    uri = open_file(client, tmp_path / "parity.py", PARITY + "\n\ndef after(n):\n    return n\n")
    asked = ask(client, COMMAND, uri, position={"line": BRANCH, "character": 0})
    answer = asyncio.ensure_future(asked)
    client.feature("counterlens/completionBegun")(lambda begun: news.append((begun, answer.done())))
    whole = await answer
    ((begun, answered),) = news
    assert not answered  # however soon the whole one follows
    assert (begun.uri, begun.function) == (uri, "parity")
    assert whole.text.startswith(begun.text)
    assert whole.range.end.line < PARITY.count("\n") + 2
    assert "def after" not in whole.text
