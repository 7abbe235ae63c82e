"""Confidence as an editor of today sees it: pulled diagnostics, what to do about them, tree, hints."""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities

from tests.lsp.conftest import CONFIG, UNCERTAINTY, scored, uncertain, until, watch

SOURCE = '''"""Größe 😀 of things."""


def longest(words):
    """The longest of some words."""
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    return zxqvkj or best
'''


def modern() -> types.ClientCapabilities:
    """The capabilities of a current editor: pull diagnostics, and refresh."""
    able = client_capabilities("visual-studio-code")
    assert able.text_document is not None
    assert able.workspace is not None
    able.text_document.diagnostic = types.DiagnosticClientCapabilities()
    able.workspace.diagnostics = types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    able.workspace.inlay_hint = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
    return able


def watch_refreshes(client: LanguageClient) -> None:
    watch(client)
    client.hint_refreshes = 0  # type: ignore[attr-defined]

    @client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)
    def _hints(_params: None) -> None:
        client.hint_refreshes += 1  # type: ignore[attr-defined]


async def begin(client: LanguageClient, *, shows_results: bool) -> None:
    watch_refreshes(client)
    options = {"trusted": True, "showsResults": shows_results, "settings": UNCERTAINTY}
    await client.initialize_session(
        types.InitializeParams(capabilities=modern(), initialization_options=options)
    )


@pytest_lsp.fixture(config=CONFIG, scope="session")
async def ours(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin(lsp_client, shows_results=True)
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG, scope="session")
async def other(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin(lsp_client, shows_results=False)
    yield
    await lsp_client.shutdown_session()


@pytest.fixture(autouse=True)
def _defaults(request: pytest.FixtureRequest) -> Any:
    """Tests that share a server leave its settings as they were."""
    yield
    for name in {"ours", "other"} & set(request.fixturenames):
        configure(request.getfixturevalue(name))


def configure(client: LanguageClient, **settings: Any) -> None:
    params = types.DidChangeConfigurationParams({"counterlens": uncertain(**settings)})
    client.workspace_did_change_configuration(params)


async def open_scored(
    client: LanguageClient, path: Path, text: str = SOURCE, language: str = "python"
) -> str:
    path.write_text(text, encoding="utf-8", newline="")
    item = types.TextDocumentItem(path.as_uri(), language, 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    await scored(client, item.uri)
    return item.uri


async def edit(client: LanguageClient, uri: str, text: str, version: int) -> None:
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=version, uri=uri),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
    )


async def pull(client: LanguageClient, uri: str, previous: str | None = None) -> Any:
    return await client.text_document_diagnostic_async(
        types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=previous)
    )


async def actions(client: LanguageClient, uri: str, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
    found = await client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            diagnostic.range,
            types.CodeActionContext([diagnostic], only=[types.CodeActionKind.QuickFix]),
        )
    )
    return [_whole(one) for one in found or []]


def _whole(one: types.CodeAction | types.Command) -> types.CodeAction:
    """A code action; lsprotocol 2025.0.0 takes one that has a command for that command, as a text."""
    if isinstance(one, types.CodeAction):
        return one
    command = ast.literal_eval(one.command)
    return types.CodeAction(one.title, command=types.Command(**command))


async def odd_one(client: LanguageClient, uri: str) -> types.Diagnostic:
    """The diagnostic at the name that nobody would expect."""
    report = await pull(client, uri)
    return next(one for one in report.items if one.range.start.line == 9)


def applied(text: str, edits: list[types.TextEdit | types.AnnotatedTextEdit]) -> str:
    """The text with edits made, as an editor makes them."""
    lines = text.splitlines(keepends=True)
    starts = [sum(len(line) for line in lines[:i]) for i in range(len(lines) + 1)]
    for one in sorted(edits, key=lambda each: (each.range.start.line, each.range.start.character))[::-1]:
        start, end = (starts[at.line] + at.character for at in (one.range.start, one.range.end))
        text = text[:start] + one.new_text + text[end:]
    return text


def edits_of(action: types.CodeAction) -> list[Any]:
    assert action.edit is not None
    assert action.edit.document_changes is not None
    change = action.edit.document_changes[0]
    assert isinstance(change, types.TextDocumentEdit)
    return list(change.edits)


