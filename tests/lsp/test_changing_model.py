"""Another model is chosen while one is asked: who waits gets the answer, and it is kept nowhere."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.lsp.conftest import model_waiting, open_file, scored, until
from tests.lsp.test_server import assert_offered, lens_titles
from tests.lsp.test_tasks import SOURCE, ask, listen

HABIT = "```python\n        s = -1\n    else:\n        s = 1\n    return s\n```"
SECOND = "editor:second"


def choose(client: LanguageClient, model: str, **more: Any) -> None:
    settings = {"model": model, **more}
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"counterlens": settings}))


class Patient:
    """A model of the editor that answers once it may; its name is its own, as answers are kept."""

    def __init__(self, client: LanguageClient, text: str, **settings: Any) -> None:
        self.asked, self.may = asyncio.Event(), asyncio.Event()
        self.name = f"patient-{os.urandom(4).hex()}"

        @client.feature("counterlens/complete")
        async def _reply(_params: Any) -> dict[str, str]:
            self.asked.set()
            await self.may.wait()
            return {"text": text}

        choose(client, f"editor:{self.name}", **settings)

    async def outlasted(self, client: LanguageClient, answer: Awaitable[SimpleNamespace]) -> SimpleNamespace:
        """The outcome of a request when another model is chosen before this one answers."""
        waiting = asyncio.ensure_future(answer)
        await asyncio.wait_for(self.asked.wait(), 60)
        choose(client, SECOND)
        await until(lambda: client.statuses[-1].model == "second")  # type: ignore[attr-defined]
        self.may.set()
        return await asyncio.wait_for(waiting, 60)


async def known(client: LanguageClient, uri: str) -> Any:
    """The content of the view of the function."""
    params = {"textDocument": {"uri": uri}, "position": {"line": 6, "character": 4}}
    return await client.protocol.send_request_async("counterlens/function", params)


async def nothing_is_known(client: LanguageClient, uri: str) -> None:
    titles = await lens_titles(client, uri)
    assert_offered(titles)
    view = await known(client, uri)
    assert view.function == "sign"
    assert (view.findings, view.dependences) == ([], None)
    marks = {one.code for one in client.diagnostics.get(uri, ())}
    assert not marks & {"counterfactual-effect", "missed-dependence"}


async def test_a_probe_speaks_of_the_model_that_was_asked(client: LanguageClient, tmp_path: Path) -> None:
    patient = Patient(client, HABIT)
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    answer = await patient.outlasted(client, ask(client, "counterlens.probe", uri, function="sign"))
    assert answer.ok, answer.error
    assert f"{patient.name} (the editor, completions not exact)" in answer.markdown
    await nothing_is_known(client, uri)
    again = await ask(client, "counterlens.probe", uri, function="sign")
    assert "second (the editor, completions not exact)" in again.markdown
    assert (await known(client, uri)).findings


async def test_so_do_tasks(client: LanguageClient, tmp_path: Path) -> None:
    patient, news = Patient(client, "It tells the sign."), listen(client)
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    argument = {"function": "sign", "tasks": ["completion", "summary"], "run": "t"}
    answer = await patient.outlasted(client, ask(client, "counterlens.probeTasks", uri, **argument))
    assert {one.task: one.state for one in answer.tasks} == {"completion": "done", "summary": "done"}
    assert f"asked of {patient.name} (the editor)" in answer.markdown
    await until(lambda: news[-1].over)
    assert f"asked of {patient.name} (the editor)" in news[-1].overview
    await nothing_is_known(client, uri)


async def test_and_questions_on_dependences(client: LanguageClient, tmp_path: Path) -> None:
    patient = Patient(client, "yes", dependences={"diagnostics": True})
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    question = ask(client, "counterlens.dependences", uri, function="sign", method="pairwise")
    answer = await patient.outlasted(client, question)
    assert answer.ok, answer.error
    assert answer.inferred.model.name == patient.name
    await nothing_is_known(client, uri)


async def test_a_model_is_kept_open_for_who_waits_for_it(client: LanguageClient, tmp_path: Path) -> None:
    # what a kept answer answers cannot be interrupted
    text = f'def fresh(a):\n    """{os.urandom(8).hex()}"""\n    b = a + 1\n    return b * a\n'
    news = listen(client)
    uri = open_file(client, tmp_path / "fresh.py", text)
    await scored(client, uri)
    with model_waiting(client):
        running = asyncio.ensure_future(
            ask(client, "counterlens.probeTasks", uri, function="fresh", tasks=["likelihood"], run="l")
        )
        await until(lambda: ("likelihood", "running") in [(one.task, one.state) for one in news])
        choose(client, SECOND)
        await until(lambda: "second: " in said(client))
        assert not running.done()
    answer = await running
    assert {one.task: one.state for one in answer.tasks} == {"likelihood": "done"}
    assert "asked of short" in answer.markdown


def said(client: LanguageClient) -> str:
    """The name and the state that were told last."""
    last = client.statuses[-1]  # type: ignore[attr-defined]
    return f"{last.model}: {last.state}"


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (
            {"model": "remote", "remote": {"baseUrl": "http://127.0.0.1:9/v1", "model": "org/coder:7b"}},
            "org/coder:7b",
        ),
        ({"model": "editor:vendor/one"}, "vendor/one"),
        ({"model": "/weights/coder-1b.gguf"}, "coder-1b"),
        ({"model": "hf:owner/repo/coder-2b.gguf"}, "coder-2b"),
    ],
)
async def test_the_status_names_the_new_model_at_once(
    client: LanguageClient, settings: dict[str, Any], name: str
) -> None:
    await until(lambda: bool(client.statuses))  # type: ignore[attr-defined] # that of the first model
    begun = len(client.statuses)  # type: ignore[attr-defined]
    choose(client, **settings)  # no file is open, so that none of them is
    await until(lambda: len(client.statuses) > begun)  # type: ignore[attr-defined]
    assert said(client) == f"{name}: idle"
