"""Dependences as an editor sees them: true at once, inferred with the real model, at the statements."""

from __future__ import annotations

import asyncio
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.lsp.conftest import configure, open_file, until
from tests.lsp.test_server import hover_text, position_of

SOURCE = """\
def longest(words):
    best = ''
    for word in words:
        if len(word) > len(best):
            best = word
    return best


def twice(x):
    return x
"""
TRUE_CONTROL = [[3, 3], [3, 4], [4, 5]]


async def ask(client: LanguageClient, uri: str, **more: Any) -> SimpleNamespace:
    argument = {"uri": uri, "function": "longest", **more}
    answer: Any = await client.workspace_execute_command_async(
        types.ExecuteCommandParams("counterlens.dependences", [argument])
    )
    json.dumps(answer, allow_nan=False)  # what no other client could read is no answer
    return SimpleNamespace(**answer)


def edit(client: LanguageClient, uri: str, version: int, text: str) -> None:
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=version, uri=uri),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
    )


def missed(client: LanguageClient, uri: str) -> list[types.Diagnostic]:
    return [one for one in client.diagnostics.get(uri, ()) if one.code == "missed-dependence"]


class Classes(HTMLParser):
    """The classes of the arcs, and what is said of each line."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.arcs: list[tuple[str, str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        assert not {"style", "onclick", "src", "href"} & set(known)
        if tag == "g":
            self.arcs.append((known["class"] or "", known["data-from"] or "", known["data-to"] or ""))


async def test_what_is_true_is_there_without_a_model(client: LanguageClient, tmp_path: Path) -> None:
    configure(client, model=str(tmp_path / "missing.gguf"))
    uri = open_file(client, tmp_path / "longest.py", SOURCE)
    answer = await ask(client, uri, method="none")
    assert answer.ok, answer.error
    assert answer.method == "none"
    assert answer.inferred is None
    assert answer.dependences["control"] == TRUE_CONTROL
    assert [5, 6, "best", "name"] in answer.dependences["data"]
    assert "| 5 | `best = word` | decided by line 4 (true) | `word` from line 3 |" in answer.markdown
    arcs = Classes(answer.html).arcs
    assert {style for style, _, _ in arcs} == {"true"}
    assert ("true", "4", "5") in arcs
    text = await hover_text(client, uri, position_of(SOURCE, "best = word"))
    assert "`best = word` depends on:" in text
    assert "- `word` from line 3" in text
    inferred = await ask(client, uri)
    assert not inferred.ok
    assert "missing.gguf" in inferred.error


@pytest.mark.usefixtures("embedded_by_default")
async def test_what_the_model_infers_is_shown_everywhere_until_the_function_changes(
    client: LanguageClient, tmp_path: Path
) -> None:
    configure(client, dependences={"diagnostics": True})
    uri = open_file(client, tmp_path / "longest.py", SOURCE)
    answer = await ask(client, uri)
    assert answer.ok, answer.error
    assert answer.method == "interventional"
    assert re.fullmatch(
        r"control: \d+ of \d+ found, \d+ invented; data: \d+ of \d+ found, \d+ invented",
        answer.summary,
    )
    edges = answer.inferred["edges"]
    styles = {
        (str(edge["source_line"]), str(edge["target_line"])): "beyond"
        if edge["status"] == "missed" and not edge["reached"]
        else edge["status"]
        for edge in edges
        if edge["relation"] == "data"
    }
    arcs = Classes(answer.html).arcs
    assert len(arcs) == len(edges)
    assert {(start, end): style for style, start, end in arcs if (start, end) in styles}
    assert {style for style, _, _ in arcs} >= {"found"}
    assert all((style, *pair) in arcs for pair, style in styles.items())
    assert any(client.progress_reports.values())

    text = await hover_text(client, uri, position_of(SOURCE, "word in words"))
    assert "`words` from line 1: *found (+" in text

    said = [edge for edge in edges if edge["status"] == "missed" and edge["reached"]]
    await until(lambda: bool(missed(client, uri)) == bool(said))
    assert {one.range.start.line + 1 for one in missed(client, uri)} == {e["target_line"] for e in said}
    assert all(re.search(r"\d of \d+\.$", one.message) for one in missed(client, uri))

    below = "import os\n\n\n" + SOURCE
    edit(client, uri, 2, below)
    text = await hover_text(client, uri, position_of(below, "word in words"))
    assert "`words` from line 4: *found (+" in text
    edit(client, uri, 3, below.replace("best = ''", "best = 'a'"))
    await until(lambda: not missed(client, uri))


async def test_without_the_setting_nothing_is_marked_as_missed(
    client: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(client, tmp_path / "longest.py", SOURCE)
    answer = await ask(client, uri, method="prompted")
    assert answer.ok, answer.error
    assert answer.method == "prompted"
    assert any(edge["status"] == "missed" for edge in answer.inferred["edges"])
    await until(lambda: uri in client.diagnostics)
    assert not missed(client, uri)


async def test_the_inference_can_be_cancelled_and_the_server_answers_meanwhile(
    client: LanguageClient, tmp_path: Path
) -> None:
    body = "".join(f"    v{i} = v{i - 1} * {i} + len(str(v{i - 1}))\n" for i in range(1, 60))
    text = f"def longest(v0):\n{body}    return v59\n"
    uri = open_file(client, tmp_path / "long.py", text)
    running = asyncio.ensure_future(ask(client, uri))
    await until(lambda: any(client.progress_reports.values()))
    await hover_text(client, uri, types.Position(0, 5))
    assert not running.done()  # a hover that had to wait for it would come later
    token = next(iter(client.progress_reports))
    client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    answer = await running
    assert not answer.ok
    assert "cancelled" in answer.error


async def test_what_cannot_be_analysed_says_why(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "broken.py", SOURCE + "y = )\n")
    assert "line 11" in (await ask(client, uri)).error
    twice = SOURCE + "\n\ndef longest(words):\n    return max(words)\n"
    uri = open_file(client, tmp_path / "twice.py", twice)
    first = await ask(client, uri, function=None, position={"line": 1, "character": 4}, method="none")
    assert "defined again in line 13" in first.error
    assert "there is no method" in (await ask(client, uri, method="guess")).error


async def test_a_plain_client_gets_markdown(plain_client: LanguageClient, tmp_path: Path) -> None:
    client = plain_client
    uri = open_file(client, tmp_path / "longest.py", SOURCE)
    answer = await ask(client, uri, method="none")
    assert answer.html == ""
    assert "# Dependences of `longest`" in answer.markdown
    await until(lambda: bool(client.shown_documents))
    assert any("longest: 3 control" in message.message for message in client.messages)
    shown = client.shown_documents[-1].uri
    assert shown.endswith(".md")
    assert Path(shown.removeprefix("file://")).read_text(encoding="utf-8") == answer.markdown


MODULE = """import sys