async def test_diagnostics_are_pulled_refreshed_and_unchanged_when_they_are(
    ours: LanguageClient, tmp_path: Path
) -> None:
    before = ours.diagnostic_refresh_count
    uri = await open_scored(ours, tmp_path / "longest.py")
    await until(lambda: ours.diagnostic_refresh_count > before)
    report = await pull(ours, uri)
    assert report.kind == "full"
    (one,) = report.items  # ten lines: one at most
    assert one.code == "surprising"
    assert one.severity == types.DiagnosticSeverity.Information
    assert "did not expect `zxqvkj` in `zxqvkj or best` here" in one.message
    assert "it expected `" in one.message
    again = await pull(ours, uri, report.result_id)
    assert again.kind == "unchanged"
    assert again.result_id == report.result_id
    assert uri not in ours.diagnostics  # nothing was pushed as well


async def test_an_edit_elsewhere_keeps_the_mark_in_its_place_meanwhile(
    ours: LanguageClient, tmp_path: Path
) -> None:
    uri = await open_scored(ours, tmp_path / "longest.py")
    before = await odd_one(ours, uri)
    await edit(ours, uri, "# A line above.\n" + SOURCE, 2)
    (kept,) = (await pull(ours, uri)).items
    assert kept.range.start.line == before.range.start.line + 1
    assert kept.message == before.message
    touched = SOURCE.replace("zxqvkj", "zxqvkjw")
    await edit(ours, uri, touched, 3)
    assert not (await pull(ours, uri)).items
    await edit(ours, uri, touched.replace("zxqvkjw or ", ""), 4)
    await scored(ours, uri, 4)
    assert not any("zx" in one.message for one in (await pull(ours, uri)).items)


async def test_the_number_of_marks_is_a_setting(ours: LanguageClient, tmp_path: Path) -> None:
    text = "".join(SOURCE.replace("longest(", f"longest{i}(").partition("\n\n\n")[2] for i in range(3))
    uri = await open_scored(ours, tmp_path / "many.py", text)
    lines = text.count("\n") + 1
    few = (await pull(ours, uri)).items
    assert 1 <= len(few) <= max(1, 3 * lines // 100)
    configure(ours, diagnostics={"perHundredLines": 20})
    more = (await pull(ours, uri)).items
    assert len(few) < len(more) <= 20 * lines // 100
    configure(ours, diagnostics={"perHundredLines": 0})
    assert not (await pull(ours, uri)).items


async def test_our_client_is_asked_to_show_a_replacement_first(ours: LanguageClient, tmp_path: Path) -> None:
    uri = await open_scored(ours, tmp_path / "longest.py")
    mark = await odd_one(ours, uri)
    offered = [one for one in await actions(ours, uri, mark) if one.title.startswith("Replace with")]
    assert 1 <= len(offered) <= 3
    for one in offered:
        assert one.edit is None
        assert one.command is not None
        assert one.command.command == "counterlens.previewReplacement"
        (argument,) = one.command.arguments or [None]
        assert (argument["uri"], argument["version"]) == (uri, 1)  # type: ignore[index]
        where = argument["range"]  # type: ignore[index]
        start, end = (types.Position(**where[side]) for side in ("start", "end"))
        new = types.TextEdit(types.Range(start, end), argument["newText"])  # type: ignore[index]
        compile(applied(SOURCE, [new]), "longest.py", "exec")


async def test_another_client_confirms_a_replacement(other: LanguageClient, tmp_path: Path) -> None:
    uri = await open_scored(other, tmp_path / "longest.py")
    mark = await odd_one(other, uri)
    offered = await actions(other, uri, mark)
    replace = next(one for one in offered if one.title.startswith("Replace with"))
    assert replace.command is None
    assert list(replace.diagnostics or []) == [mark]
    (one,) = edits_of(replace)
    assert replace.edit is not None
    assert replace.edit.change_annotations is not None
    assert replace.edit.change_annotations[one.annotation_id].needs_confirmation
    assert "zxqvkj" not in applied(SOURCE, [one])
    compile(applied(SOURCE, [one]), "longest.py", "exec")


async def test_a_mark_is_ignored_by_a_comment_at_once(ours: LanguageClient, tmp_path: Path) -> None:
    uri = await open_scored(ours, tmp_path / "longest.py")
    offered = await actions(ours, uri, await odd_one(ours, uri))
    ignore = next(one for one in offered if one.title.endswith("here"))
    changed = applied(SOURCE, edits_of(ignore))
    assert "    return zxqvkj or best  # counterlens: ignore[" in changed
    await edit(ours, uri, changed, 2)
    assert not (await pull(ours, uri)).items
    await scored(ours, uri, 2)
    assert not any(one.range.start.line == 9 for one in (await pull(ours, uri)).items)


async def test_a_concept_is_ignored_in_the_settings_or_in_the_file(
    ours: LanguageClient, other: LanguageClient, tmp_path: Path
) -> None:
    uri = await open_scored(ours, tmp_path / "longest.py")
    offered = await actions(ours, uri, await odd_one(ours, uri))
    command = next(one.command for one in offered if one.title.endswith("in this workspace"))
    assert command is not None
    assert command.command == "counterlens.ignoreConcept"
    category = command.arguments[0]["category"]  # type: ignore[index]
    configure(ours, diagnostics={"ignoredConcepts": [category], "perHundredLines": 50})
    left = (await pull(ours, uri)).items
    assert all(one.data["category"] != category for one in left)

    await open_scored(other, tmp_path / "longest.py")
    offered = await actions(other, uri, await odd_one(other, uri))
    changed = applied(SOURCE, edits_of(next(one for one in offered if one.title.endswith("in this file"))))
    assert changed.startswith(f"# counterlens: ignore-file[{category}]\n")
    await edit(other, uri, changed, 2)
    await scored(other, uri, 2)
    assert all(one.data["category"] != category for one in (await pull(other, uri)).items)


async def test_the_hover_is_a_chain_of_nodes(ours: LanguageClient, tmp_path: Path) -> None:
    uri = await open_scored(ours, tmp_path / "longest.py")
    at = types.Position(7, SOURCE.splitlines()[7].index(">"))
    answer = await ours.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(uri), at))
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    text = answer.contents.value
    rows = [line for line in text.splitlines() if line.startswith("| ") and "`" in line]
    kinds = [row.split("`")[1] for row in rows]
    assert kinds == [">", "comparison_operator", "if_statement", "for_statement", "function_definition"]
    assert all(row.count("%") == 2 for row in rows)  # each with its confidence and its least certain token
    words = [part.split("`")[1] for part in text.split("xpected: ")[1].split("\n")[0].split(" · ")]
    assert len(words) == len(set(words)) > 1
    assert "not calibrated" in text


