"""Functions whose docstring and code disagree, in an editor: marked when seen or edited, with offers."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

from counterlens.lsp.doubts import Usefulness
from tests.doubt.test_disagreeing import SOURCE, mark_in
from tests.lsp.conftest import begin_session, fresh, initialize, open_file, until
from tests.lsp.test_confidence import actions
from tests.lsp.test_dependences import edit
from tests.lsp.test_doubts import edited, marked

WRITING = ClientServerConfig(server_command=[sys.executable, "-m", "tests.lsp.word_server", "--writes"])
RIGHT = '''def half(n: int) -> int:
    """Return half of an integer, rounded up.

    >>> half(4)
    2
    """
    return (n + 1) // 2
'''
WRONG = RIGHT.replace("(n + 1) // 2", "n // 2")


@pytest_lsp.fixture(config=WRITING, scope="session")
async def shared_writer(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin_session(lsp_client, initialize())
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture(loop_scope="session")
async def writer(shared_writer: LanguageClient) -> AsyncIterator[LanguageClient]:
    async with fresh(shared_writer) as client:
        yield client


async def mark_of(client: LanguageClient, uri: str) -> types.Diagnostic:
    """The only mark, once tests and versions have run."""
    await until(lambda: len(marked(client, uri)) == 1, 120)
    return marked(client, uri)[0]


async def test_an_edit_brings_and_takes_away_a_mark(writer: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(writer, tmp_path / "halves.py", RIGHT)
    edit(writer, uri, 2, WRONG)
    mark = await mark_of(writer, uri)
    assert mark.message.startswith("docstring and code disagree: `half(")
    assert "6 of 6 versions written from the docstring return" in mark.message
    assert mark.severity == types.DiagnosticSeverity.Information
    assert mark.range == types.Range(types.Position(0, 4), types.Position(0, 8))
    edit(writer, uri, 3, f"import os\n\n\n{WRONG}")
    await until(lambda: [mark.range.start.line for mark in marked(writer, uri)] == [3], 60)
    edit(writer, uri, 4, RIGHT)
    await until(lambda: not marked(writer, uri), 60)


async def test_a_disagreement_can_become_an_example_or_a_fix_or_be_silenced(
    writer: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(writer, tmp_path / "halves.py", WRONG)
    view = types.Range(types.Position(0, 0), types.Position(4, 0))
    await writer.protocol.send_request_async(
        "counterlens/overlay", {"textDocument": {"uri": uri}, "range": view}
    )
    edit(writer, uri, 2, f"{WRONG}\n\nOTHER = 1\n")  # the function is in view, and nobody edits it
    mark = await mark_of(writer, uri)
    offered = {action.title: action for action in await actions(writer, uri, mark)}
    assert list(offered) == [
        "Add this as an example that should hold",
        "Show the version from the docstring",
        "Use the version from the docstring, which passes the tests",
        "Ignore this mark",
        "Not useful: show fewer of this kind",
    ]
    used = edited(WRONG, offered["Use the version from the docstring, which passes the tests"])
    assert used == WRONG.replace("n // 2", "-(-n // 2)")
    example = edited(WRONG, offered["Add this as an example that should hold"])
    call, value = mark.message.split("`")[1], mark.message.rpartition(" return ")[2]
    assert example == WRONG.replace("    2\n", f"    2\n    >>> {call}\n    {value}\n")


def test_marks_of_docstrings_that_are_not_useful_are_hidden_until_that_is_undone(tmp_path: Path) -> None:
    said, mark = Usefulness(tmp_path, tmp_path), mark_in(SOURCE)
    assert said.shows(mark, "words")
    said.lessen(mark, "words")
    assert not Usefulness(tmp_path, tmp_path).shows(mark, "words")
    assert said.shows(mark, "another model")
    said.restore("docstring", "words")
    assert said.shows(mark, "words")


async def test_a_version_that_passes_the_tests_is_offered_where_no_alternative_does(
    writer: LanguageClient, tmp_path: Path
) -> None:
    right = RIGHT.replace('    2\n    """', '    2\n    >>> half(3)\n    2\n    """')
    wrong = right.replace("return (n + 1) // 2", "whole = n // 2\n    return whole")
    uri = open_file(writer, tmp_path / "halves.py", right)
    edit(writer, uri, 2, wrong)
    said = "`half(3)`: expected 2, got 1; a version that the model wrote passes"
    await until(lambda: [said in mark.message for mark in marked(writer, uri)] == [True], 120)
    (mark,) = marked(writer, uri)
    assert mark.severity == types.DiagnosticSeverity.Error
    offered = {action.title: action for action in await actions(writer, uri, mark)}
    assert list(offered) == [
        "Use the version that passes the tests",
        "Show the version that passes the tests",
        "Ignore this mark",
    ]
    used = edited(wrong, offered["Use the version that passes the tests"])
    assert used == right.replace("(n + 1) // 2", "-(-n // 2)")
    edit(writer, uri, 3, used)
    await until(lambda: not marked(writer, uri), 60)


async def test_what_the_docstring_states_is_marked_without_a_fix(
    writer: LanguageClient, tmp_path: Path
) -> None:
    right = 'def half(n):\n    """Halve: half(3) == 1.5."""\n    return n / 2\n'
    uri = open_file(writer, tmp_path / "stated.py", right)
    edit(writer, uri, 2, right.replace("n / 2", "n // 2"))
    mark = await mark_of(writer, uri)
    assert mark.message == "docstring and code disagree: `half(3)` returns 1; the docstring says 1.5"
    titles = [action.title for action in await actions(writer, uri, mark)]
    assert not any("version" in title or "example" in title for title in titles)
    edit(writer, uri, 3, right)
    await until(lambda: not marked(writer, uri), 60)


async def test_what_docstrings_state_is_marked_before_a_model_writes(
    writer: LanguageClient, tmp_path: Path
) -> None:
    written = tmp_path / "written"
    stated = 'def third(n):\n    """Divide: third(3) == 1."""\n    return n / 2\n'
    read = WRONG.replace("rounded up.", f"rounded up. Wait for {written}.")
    uri = open_file(writer, tmp_path / "both.py", f"{stated}\n\n{read}")
    view = types.Range(types.Position(0, 0), types.Position(12, 0))
    await writer.protocol.send_request_async(
        "counterlens/overlay", {"textDocument": {"uri": uri}, "range": view}
    )
    edit(writer, uri, 2, f"{stated}\n\n{read}\n\nOTHER = 1\n")
    mark = await mark_of(writer, uri)
    assert mark.message == "docstring and code disagree: `third(3)` returns 1.5; the docstring says 1"
    written.touch()
    await until(lambda: len(marked(writer, uri)) == 2, 120)
