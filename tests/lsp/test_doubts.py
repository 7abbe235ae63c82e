"""Doubts in an editor: marked by default, kept over edits, mended, compared, explained, ignored."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

from tests.cli.test_check import DECIDED, EITHER
from tests.cli.test_check import RIGHT as PASSING
from tests.doubt.planted import PLANTED
from tests.lsp.conftest import begin_session, configure, fresh, initialize, open_file, scored, until
from tests.lsp.test_confidence import actions
from tests.lsp.test_dependences import edit
from tests.lsp.test_server import position_of

WORDS = ClientServerConfig(server_command=[sys.executable, "-m", "tests.lsp.word_server"])
WRONG = "def is_even(n):\n    rest = n % 2\n    return rest != 0\n"
RIGHT = "def other(n):\n    return n == 1\n"
MESSAGE = "`!=`: did you mean `==`? (model preference over 99 %)"


@pytest_lsp.fixture(config=WORDS, scope="session")
async def shared_words(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin_session(lsp_client, initialize())
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture(loop_scope="session")
async def words(shared_words: LanguageClient) -> AsyncIterator[LanguageClient]:
    async with fresh(shared_words) as one:
        yield one


def marked(client: LanguageClient, uri: str) -> list[types.Diagnostic]:
    return [one for one in client.diagnostics.get(uri, ()) if one.code == "doubt"]


async def mark_of(client: LanguageClient, uri: str) -> types.Diagnostic:
    await until(lambda: len(marked(client, uri)) == 1, 20)
    return marked(client, uri)[0]


async def test_a_doubt_is_marked_unasked_and_follows_what_is_typed(
    words: LanguageClient, tmp_path: Path
) -> None:
    text = f"{RIGHT}\n\n{WRONG}"
    uri = open_file(words, tmp_path / "even.py", text)
    mark = await mark_of(words, uri)
    assert (mark.message, mark.severity) == (MESSAGE, types.DiagnosticSeverity.Information)
    assert mark.range.start == position_of(text, "!=")
    assert all(one.code == "doubt" for one in words.diagnostics[uri])  # no surprises by default

    above = "import os\n" + text
    edit(words, uri, 2, above)
    await until(lambda: [one.range.start for one in marked(words, uri)] == [position_of(above, "!=")], 20)
    edit(words, uri, 3, above.replace("!=", "=="))
    await until(lambda: not marked(words, uri), 20)
    edit(words, uri, 4, above)
    assert (await mark_of(words, uri)).message == MESSAGE
    edit(words, uri, 5, above.replace("!= 0", "!= 0  # counterlens: ignore"))
    await until(lambda: not marked(words, uri), 20)


async def test_a_doubt_can_be_mended_compared_explained_and_ignored(
    words: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(words, tmp_path / "even.py", WRONG)
    mark = await mark_of(words, uri)
    offered = {one.title: one for one in await actions(words, uri, mark)}
    assert list(offered) == [
        "Change to `==`",
        "Show the difference to `==`",
        "Why is this in doubt?",
        "Ignore this mark",
        "Not useful: show fewer of this kind",
    ]
    assert all(list(one.diagnostics or ()) == [mark] for one in offered.values() if one.edit)
    assert edited(WRONG, offered["Change to `==`"]) == WRONG.replace("!=", "==")
    ignored = edited(WRONG, offered["Ignore this mark"])
    assert ignored == WRONG.replace("!= 0", "!= 0  # counterlens: ignore")
    shown = offered["Show the difference to `==`"].command
    assert shown is not None
    assert shown.command == "counterlens.previewReplacement"

    why = offered["Why is this in doubt?"].command
    assert why is not None
    answer = await words.workspace_execute_command_async(
        types.ExecuteCommandParams(why.command, why.arguments)
    )
    assert answer["ok"]
    rows = [line for line in answer["markdown"].splitlines() if line.startswith("|")]
    assert [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:5]] == [
        ["`!=`", "-6.0", "", "+6.0"],
        ["`==`", "", "-0.1", "-0.1"],
        ["`0`", "-2.0", "-2.0", "+0.0"],
    ]
    assert "by +5.9 nats" in answer["markdown"]


async def test_doubts_can_be_fainter_or_off(words: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(words, tmp_path / "even.py", WRONG)
    await mark_of(words, uri)
    configure(words, doubt={"diagnostics": "hint"})
    await until(lambda: [one.severity for one in marked(words, uri)] == [types.DiagnosticSeverity.Hint], 20)
    configure(words, doubt={"diagnostics": "off"})
    await until(lambda: not marked(words, uri), 20)
    edit(words, uri, 2, WRONG + "\n")
    await scored(words, uri, 2)
    assert not marked(words, uri)


def edited(text: str, action: types.CodeAction) -> str:
    """A text of one-byte characters after an action."""
    assert action.edit is not None
    (change,) = action.edit.document_changes or []
    assert isinstance(change, types.TextDocumentEdit)
    (one,) = change.edits
    assert isinstance(one, types.TextEdit)
    lines = text.splitlines(keepends=True)
    at = [sum(map(len, lines[: place.line])) + place.character for place in (one.range.start, one.range.end)]
    return text[: at[0]] + one.new_text + text[at[1] :]


async def test_tests_settle_doubts_in_idle_time(words: LanguageClient, tmp_path: Path) -> None:
    text = "\n\n".join((DECIDED, EITHER.replace("is_even", "either"), PASSING))
    uri = open_file(words, tmp_path / "even.py", text)

    def told() -> list[tuple[int, types.DiagnosticSeverity | None]]:
        return [(one.range.start.line, one.severity) for one in marked(words, uri)]

    await until(lambda: len(told()) == 3, 20)
    await until(lambda: any(one.severity == types.DiagnosticSeverity.Error for one in marked(words, uri)), 40)
    await until(lambda: len(told()) == 2, 40)
    await until(lambda: any("no test distinguishes them" in one.message for one in marked(words, uri)), 20)
    wrong, either = sorted(marked(words, uri), key=lambda one: one.range.start.line)
    assert wrong.severity == types.DiagnosticSeverity.Error
    sentence, test = wrong.message.splitlines()
    assert sentence.endswith("tests fail now and pass with it)")
    assert test == "`is_even(0), is_even(3)`: expected (True, False), got (False, True)"
    assert either.severity == types.DiagnosticSeverity.Information


async def test_an_edited_function_that_fails_its_tests_is_fixed_whatever_its_kind(
    words: LanguageClient, tmp_path: Path
) -> None:
    planted = PLANTED["augmented"]
    uri = open_file(words, tmp_path / "total.py", planted.right)
    edit(words, uri, 2, planted.wrong)
    await until(lambda: ["did you mean `+=`?" in one.message for one in marked(words, uri)] == [True], 60)
    (mark,) = marked(words, uri)
    assert mark.severity == types.DiagnosticSeverity.Error
    edit(words, uri, 3, planted.right)
    await until(lambda: not marked(words, uri), 60)


UNFIXED = "def upper(name):\n    return name.upper()\n"


def project_with(folder: Path, tests: str) -> Path:
    """A project with tests of `names.py`."""
    (folder / "pyproject.toml").write_text("")
    path = folder / "test_names.py"
    path.write_text(f"from names import upper\n\n{tests}")
    return path


async def test_an_edit_that_fails_its_tests_is_marked_at_once_although_no_fix_is_known(
    words: LanguageClient, tmp_path: Path
) -> None:
    both = "def test_upper():\n    assert upper('a') == 'A'\n\ndef test_b():\n    assert upper('b') == 'B'\n"
    tests = project_with(tmp_path, both)
    uri = open_file(words, tmp_path / "names.py", UNFIXED)
    edit(words, uri, 2, UNFIXED.replace("name.upper()", "{name}"))
    mark = await mark_of(words, uri)
    assert mark.message == "`test_upper`: expected 'A', got {'a'}; another test fails"
    assert mark.severity == types.DiagnosticSeverity.Error
    assert mark.range == types.Range(types.Position(0, 4), types.Position(0, 9))
    (related,) = mark.related_information or ()
    assert related.location.uri == tests.as_uri()
    assert related.location.range.start.line == 3
    edit(words, uri, 3, UNFIXED)
    await until(lambda: not marked(words, uri), 60)


async def test_an_edit_that_fails_its_tests_is_marked_before_the_model_has_read_it(
    words: LanguageClient, tmp_path: Path
) -> None:
    project_with(tmp_path, "def test_upper():\n    assert upper('a') == 'A'\n")
    right = "def upper(name):\n    return name.upper() if name != '' else ''\n"
    uri = open_file(words, tmp_path / "names.py", right)
    edit(words, uri, 2, right.replace("name.upper()", "{name}").replace("''\n", "''  # slowly\n"))
    mark = await mark_of(words, uri)
    assert mark.message == "`test_upper`: expected 'A', got {'a'}"


async def test_a_changed_file_of_tests_takes_effect_in_other_documents(
    words: LanguageClient, tmp_path: Path
) -> None:
    tests = project_with(tmp_path, "def test_upper():\n    assert upper('a') == 'A'\n")
    uri = open_file(words, tmp_path / "names.py", UNFIXED)
    await scored(words, uri, 1)
    tests.write_text(tests.read_text().replace("'A'", "'AA'"))
    changed = types.FileEvent(tests.as_uri(), types.FileChangeType.Changed)
    words.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
    assert (await mark_of(words, uri)).message == "`test_upper`: expected 'AA', got 'A'"


async def test_a_file_that_is_renamed_on_disk_has_no_marks_at_its_old_path(
    words: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(words, tmp_path / "even.py", WRONG)
    await mark_of(words, uri)

    def tell(kind: types.FileChangeType) -> None:
        event = types.FileEvent(uri, kind)
        words.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    tell(types.FileChangeType.Deleted)
    await until(lambda: not marked(words, uri), 20)
    tell(types.FileChangeType.Created)
    await mark_of(words, uri)


async def test_a_kind_that_is_not_useful_weighs_less_in_this_workspace_until_that_is_undone(
    words: LanguageClient, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    uri = open_file(words, tmp_path / "even.py", WRONG)
    offered = {one.title: one for one in await actions(words, uri, await mark_of(words, uri))}
    command = offered["Not useful: show fewer of this kind"].command
    assert command is not None
    asked: list[str] = []
    answered = asyncio.Event()

    @words.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    async def ask(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        asked.append(params.message)
        await answered.wait()
        return (params.actions or [None])[0]

    waiting = asyncio.ensure_future(
        words.workspace_execute_command_async(types.ExecuteCommandParams(command.command, command.arguments))
    )
    await until(lambda: not marked(words, uri), 20)
    await until(lambda: bool(asked), 20)
    assert asked == ["Fewer marks of the kind `comparison` are shown in this workspace."]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "even.py") == [".git"]
    answered.set()
    await waiting
    await mark_of(words, uri)