async def test_what_no_table_knows_is_shown_as_uncategorised(ours: LanguageClient, tmp_path: Path) -> None:
    configure(ours, languages=["python", "shellscript"])
    uri = await open_scored(ours, tmp_path / "a.sh", "for x in *; do\n  wc $x\ndone\n", "shellscript")
    place = types.TextDocumentIdentifier(uri)
    hover = await ours.text_document_hover_async(types.HoverParams(place, types.Position(1, 2)))
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert "`command` uncategorised" in hover.contents.value
    assert "`for_statement` iteration" in hover.contents.value


@pytest.mark.parametrize("granularity", ["token", "leaf", "statement", "concept"])
async def test_the_overlay_at_each_granularity(
    ours: LanguageClient, tmp_path: Path, granularity: str
) -> None:
    uri = await open_scored(ours, tmp_path / "longest.py")
    request = {"textDocument": {"uri": uri}, "granularity": granularity}
    answer: Any = await ours.protocol.send_request_async("counterlens/overlay", request)
    assert (answer.granularity, answer.levels) == (granularity, 6)
    places = [(one.range.start.line, one.range.start.character) for one in answer.spans]
    assert places == sorted(places)
    visible = {"start": {"line": 7, "character": 0}, "end": {"line": 8, "character": 0}}
    sorted_: Any = await ours.protocol.send_request_async(
        "counterlens/overlay", {**request, "visible": visible}
    )
    assert len(sorted_.spans) == len(answer.spans)
    assert sorted_.spans[0].range.start.line <= 7 <= sorted_.spans[0].range.end.line
    configure(ours, overlay={"granularity": granularity})
    default: Any = await ours.protocol.send_request_async(
        "counterlens/overlay", {"textDocument": {"uri": uri}}
    )
    assert len(default.spans) == len(answer.spans)


async def test_the_tree_in_three_views(ours: LanguageClient, tmp_path: Path) -> None:
    uri = await open_scored(ours, tmp_path / "longest.py")
    found: dict[str, Any] = {}
    for view in ("partial", "complete", "sequence"):
        request = {"textDocument": {"uri": uri}, "view": view}
        found[view] = await ours.protocol.send_request_async("counterlens/tree", request)
        assert found[view].view == view
    partial, complete = found["partial"].rows, found["complete"].rows
    assert partial[0].kind == "module"
    assert partial[0].parent == -1
    assert all(row.parent < i for i, row in enumerate(complete))
    assert len(partial) < len(complete)
    assert "identifier" not in {row.kind for row in partial}
    assert {row.kind for row in found["sequence"].rows} == {"token"}


