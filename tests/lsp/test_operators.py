"""Operators as an editor sees them: asked when pointed at, kept over edits, marked, mended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.lsp.known_results import KnownOperator, KnownOperators
from counterlens.probes.operator.belief import Belief
from counterlens.probes.operator.scoring import OperatorDistribution
from counterlens.syntax.document import Document
from counterlens.syntax.operators import operator_at
from tests.lsp.conftest import configure, open_file, scored, until
from tests.lsp.test_confidence import actions
from tests.lsp.test_dependences import edit
from tests.lsp.test_server import hover_text, position_of

SOURCE = "def is_even(n):\n    return n % 2 != 0\n"
"""The model strongly prefers `==`."""


def marked(client: LanguageClient, uri: str) -> list[types.Diagnostic]:
    return [one for one in client.diagnostics.get(uri, ()) if one.code == "operator"]


async def known_at(client: LanguageClient, uri: str, text: str, operator: str) -> str:
    """The hover at an operator, once the model has answered."""
    said = ""
    for _ in range(400):
        said = await hover_text(client, uri, position_of(text, operator))
        if "Asking which operator fits" not in said:
            break
        assert "`" in said
    return said


@pytest.mark.usefixtures("embedded_by_default")
async def test_an_operator_is_asked_about_when_pointed_at_then_marked_and_mended(
    plain_client: LanguageClient, tmp_path: Path
) -> None:
    client = plain_client
    uri = open_file(client, tmp_path / "even.py", SOURCE)
    await scored(client, uri)
    assert not marked(client, uri)
    said = await known_at(client, uri, SOURCE, "!= 0")
    assert "Which operator fits `n % 2 != 0`?" in said
    assert "likely with `==` instead" in said
    assert "**`!=`**" in said
    assert all(f"`{operator}`" in said for operator in ("<", "<=", ">", ">="))

    await until(lambda: bool(marked(client, uri)))
    (mark,) = marked(client, uri)
    assert mark.range.start == position_of(SOURCE, "!=")
    assert mark.severity == types.DiagnosticSeverity.Information
    assert mark.message.startswith("Did you mean `==` in `n % 2 != 0`? ")
    offered = await actions(client, uri, mark)
    titles = [one.title for one in offered]
    fix = next(one for one in offered if one.title.startswith("Replace `!=` with `==` ("))
    assert titles.count("Ignore surprising operators here") == 1
    assert list(fix.diagnostics or ()) == [mark]
    assert fix.edit is not None
    (change,) = fix.edit.document_changes or []
    assert isinstance(change, types.TextDocumentEdit)
    assert [one.new_text for one in change.edits] == ["=="]
    assert change.edits[0].range == mark.range

    below = SOURCE + "\n\nx = 1\n"
    edit(client, uri, 2, below)
    assert "most likely with `==`" in await hover_text(client, uri, position_of(below, "!="))
    configure(client, operators={"diagnostics": "off"})
    await until(lambda: not marked(client, uri))
    configure(client, operators={"diagnostics": "hint"})
    await until(lambda: bool(marked(client, uri)))
    assert marked(client, uri)[0].severity == types.DiagnosticSeverity.Hint
    edit(client, uri, 3, below.replace("!= 0", "!= 0  # counterlens: ignore[operators]"))
    await known_at(client, uri, below, "!= 0")
    await scored(client, uri, 3)
    assert not marked(client, uri)


@pytest.mark.usefixtures("embedded_by_default")
async def test_nothing_is_asked_unasked_and_everything_where_it_is_wanted(
    client: LanguageClient, tmp_path: Path
) -> None:
    configure(client, operators={"ask": "never"})
    uri = open_file(client, tmp_path / "even.py", SOURCE)
    await scored(client, uri)
    assert "operator fits" not in await hover_text(client, uri, position_of(SOURCE, "!="))
    configure(client, operators={"ask": "scored"})
    await until(lambda: bool(marked(client, uri)))
    offered = await actions(client, uri, marked(client, uri)[0])
    (action,) = [one for one in offered if one.title.startswith("Replace `!=` with `==` (")]
    assert action.command is not None
    assert action.command.command == "counterlens.previewReplacement"
    configure(client, model=str(tmp_path / "missing.gguf"), operators={"ask": "hover"})
    assert "missing.gguf" in await known_at(client, uri, SOURCE, "!=")


def test_answers_stay_as_long_as_what_was_read_stays() -> None:
    text = "import os\n\ndef f(a):\n    return a < 1\n\ndef g(a):\n    return a > 1\n"
    old = Document(text)
    answers = KnownOperators()
    for operator in "<>":
        start = text.index(operator)
        site = operator_at(old, start)
        assert site is not None
        belief = Belief(OperatorDistribution(site, -np.arange(6.0)), 0.1)
        unit = text.index("\ndef f"), text.index("\n\ndef g") + 1
        read = unit if operator == "<" else (unit[1], len(text))
        answers.note(old, "model", KnownOperator(start, start + 1, read, len("import os\n"), belief))
    assert len(answers.on(old, "model")) == 2
    longer = Document(text.replace("a > 1", "a > 12"))
    assert set(answers.on(longer, "model")) == {text.index("<")}
    assert answers.on(Document(longer.text.replace("os", "re")), "model") == {}  # the header was read, too
    answers.note(old, "model", KnownOperator(start, start + 1, read, 0, belief))
    moved = Document(text.replace("a < 1", "a < 100"))
    assert set(answers.on(moved, "model")) == {moved.text.index(">")}
    assert answers.on(moved, "another model") == {}
