"""The requests of an editor's views: the function at the cursor, verdicts of counterfactuals, runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.conftest import short_model
from tests.lsp.conftest import open_file, scored
from tests.lsp.test_tasks import ask

PARITY = Path(__file__).parents[2] / "examples" / "parity.py"


async def view(client: LanguageClient, uri: str, line: int) -> SimpleNamespace:
    params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 4}}
    found: SimpleNamespace = await client.protocol.send_request_async("counterlens/function", params)
    return found


async def test_the_function_at_a_place_with_its_concepts_and_what_was_found(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = "LIMIT = 3\n\n\n" + PARITY.read_text(encoding="utf-8")
    uri = open_file(client, tmp_path / "parity.py", text)
    await scored(client, uri)
    assert not (await view(client, uri, 0)).function

    before = await view(client, uri, 11)
    assert (before.function, before.state, before.header.start.line) == ("parity", "ready", 3)
    levels = [one.confidence for one in before.concepts]
    assert levels == sorted(levels)
    assert {"decision", "operators"} <= {one.name for one in before.concepts}
    lines = text.splitlines()
    for one in before.concepts:
        assert 3 <= one.least.start.line <= one.least.end.line < len(lines)
        assert lines[one.least.start.line][one.least.start.character :].startswith(one.text.removesuffix("…"))
        assert one.least_confidence <= one.confidence
    assert before.dependences is None
    assert not before.findings

    unprobed = await ask(client, "counterlens.counterfactuals", uri, function="parity")
    assert {one.verdict for one in unprobed.counterfactuals} == {""}
    await ask(client, "counterlens.probeTasks", uri, function="parity", tasks=["likelihood", "completion"])
    await ask(client, "counterlens.dependences", uri, function="parity")
    after = await view(client, uri, 11)
    assert {one.task for one in after.findings} == {"likelihood", "completion"}
    assert all(one.summary for one in after.findings)
    assert after.dependences.method == "interventional"
    assert "found" in after.dependences.summary

    # Further down by an edit, the function is the same, and so is what is known of it.
    edit = types.TextDocumentContentChangePartial(
        range=types.Range(types.Position(0, 0), types.Position(0, 0)), text="# more\n\n"
    )
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(2, uri), [edit])
    )
    told = await ask(client, "counterlens.counterfactuals", uri, function="parity")
    verdicts = {one.mutation: (one.outcome, one.verdict) for one in told.counterfactuals if one.preserving}
    assert set(verdicts) >= {"if-else-flip", "operand-swap"}
    assert all(word and verdict for word, verdict in verdicts.values()), verdicts
    assert {one.verdict for one in told.counterfactuals if not one.preserving} == {""}
    assert {one.task for one in (await view(client, uri, 13)).findings} == {"likelihood", "completion"}

    edit = types.TextDocumentContentChangePartial(
        range=types.Range(types.Position(13, 4), types.Position(13, 4)), text="pass; "
    )
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(3, uri), [edit])
    )
    assert not (await view(client, uri, 5)).findings


async def test_runs_are_listed_and_reported(client: LanguageClient, tmp_path: Path) -> None:
    data = tmp_path / "parity.py"
    data.write_text(PARITY.read_text(encoding="utf-8"), encoding="utf-8")
    run, other = tmp_path / "a run", tmp_path / "none"
    command = ["bench", "--data", f"repo:{tmp_path}", "--out", str(run), "--task", "likelihood"]
    command += ["--model", str(short_model())]
    made = subprocess.run(
        [sys.executable, "-m", "counterlens", *command], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr

    listing = await ask(client, "counterlens.runs", "", folders=[str(run), str(other)])
    found, missing = listing.runs
    assert (found.tasks, found.done, found.total, found.resume) == (["likelihood"], 1, 1, "")
    assert found.models == [short_model().name]
    assert found.error is None
    assert "there is no run" in missing.error

    report = await ask(client, "counterlens.runReport", "", folder=str(run))
    assert report.ok
    assert report.html.startswith("<!doctype html>")
    assert "parity" in report.html
    assert "done" in report.summary
    refused = await ask(client, "counterlens.runReport", "", folder=str(other))
    assert not refused.ok
    assert "there is no run" in refused.error