async def test_the_tree_of_the_function_around_a_position(ours: LanguageClient, tmp_path: Path) -> None:
    uri = await open_scored(ours, tmp_path / "longest.py")
    request = {"textDocument": {"uri": uri}, "position": {"line": 7, "character": 4}}
    partial: Any = await ours.protocol.send_request_async("counterlens/tree", request)
    assert (partial.scope.name, partial.scope.range.start.line) == ("longest", 3)
    assert (partial.rows[0].kind, partial.rows[0].parent) == ("function_definition", -1)
    assert all(0 <= row.parent < at for at, row in enumerate(partial.rows) if at)
    sequence: Any = await ours.protocol.send_request_async(
        "counterlens/tree", {**request, "view": "sequence"}
    )
    assert min(row.range.end.line for row in sequence.rows) == 3
    assert max(row.range.start.line for row in sequence.rows) == 9
    outside: Any = await ours.protocol.send_request_async(
        "counterlens/tree", {**request, "position": {"line": 0, "character": 0}}
    )
    assert outside.scope is None
    assert outside.rows[0].kind == "module"


async def test_hints_are_off_until_they_are_asked_for(ours: LanguageClient, tmp_path: Path) -> None:
    uri = await open_scored(ours, tmp_path / "longest.py")
    everything = types.Range(types.Position(0, 0), types.Position(99, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
    assert not await ours.text_document_inlay_hint_async(params)
    configure(ours, inlayHints={"enabled": True})
    hints = await ours.text_document_inlay_hint_async(params) or []
    lines = [hint.position.line for hint in hints]
    assert set(range(5, 10)) <= set(lines)
    assert len(lines) == len(set(lines))
    assert all(str(hint.label).endswith("%") for hint in hints)
    await until(lambda: ours.hint_refreshes > 0)  # type: ignore[attr-defined]
    configure(ours, inlayHints={"enabled": True, "by": "function"})
    (only,) = await ours.text_document_inlay_hint_async(params) or []
    assert only.position == types.Position(3, len("def longest(words):"))


@pytest.mark.parametrize(
    ("name", "language", "text", "kind"),
    [
        (
            "Longest.java",
            "java",
            "class Longest {\n  int size(String a) {\n    return a.length();\n  }\n}\n",
            "method_invocation",
        ),
        (
            "longest.js",
            "javascript",
            "function longest(words) {\n  return words.length > 1;\n}\n",
            "member_expression",
        ),
    ],
)
async def test_other_languages_are_scored_and_not_probed(
    ours: LanguageClient, tmp_path: Path, name: str, language: str, text: str, kind: str
) -> None:
    uri = await open_scored(ours, tmp_path / name, text, language)
    line = next(i for i, one in enumerate(text.splitlines()) if "length" in one)
    at = types.Position(line, text.splitlines()[line].index("length"))
    answer = await ours.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(uri), at))
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    assert f"`{kind}`" in answer.contents.value
    lenses = await ours.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    assert not lenses
    configure(ours, languages=["python"])
    await until(lambda: ours.scored.count((uri, 1)) > 1)  # type: ignore[attr-defined]
    answer = await ours.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(uri), at))
    assert answer is not None
    assert "not among the languages" in str(answer.contents)


async def test_a_generated_file_is_not_scored_unless_it_is_wanted(
    ours: LanguageClient, tmp_path: Path
) -> None:
    text = "# Generated by protoc. DO NOT EDIT.\n" + SOURCE
    uri = await open_scored(ours, tmp_path / "made.py", text)
    params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(5, 6))
    answer = await ours.text_document_hover_async(params)
    assert answer is not None
    assert "it is generated" in str(answer.contents)
    assert any("it is generated" in status.detail for status in ours.statuses)  # type: ignore[attr-defined]
    assert not (await pull(ours, uri)).items
    configure(ours, scoring={"exclude": False})
    await until(lambda: ours.scored.count((uri, 1)) > 1)  # type: ignore[attr-defined]
    answer = await ours.text_document_hover_async(params)
    assert answer is not None
    assert "least certain" in str(answer.contents)
