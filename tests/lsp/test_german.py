"""In an editor whose language is German, what the server says on the code is German, and so are reasons."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest_asyncio
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.lsp.conftest import CONFIG, UNCERTAINTY, begin_session, fresh, initialize, open_file, scored, until
from tests.lsp.test_confidence import actions
from tests.lsp.test_server import SOURCE, hover_text, position_of

SURPRISING = '''def total(values):
    """Add all values up.

    >>> total([1, 2])
    3
    """
    result = 0
    for zebra in values:
        result += zebra
    return values
'''


@pytest_lsp.fixture(config=CONFIG, scope="session")
async def shared_german(lsp_client: LanguageClient) -> AsyncIterator[None]:
    params = initialize(settings=UNCERTAINTY)
    params.locale = "de"
    await begin_session(lsp_client, params)
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture(loop_scope="session")
async def german(shared_german: LanguageClient) -> AsyncIterator[LanguageClient]:
    async with fresh(shared_german) as one:
        yield one


async def ask(client: LanguageClient, command: str, uri: str, **argument: Any) -> SimpleNamespace:
    answer: Any = await client.workspace_execute_command_async(
        types.ExecuteCommandParams(command, [{"uri": uri, **argument}])
    )
    return SimpleNamespace(**answer)


async def titles(client: LanguageClient, uri: str) -> list[str]:
    lenses = await client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(uri))
    )
    return [one.command.title for one in lenses or [] if one.command]


async def test_hover_marks_actions_and_lenses_are_german(german: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(german, tmp_path / "total.py", SURPRISING)
    assert "bewertet…" in await hover_text(german, uri, position_of(SURPRISING, "zebra"))
    await scored(german, uri)
    said = await hover_text(german, uri, position_of(SURPRISING, "zebra"))
    assert "|  | Konfidenz | am unsichersten |" in said
    assert "Erwartet hat es: " in said
    assert "nicht kalibriert" in said
    (lens,) = await titles(german, uri)
    completed = r"( · \d+ von \d+ solchen Funktionen vervollständigt)?"
    assert re.fullmatch(r"Kontrafaktisch prüfen · (\d+ Prompts|etwa \d+ (s|min))" + completed, lens)
    await until(lambda: any(one.code == "surprising" for one in german.diagnostics.get(uri, ())))
    mark = next(one for one in german.diagnostics[uri] if one.code == "surprising")
    assert "hier nicht erwartet (" in mark.message
    offered = [one.title for one in await actions(german, uri, mark)]
    assert any(title.startswith("Überraschendes hier ignorieren (") for title in offered)
    details = {one.detail for one in german.statuses}
    assert {"keine Datei ist offen", "total.py wird bewertet", "total.py ist bewertet"} <= details


async def test_the_legend_and_numbers_are_written_as_in_german(
    german: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(german, tmp_path / "total.py", SURPRISING)
    await scored(german, uri)
    answer: Any = await german.protocol.send_request_async(
        "counterlens/overlay", {"textDocument": {"uri": uri}}
    )
    assert (answer.labels[0], answer.labels[-1]) == ("unter 1 %", "80 % und mehr")
    words = [
        await hover_text(german, uri, position_of(SURPRISING, word))
        for word in ("zebra", "total(", "values):", "result = 0", "for ", "return")
    ]
    assert any("0," in said for said in words)
    assert not any("0." in said for said in words)


async def test_dependences_and_probes_are_told_of_in_german(german: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(german, tmp_path / "sign.py", SOURCE)
    await scored(german, uri)
    measured = await ask(german, "counterlens.dependences", uri, function="sign")
    assert measured.summary.startswith("Steuerung: ")
    said = await hover_text(german, uri, position_of(SOURCE, "result = -1"))
    assert "`result = -1` hängt ab von (" in said
    assert "entschieden von Zeile 12 (true): *" in said
    assert " Nat); Einrückung: gefunden*" in said

    probed = await ask(german, "counterlens.probe", uri, function="sign")
    assert probed.ok, probed.error
    assert re.search("[dD](as|em) Modell ", probed.summary)
    assert "What this means" in probed.report  # reports are English
    assert any(pair["title"] == "if-else-flip, Zeile 12" for pair in probed.pairs)
    assert all(re.search("[dD](as|em) Modell", pair["sentence"]) for pair in probed.pairs)
    lens = next(title for title in await titles(german, uri) if title.startswith("Kontrafaktisch"))
    assert lens.endswith((" änderten das Urteil", "nicht aussagekräftig"))
    reported = [one for some in german.progress_reports.values() for one in some]
    begun = [one.title for one in reported if isinstance(one, types.WorkDoneProgressBegin)]
    assert {"sign wird geprüft", "Abhängigkeiten von sign werden erschlossen"} <= set(begun)
    steps = {one.message for one in reported if isinstance(one, types.WorkDoneProgressReport)}
    assert {"das Modell wird geöffnet", "die Tests werden gesucht"} <= steps


async def test_refusals_and_errors_are_german(german: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(german, tmp_path / "sign.py", SOURCE)
    listed = await ask(german, "counterlens.counterfactuals", uri, function="sign")
    said = {one["mutation"]: one["description"] for one in listed.counterfactuals}
    assert said["if-else-flip"] == "die Bedingung `x < 0` verneint und die Zweige vertauscht"
    assert listed.refused
    assert not any(" the " in f" {one['reason']} " for one in listed.refused)
    missing = await ask(german, "counterlens.probe", uri, function="gone")
    assert missing.error.endswith("ist keine Funktion gone. Es gibt darin sign")
    nowhere = await ask(german, "counterlens.probe", uri, position={"line": 0, "character": 0})
    assert nowhere.error == (
        "hier ist keine Funktion. Setzen Sie den Cursor in eine Funktion, und versuchen Sie es noch einmal"
    )
    tasks = await ask(german, "counterlens.tasks", uri)
    assert tasks.tasks[0]["title"] == "gelingt es dem Modell auch, wenn der Code umgeschrieben ist?"
