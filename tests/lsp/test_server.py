"""The language server as an editor sees it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.record import read
from tests.conftest import short_model
from tests.lsp.conftest import (
    CONFIG,
    configure,
    initialize,
    model_process,
    model_waiting,
    open_file,
    scored,
    show_uncertainty,
    until,
    watch,
)

SOURCE = '''"""Größe 😀 of things."""


def sign(x):
    """Return the sign of x.

    >>> sign(3)
    1
    >>> sign(-2)
    -1
    """
    if x < 0:
        result = -1
    else:
        result = 1
    return result
'''


LINK = re.compile(r"\[([^\]]+)\]\(command:([^)]+)\)")


def position_of(text: str, needle: str, shift: int = 0) -> types.Position:
    before = text[: text.index(needle) + shift]
    line = before.count("\n")
    column = len(before[before.rfind("\n") + 1 :].encode("utf-16-le")) // 2
    return types.Position(line, column)


@pytest_lsp.fixture(config=CONFIG, loop_scope="session")
async def project_client(lsp_client: LanguageClient, tmp_path: Path) -> AsyncIterator[None]:
    """A client with a folder open that the user does not trust."""
    watch(lsp_client)
    said = initialize({"model": str(short_model(wide=True)), "probe": {"maxTokens": None}}, trusted=False)
    said.workspace_folders = [types.WorkspaceFolder(tmp_path.as_uri(), "project")]
    await lsp_client.initialize_session(said)
    yield
    await lsp_client.shutdown_session()


@contextmanager
def folder_open(client: LanguageClient, path: Path) -> Iterator[None]:
    """Have a folder open in the editor, while the context lasts."""
    folder = types.WorkspaceFolder(path.as_uri(), "work")

    def change(
        *, added: Sequence[types.WorkspaceFolder] = (), removed: Sequence[types.WorkspaceFolder] = ()
    ) -> None:
        event = types.WorkspaceFoldersChangeEvent(added, removed)
        client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))

    change(added=[folder])
    try:
        yield
    finally:
        change(removed=[folder])


async def probe(client: LanguageClient, argument: dict[str, Any]) -> SimpleNamespace:
    answer: Any = await client.workspace_execute_command_async(
        types.ExecuteCommandParams("counterlens.probe", [argument])
    )
    return SimpleNamespace(**answer)


async def hover_text(client: LanguageClient, uri: str, position: types.Position) -> str:
    answer = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), position)
    )
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


@pytest.mark.usefixtures("embedded_by_default")
async def test_hover_says_scoring_at_once_and_then_what_it_found(
    own_client: LanguageClient, tmp_path: Path
) -> None:
    client = own_client
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    assert "scoring…" in await hover_text(client, uri, position_of(SOURCE, "x < 0"))
    await scored(client, uri)
    text = await hover_text(client, uri, position_of(SOURCE, "< 0"))
    assert "`<`" in text
    assert "operators" in text
    text = await hover_text(client, uri, position_of(SOURCE, "result = -1"))
    for expected in ("`identifier`", "natural language", "confidence", "least certain", "expected: `", "%"):
        assert expected in text
    shown, behind = text.split("\n\n<details><summary>more</summary>\n\n")
    first, expectation = shown.split("\n\n")
    assert re.fullmatch(r"\*\*`identifier`\*\* natural language: confidence \*\*[\d.]+ %\*\*", first)
    assert "xpected: `" in expectation
    assert "says anything about correctness is not measured" in behind


async def test_over_the_name_of_a_function_the_hover_offers_what_can_be_done(
    client: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    await scored(client, uri)
    text = await hover_text(client, uri, position_of(SOURCE, "sign(x)"))
    shown, _, _ = text.partition("\n\n<details>")
    assert [title for title, _ in LINK.findall(shown)] == [
        "Probe counterfactually",
        "Show counterfactual…",
        "Show dependences",
    ]
    commands = dict(address.split("?") for _, address in LINK.findall(shown))
    assert json.loads(unquote(commands["counterlens.showDependences"])) == [{"uri": uri, "function": "sign"}]
    assert not LINK.search(await hover_text(client, uri, position_of(SOURCE, "result = -1")))


async def test_a_client_that_cannot_fold_is_shown_all_of_a_hover(
    plain_client: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(plain_client, tmp_path / "sign.py", SOURCE)
    await scored(plain_client, uri)
    text = await hover_text(plain_client, uri, position_of(SOURCE, "sign(x)"))
    assert "<details>" not in text
    assert not LINK.search(text)
    assert "says anything about correctness is not measured" in text


async def test_hover_range_counts_utf16(client: LanguageClient, tmp_path: Path) -> None:
    text = 'name = "😀😀"; other = name\n'
    uri = open_file(client, tmp_path / "astral.py", text)
    await scored(client, uri)
    answer = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), position_of(text, "other"))
    )
    assert answer is not None
    assert answer.range is not None
    assert (answer.range.start.character, answer.range.end.character) == (15, 20)


@pytest.mark.usefixtures("embedded_by_default")
async def test_surprising_tokens_become_few_diagnostics(client: LanguageClient, tmp_path: Path) -> None:
    text = "def add(a, b):\n    return a + zxqvkj_w\n"
    show_uncertainty(client)
    uri = open_file(client, tmp_path / "odd.py", text)
    await until(lambda: bool(client.diagnostics.get(uri)))
    found = client.diagnostics[uri]
    assert len(found) <= 8
    odd = [one for one in found if one.range.start.line == 1]
    assert odd
    assert all(one.source == "counterlens" and one.code == "surprising" for one in found)
    assert "zxqvkj_w" in odd[-1].message
    assert odd[-1].severity == types.DiagnosticSeverity.Information


async def test_overlay_covers_the_code_in_levels(client: LanguageClient, tmp_path: Path) -> None:
    show_uncertainty(client)
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    await scored(client, uri)
    answer: Any = await client.protocol.send_request_async(
        "counterlens/overlay", {"textDocument": {"uri": uri}}
    )
    assert answer.state == "ready"
    assert answer.version == 1
    assert answer.levels == len(answer.labels) == 6
    assert {span.level for span in answer.spans} <= set(range(6))
    starts = [(span.range.start.line, span.range.start.character) for span in answer.spans]
    assert starts == sorted(starts)
    visible = {"start": {"line": 11, "character": 0}, "end": {"line": 12, "character": 0}}
    part: Any = await client.protocol.send_request_async(
        "counterlens/overlay", {"textDocument": {"uri": uri}, "range": visible}
    )
    assert 0 < len(part.spans) < len(answer.spans)


@pytest.mark.usefixtures("embedded_by_default")
async def test_an_edit_makes_old_scores_stale(client: LanguageClient, tmp_path: Path) -> None:
    show_uncertainty(client)
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    await scored(client, uri)
    edited = SOURCE.replace("result = 1", "result = qqqzzz1")
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=2, uri=uri),
            [types.TextDocumentContentChangeWholeDocument(edited)],
        )
    )
    assert "scoring…" in await hover_text(client, uri, position_of(edited, "x < 0"))
    await scored(client, uri, 2)
    # Marks are a message of their own, after that of the scores.
    await until(lambda: any("qqqzzz1" in one.message for one in client.diagnostics[uri]))


@pytest.mark.usefixtures("embedded_by_default")
async def test_the_probe_runs_from_the_code_lens(client: LanguageClient, tmp_path: Path) -> None:
    with folder_open(client, tmp_path):
        await probe_from_the_lens(client, tmp_path)


async def probe_from_the_lens(client: LanguageClient, folder: Path) -> None:
    (folder / "src").mkdir()
    uri = open_file(client, folder / "src" / "sign.py", SOURCE)
    await scored(client, uri)
    lenses = await client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(uri))
    )
    assert lenses is not None
    command = lenses[0].command
    assert command is not None
    assert command.title.startswith("Probe counterfactually")
    assert command.command == "counterlens.probe"
    assert command.arguments is not None
    answer = await probe(client, command.arguments[0])
    assert answer.ok, answer.error
    assert answer.report.startswith("sign   Completion probe of src/sign.py:4-16 ")
    assert "What this means" in answer.report
    assert "if-else-flip" in answer.report
    assert answer.function == "sign"
    assert "sign\\.py" in answer.markdown or "sign.py" in answer.markdown
    assert str(folder) not in answer.markdown + answer.html
    number = next(i for i, pair in enumerate(answer.pairs) if pair["title"].startswith("if-else-flip"))
    for action in ("difference", "wrote"):
        assert f'data-action="{action}" data-pair="{number}"' in answer.html
    pair = answer.pairs[number]
    (found,) = answer.records
    assert (found["target"], found["function"], found["probe"]) == ("src/sign.py::sign", "sign", "completion")
    record = read(found, PairsRecord)
    assert isinstance(record, PairsRecord)
    assert [one.outcome for one in record.pairs] == [one["shows"] for one in answer.pairs]
    assert record.pairs[number].source(SOURCE) == pair["counterfactual"]
    assert answer.source == SOURCE
    assert "if x >= 0:" in pair["counterfactual"]
    assert len(pair["wrote"]) == 2
    assert all(text.startswith(SOURCE[:20]) for text in pair["wrote"])
    assert "Doctest, 2 cases; agrees with the original on " in answer.markdown
    assert all(one.code != "counterfactual-effect" for one in client.diagnostics.get(uri, ()))
    assert any(client.progress_reports.values())
    (lens,) = await lens_titles(client, uri, 1)
    assert re.fullmatch(
        r"Probe counterfactually · (\d+ of \d+ changed the verdict(, \d+ unstable)?|uninformative)", lens
    )


async def test_what_the_own_tests_of_a_function_say_stays_on_a_page(
    client: LanguageClient, tmp_path: Path
) -> None:
    wrong = SOURCE.replace("result = -1", "result = 2")
    uri = open_file(client, tmp_path / "sign.py", wrong)
    answer = await probe(client, {"uri": uri, "function": "sign"})
    assert not answer.ok
    assert "sign fails its own tests" in answer.error
    assert answer.function == "sign"
    assert "sign fails its own tests" in answer.html
    assert "expected: -1" in answer.html
    gone = await probe(client, {"uri": uri, "function": "gone"})
    assert not gone.ok
    assert gone.html == ""


async def test_a_probe_that_draws_completions_refines_its_answer(
    client: LanguageClient, tmp_path: Path
) -> None:
    uri, news = open_file(client, tmp_path / "sign.py", SOURCE), list[Any]()

    @client.feature("counterlens/probeRefined")
    def _refined(params: Any) -> None:
        news.append(params)

    asked = {"uri": uri, "function": "sign", "mutations": ["if-else-flip"], "samples": 8}
    answer = await probe(client, asked | {"refine": True})
    assert answer.ok, answer.error
    (pair,) = read(answer.records[0], PairsRecord).pairs
    assert pair.drawn is not None
    assert [one.uri for one in news] == [uri] * len(news)
    assert [one.status for one in news] == [
        f"Sampling completions: {n} of at most 8 per side." for n in (0, 4, 6)
    ]
    assert all(one.result.ok and "if-else-flip" in one.result.html for one in news)
    assert "sampled at temperature 0.8" not in news[0].result.html
    assert "sampled at temperature 0.8" in news[1].result.html
    count = len(news)
    assert (await probe(client, asked)).ok
    refused = await probe(client, asked | {"samples": 201, "refine": True})
    assert not refused.ok
    assert "200" in refused.error
    assert len(news) == count


async def test_a_probe_says_what_is_true_so_far_and_ends_with_what_its_time_allows(
    client: LanguageClient, tmp_path: Path
) -> None:
    configure(client, probe={"budget": 0.01})
    uri, news = open_file(client, tmp_path / "sign.py", SOURCE), list[Any]()

    @client.feature("counterlens/probeFact")
    def _stated(params: Any) -> None:
        news.append(params)

    asked = {"uri": uri, "function": "sign", "refine": True}
    bounded = await probe(client, asked)
    assert bounded.ok, bounded.error
    assert re.search(r"The 0 s of its budget allowed 1 of \d+ pairs", bounded.summary)
    assert {(each.uri, each.function) for each in news} == {(uri, "sign")}
    facts = [each.fact for each in news]
    assert re.fullmatch(r"\d+ places? to rewrite, by \d+ mutations?", facts[0])
    assert facts[1].startswith("judged by ")
    assert re.match(r"\d+ pairs? at \d+ cuts?", facts[2])
    assert all(re.match(r"line \d+, [\w-]+: ", fact) for fact in facts[3:])
    assert len(facts) == 4
    whole = await probe(client, asked | {"again": True})  # goes on, without a limit
    assert "budget" not in whole.summary
    assert len(news) == len(facts) + 3 + len(read(whole.records[0], PairsRecord).pairs)


async def test_a_probe_is_shown_as_markdown_to_a_plain_client_until_the_function_changes(
    plain_client: LanguageClient, tmp_path: Path
) -> None:
    client = plain_client
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    answer = await probe(client, {"uri": uri, "function": "sign"})
    assert answer.ok, answer.error
    assert answer.html == answer.source == ""
    assert any(answer.summary in message.message for message in client.messages)
    await until(lambda: bool(client.shown_documents))
    shown = Path(client.shown_documents[-1].uri.removeprefix("file://"))
    assert shown.read_text(encoding="utf-8") == answer.markdown
    assert any(
        "changed the verdict" in title or "uninformative" in title for title in await lens_titles(client, uri)
    )
    await until(lambda: any(one.code == "counterfactual-effect" for one in client.diagnostics[uri]))
    effect = next(one for one in client.diagnostics[uri] if one.code == "counterfactual-effect")
    assert effect.range.start == position_of(SOURCE, "sign(x)")
    changed = SOURCE.replace("x < 0", "x <= 0")
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=2, uri=uri),
            [types.TextDocumentContentChangeWholeDocument(changed)],
        )
    )
    assert_offered(await lens_titles(client, uri))
    await until(lambda: all(one.code != "counterfactual-effect" for one in client.diagnostics[uri]))


async def test_what_one_model_did_is_not_said_of_the_next(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    answer = await probe(client, {"uri": uri, "function": "sign"})
    assert answer.ok, answer.error
    assert any("changed" in one or "uninformative" in one for one in await lens_titles(client, uri))
    before = client.lens_refreshes
    client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams({"counterlens": {"model": "editor:another"}})
    )
    await until(lambda: client.lens_refreshes > before)
    assert_offered(await lens_titles(client, uri))


async def test_a_probe_at_a_place_without_a_function_is_refused_clearly(
    client: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    answer = await probe(client, {"uri": uri, "position": {"line": 0, "character": 0}})
    assert not answer.ok
    assert "no function here" in answer.error


async def test_an_untrusted_workspace_runs_nothing(untrusted_client: LanguageClient, tmp_path: Path) -> None:
    client, marker = untrusted_client, tmp_path / "ran"
    text = f"open({str(marker)!r}, 'w')\n" + SOURCE
    uri = open_file(client, tmp_path / "sign.py", text)
    answer = await probe(client, {"uri": uri, "function": "sign"})
    assert not answer.ok
    assert "untrusted" in answer.error
    assert not marker.exists()


async def test_a_workspace_that_is_trusted_later_has_its_settings_and_keeps_its_scores(
    project_client: LanguageClient, tmp_path: Path
) -> None:
    client = project_client
    (tmp_path / "counterlens.toml").write_text("max-tokens = 3\n")
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    await scored(client, uri)
    model, before = model_process(client), len(client.statuses)  # type: ignore[attr-defined]
    client.protocol.notify("counterlens/trusted", None)
    answer = await probe(client, {"uri": uri, "function": "sign", "mutations": ["if-else-flip"]})
    assert answer.ok, answer.error
    (pair,) = read(answer.records[0], PairsRecord).pairs
    assert len(pair.original.completion or "") < 30  # three tokens
    assert model_process(client) == model
    states = {status.state for status in client.statuses[before:]}  # type: ignore[attr-defined]
    assert not states & {"loading", "scoring"}


async def test_a_model_that_was_killed_is_started_again_and_the_file_scored(
    client: LanguageClient, tmp_path: Path
) -> None:
    long = "\n".join(f"def f{i}(a, b):\n    return a * {i} + b\n" for i in range(30))
    earlier = len(client.statuses)  # type: ignore[attr-defined] # the last one is from the test before
    await scored(client, open_file(client, tmp_path / "short.py", "x = 1\n"))
    with model_waiting(client) as worker:
        before = len(client.statuses)  # type: ignore[attr-defined]
        uri = open_file(client, tmp_path / "long.py", long)
        await until(lambda: any(status.state == "scoring" for status in client.statuses[before:]))  # type: ignore[attr-defined]
        worker.kill()
    await scored(client, uri)
    said = [one.detail for one in client.statuses if "signal 9" in one.detail]  # type: ignore[attr-defined]
    assert len(said) == 1
    assert "restart" in said[0]
    assert not [one for one in client.statuses[earlier:] if one.state == "error"]  # type: ignore[attr-defined]
    assert "confidence" in await hover_text(client, uri, position_of(long, "a * 29"))


async def test_what_is_on_the_screen_is_scored_first_and_shown_before_the_rest(
    client: LanguageClient, tmp_path: Path
) -> None:
    functions = [f"def f{i}(a, b):\n    return a * {i} + b\n\n\n" for i in range(30)]
    long = "".join(functions)
    show_uncertainty(client)
    uri = open_file(client, tmp_path / "long.py", long)
    last = types.Range(types.Position(4 * 29, 0), types.Position(4 * 30, 0))
    overlay = {"textDocument": {"uri": uri}, "range": last}
    await until(lambda: bool(client.statuses))  # type: ignore[attr-defined]
    await client.protocol.send_request_async("counterlens/overlay", overlay)
    await until(lambda: bool(client.partly))  # type: ignore[attr-defined]
    assert (uri, 1) not in client.scored  # type: ignore[attr-defined]
    answer = await client.protocol.send_request_async("counterlens/overlay", overlay)
    assert answer.state == "scoring"
    assert any(span.range.start.line > 4 * 29 for span in answer.spans)
    assert "confidence" in await hover_text(client, uri, position_of(long, "a * 29"))
    assert "scoring" in await hover_text(client, uri, position_of(long, "a * 20"))
    await scored(client, uri)
    assert "confidence" in await hover_text(client, uri, position_of(long, "a * 20"))


async def test_the_counter_of_a_long_file_does_not_start_again_at_an_edit(
    client: LanguageClient, tmp_path: Path
) -> None:
    long = "".join(f"def f{i}(a, b):\n    return a * {i} + b\n\n\n" for i in range(30))
    uri = open_file(client, tmp_path / "long.py", long)
    await scored(client, uri)
    before = len(client.statuses)  # type: ignore[attr-defined]
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=2, uri=uri),
            [types.TextDocumentContentChangeWholeDocument(long.replace("a * 29", "a + 29"))],
        )
    )
    await scored(client, uri, 2)
    counts = [one.steps for one in client.statuses[before:] if one.state == "scoring" and one.steps]  # type: ignore[attr-defined]
    assert counts
    assert min(steps.done for steps in counts) >= 29


async def test_a_small_file_does_not_wait_for_a_large_one(client: LanguageClient, tmp_path: Path) -> None:
    large = open_file(
        client, tmp_path / "large.py", "".join(f"def f{i}(a):\n    return {i}\n" for i in range(900))
    )
    await until(lambda: any(status.state == "scoring" for status in client.statuses))  # type: ignore[attr-defined]
    small = open_file(client, tmp_path / "sign.py", SOURCE)
    await scored(client, small)
    assert (large, 1) not in client.scored  # type: ignore[attr-defined]


async def test_cancelling_the_progress_ends_the_probe(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    await scored(client, uri)
    with model_waiting(client):
        running = asyncio.ensure_future(probe(client, {"uri": uri, "function": "sign"}))
        await until(lambda: bool(client.progress_reports))
        token = next(iter(client.progress_reports))
        client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    answer = await running
    assert not answer.ok
    assert "cancelled" in answer.error


@pytest.mark.parametrize(
    ("text", "reason"), [("", "the file is empty"), ("x = 1\n" * 20_000, "too long to score")]
)
async def test_a_file_without_scores_says_why(
    client: LanguageClient, tmp_path: Path, text: str, reason: str
) -> None:
    uri = open_file(client, tmp_path / "file.py", text)
    await scored(client, uri)
    assert reason in await hover_text(client, uri, types.Position(0, 0))


async def test_bad_settings_get_a_message_and_the_default(client: LanguageClient, tmp_path: Path) -> None:
    client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams(
            {"counterlens": {"threads": "many", "confidence": {"aggregation": "median"}}}
        )
    )
    await until(lambda: any("counterlens.threads" in message.message for message in client.messages))
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    await scored(client, uri)
    assert "the median probability" in await hover_text(client, uri, position_of(SOURCE, "x < 0"))


async def test_switched_off_it_does_nothing(own_client: LanguageClient, tmp_path: Path) -> None:
    client = own_client
    client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams({"counterlens": {"enable": False}})
    )
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    await scored(client, uri)
    assert "switched off" in await hover_text(client, uri, position_of(SOURCE, "x < 0"))
    lenses = await client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(uri))
    )
    assert not lenses
    assert model_process(client) is None


async def test_the_counterfactuals_of_a_function_are_listed_and_offered(
    client: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    place = position_of(SOURCE, "x < 0")
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri), types.Range(place, place), types.CodeActionContext([])
        )
    )
    assert actions
    assert [action.title for action in actions] == [
        "Show counterfactual…",
        "Show dependences",
        "What do the tests miss?",
    ]
    argument = {"uri": uri, "position": {"line": place.line, "character": place.character}}
    found: Any = await client.workspace_execute_command_async(
        types.ExecuteCommandParams("counterlens.counterfactuals", [argument])
    )
    assert found["function"] == "sign"
    flip = next(one for one in found["counterfactuals"] if one["mutation"] == "if-else-flip")
    assert "if x >= 0:" in flip["source"]
    assert flip["line"] == 11
    assert all(one["reason"] for one in found["refused"])


async def test_a_broken_file_has_no_counterfactuals_and_says_why(
    client: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(client, tmp_path / "broken.py", "def f(x):\n    return x\n\ny = )\n")
    found: Any = await client.workspace_execute_command_async(
        types.ExecuteCommandParams("counterlens.counterfactuals", [{"uri": uri, "function": "f"}])
    )
    assert "line 4" in found["error"]
    assert not found["counterfactuals"]


async def test_one_lens_stands_over_a_function_that_something_can_be_said_of(
    client: LanguageClient, tmp_path: Path
) -> None:
    nothing = "\n\ndef nothing():\n    pass\n"
    uri = open_file(client, tmp_path / "sign.py", SOURCE + nothing)
    assert_offered(await lens_titles(client, uri))


async def test_functions_that_there_was_no_time_for_get_their_lenses_later(
    client: LanguageClient, tmp_path: Path
) -> None:
    function = SOURCE.partition("\n\n\n")[2]
    count = 60  # each takes some milliseconds, and all of the first a tenth of a second
    text = "\n\n".join(function.replace("sign", f"sign{number}") for number in range(count))
    uri = open_file(client, tmp_path / "signs.py", text)
    first = await lens_titles(client, uri)
    assert 0 < len(first) < count
    for _ in range(count):
        seen = client.lens_refreshes
        if len(await lens_titles(client, uri)) == count:
            break
        await until(lambda seen=seen: client.lens_refreshes > seen)  # type: ignore[misc]
    else:
        raise AssertionError("some functions never got a lens")


async def test_a_plain_client_is_offered_no_counterfactuals(
    plain_client: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(plain_client, tmp_path / "sign.py", SOURCE)
    place = position_of(SOURCE, "x < 0")
    actions = await plain_client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri), types.Range(place, place), types.CodeActionContext([])
        )
    )
    action, _ = actions or []
    assert action.title == "Show dependences"
    assert "counterlens.dependences" in str(action.command)


def assert_offered(titles: list[str]) -> None:
    """One lens: the offer to probe, with how long it takes or how much is asked."""
    (title,) = titles
    effort, completed = r"(\d+ prompts|about \d+ (s|min))", r"( · completed \d+ of \d+ such functions)?"
    assert re.fullmatch(f"Probe counterfactually · {effort}{completed}", title)


async def lens_titles(client: LanguageClient, uri: str, at_least: int = 0) -> list[str]:
    """The titles of a document's lenses; those of functions that there was no time for come later."""
    parameters = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    for _ in range(240):
        lenses = await client.text_document_code_lens_async(parameters)
        titles = [lens.command.title for lens in lenses or [] if lens.command]
        if len(titles) >= at_least:
            break
        await asyncio.sleep(0.25)
    return titles


async def test_a_form_feed_is_no_line_end(client: LanguageClient, tmp_path: Path) -> None:
    """As in the standard library; an edit after one must not land a line too high."""
    text = "x = 1\n\x0c\ndef add(a, b):\n    return a + b\n"
    uri = open_file(client, tmp_path / "feed.py", text)
    place = types.Range(types.Position(3, 15), types.Position(3, 16))
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=2, uri=uri),
            [types.TextDocumentContentChangePartial(range=place, text="zxqvkj_w")],
        )
    )
    await scored(client, uri, 2)
    answer = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(3, 17))
    )
    assert answer is not None
    assert answer.range == types.Range(types.Position(3, 15), types.Position(3, 23))