def twice(x):
    return 2 * x


total = 0
for word in sys.argv[1:]:
    total += twice(len(word))
print(total)
"""


async def test_outside_of_all_functions_the_module_is_meant(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "words.py", MODULE)
    place = position_of(MODULE, "total += ")
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri), types.Range(place, place), types.CodeActionContext([])
        )
    )
    assert [one.title for one in actions or []] == ["Show dependences of the module"]
    inside = await ask(client, uri, function=None, position={"line": 4, "character": 6}, method="none")
    assert inside.function == "twice"
    answer = await ask(client, uri, function=None, position={"line": 9, "character": 6}, method="none")
    assert answer.ok, answer.error
    assert answer.function == "<module>"
    assert [9, 10] in answer.dependences["control"]
    assert [8, 10, "total", "name"] in answer.dependences["data"]
    again = await ask(client, uri, function="<module>", method="pairwise")
    assert again.ok, again.error
    assert (again.function, again.method) == ("<module>", "pairwise")
    assert again.inferred["asked"]["data"]["questions"] == 30
    assert "Asked: 30 of 30 questions on control" in again.markdown
    assert "`word` from line 9" in await hover_text(client, uri, position_of(MODULE, "twice(len"))


async def test_the_model_is_asked_by_which_steps(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "twice.py", "def twice(x):\n    y = x + x\n    return y\n")
    answer = await ask(client, uri, function="twice", method="trace")
    assert answer.ok, answer.error
    assert (answer.function, answer.method) == ("twice", "trace")
    assert answer.inferred["traces"]["data"]["questions"] == 3
    assert "chains" in answer.markdown


async def test_an_empty_file_has_no_dependences(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "empty.py", "# nothing\n")
    answer = await ask(client, uri, function="<module>", method="none")
    assert not answer.ok
    assert "no statements" in answer.error


JAVA = """\
class Longest {
    @Override
    String longest(String[] words) {
        String best = "";
        for (String word : words)
            if (word.length() > best.length())
                best = word;
        return best;
    }
}
"""


async def test_java_is_analysed_and_the_model_is_asked_about_it(
    client: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(client, tmp_path / "Longest.java", JAVA, language="java")
    answer = await ask(client, uri, function=None, position={"line": 6, "character": 20}, method="none")
    assert answer.ok, answer.error
    assert answer.function == "Longest.longest"
    assert answer.dependences["control"] == [[5, 5], [5, 6], [6, 7]]
    assert "| 7 | `best = word;` | decided by line 6 (true) | `word` from line 5 |" in answer.markdown
    assert ("true", "6", "7") in Classes(answer.html).arcs
    text = await hover_text(client, uri, position_of(JAVA, "best = word"))
    assert "- `word` from line 5" in text
    edit(client, uri, 2, "// moved\n" + JAVA)
    text = await hover_text(client, uri, position_of("// moved\n" + JAVA, "best = word"))
    assert "- `word` from line 6" in text
    inferred = await ask(client, uri, function="Longest.longest", method="interventional")
    assert inferred.ok, inferred.error
    assert inferred.method == "interventional"
    assert inferred.summary.startswith("control: ")
    here = types.Range(position_of(JAVA, "return"), position_of(JAVA, "return"))
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(types.TextDocumentIdentifier(uri), here, types.CodeActionContext([]))
    )
    assert "Show dependences" in [action.title for action in actions or ()]
