"""A model that the editor offers, played by the client: it writes, refuses, or is no longer wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.lsp.conftest import configure, open_file, until
from tests.lsp.test_tasks import SOURCE, ask

HABIT = "```python\n        s = -1\n    else:\n        s = 1\n    return s\n```"
"""The text of a model that knows the function only in its usual shape."""


async def asked(client: LanguageClient, path: Path, reply: Callable[[Any], Awaitable[dict[str, str]]]) -> str:
    client.feature("counterlens/complete")(reply)
    uri = open_file(client, path, SOURCE)
    configure(client, model="editor:habit")
    return uri


async def test_it_is_probed_by_what_it_writes_and_not_scored(client: LanguageClient, tmp_path: Path) -> None:
    questions: list[Any] = []

    async def reply(params: Any) -> dict[str, str]:
        questions.append(params)
        return {"text": HABIT}

    uri = await asked(client, tmp_path / "a.py", reply)
    answer = await ask(client, "counterlens.probe", uri, function="sign", mutations=["if-else-flip"])
    assert answer.ok, answer.error
    assert {one.model for one in questions} == {"habit"}
    assert [one.role for one in questions[0].messages] == ["system", "user"]
    assert "if n < 0:" in questions[0].messages[1].content
    assert "habit (the editor, completions not exact)" in answer.markdown
    assert answer.pairs[0].shows == "lost"  # it wrote the usual branches where they were exchanged
    report = await ask(client, "counterlens.confidence", uri)
    assert "returns no token probabilities" in report.error


async def test_what_it_cannot_do_is_said(client: LanguageClient, tmp_path: Path) -> None:
    async def reply(_params: Any) -> dict[str, str]:
        return {"error": "the user does not want code to be sent to it"}

    uri = await asked(client, tmp_path / "a.py", reply)
    answer = await ask(client, "counterlens.probe", uri, function="sign")
    assert not answer.ok
    assert "does not want" in answer.error


async def test_cancelling_the_probe_withdraws_the_question(client: LanguageClient, tmp_path: Path) -> None:
    begun: list[Any] = []

    async def reply(params: Any) -> dict[str, str]:
        begun.append(params)
        await asyncio.sleep(60)
        return {"text": ""}

    uri = await asked(client, tmp_path / "a.py", reply)
    running = asyncio.ensure_future(ask(client, "counterlens.probe", uri, function="sign"))
    await until(lambda: bool(begun))
    token = next(iter(client.progress_reports))
    client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    answer = await asyncio.wait_for(running, 50)  # the model would answer after 60
    assert not answer.ok
    assert "cancelled" in answer.error
