"""Tasks as an editor runs them: the list, news as they come, the answer, cancelling; with the real model."""

from __future__ import annotations

import asyncio
import json
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.probes.registry import PROBES
from tests.lsp.conftest import configure, model_waiting, open_file, scored, until

SOURCE = '''\
def sign(n):
    """The sign.

    >>> sign(3)
    1
    """
    if n < 0:
        s = -1
    else:
        s = 1
    return s


def same(x):
    return x
'''
LARGER = (Path(__file__).parents[2] / "examples" / "larger.py").read_text(encoding="utf-8")
NEWS = "counterlens/taskNews"


def listen(client: LanguageClient) -> list[Any]:
    """All news from now on."""
    news: list[Any] = []

    @client.feature(NEWS)
    def _heard(one: Any) -> None:
        news.append(one)

    return news


async def ask(client: LanguageClient, command: str, uri: str, **more: Any) -> SimpleNamespace:
    answer: Any = await client.workspace_execute_command_async(
        types.ExecuteCommandParams(command, [{"uri": uri, **more}])
    )
    told = json.loads(json.dumps(answer, allow_nan=False), object_hook=lambda one: SimpleNamespace(**one))
    assert isinstance(told, SimpleNamespace)
    return told


class Page(HTMLParser):
    """The headings of a fragment, where its buttons lead, and that it brings along nothing that runs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings: list[tuple[str, str]] = []
        self.jumps: list[str] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        assert tag != "script"
        assert not {"style", "onclick", "src", "href"} & set(known)
        self._open = tag
        if "data-jump" in known:
            self.jumps.append(known["data-jump"] or "")

    def handle_data(self, data: str) -> None:
        if self._open in {"h1", "h2", "h3", "h4"}:
            self.headings.append((self._open, data))
            self._open = ""


async def test_every_task_is_listed_with_what_it_finds_out_and_why_it_cannot_run(
    client: LanguageClient, untrusted_client: LanguageClient, tmp_path: Path
) -> None:
    place = {"line": 6, "character": 4}
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    found = await ask(client, "counterlens.tasks", uri, position=place)
    assert found.ok, found.error
    assert (found.function, found.functions) == ("sign", 2)
    listed = {one.id: one for one in found.tasks}
    assert set(listed) == set(PROBES)
    assert {"completion", "repair", "likelihood", "memorisation"} <= set(listed)
    assert all(one.title for one in listed.values())
    assert {name for name, one in listed.items() if not one.available} == {"memorisation", "reference"}
    assert "--protocol reference" in listed["reference"].reason
    assert "counterlens.probe.corpus" in listed["memorisation"].reason
    outside = {"line": 12, "character": 0}
    nowhere = await ask(client, "counterlens.tasks", uri, position=outside)
    assert nowhere.ok
    assert nowhere.function == ""
    answer = await ask(client, "counterlens.probeTasks", uri, tasks=["guess"])
    assert "there is no task guess" in answer.error
    answer = await ask(client, "counterlens.probeTasks", uri, position=outside)
    assert "no function here" in answer.error
    empty = open_file(client, tmp_path / "empty.py", "x = 1\n")
    assert "has no functions" in (await ask(client, "counterlens.tasks", empty)).error

    uri = open_file(untrusted_client, tmp_path / "sign.py", SOURCE)
    found = await ask(untrusted_client, "counterlens.tasks", uri, position=place)
    reasons = {one.id: one.reason for one in found.tasks}
    assert "not trusted" in reasons["completion"]
    assert "not trusted" in reasons["execution"]
    assert reasons["likelihood"] == reasons["operator"] == ""
    answer = await ask(
        untrusted_client, "counterlens.probeTasks", uri, function="same", tasks=["completion", "operator"]
    )
    assert answer.ok
    told = {one.task: one.summary for one in answer.tasks}
    assert "not trusted" in told["completion"]
    assert "no operators" in told["operator"]


@pytest.mark.usefixtures("embedded_by_default")
async def test_results_come_one_by_one_and_the_answer_has_all(client: LanguageClient, tmp_path: Path) -> None:
    news = listen(client)
    uri = open_file(client, tmp_path / "larger.py", LARGER)
    configure(client, probe={"maxTokens": 16})
    wanted = ["operator", "completion", "repair", "memorisation"]
    answer = await ask(client, "counterlens.probeTasks", uri, function="larger", tasks=wanted, run="t1")
    assert answer.ok, answer.error
    states = {one.task: one.state for one in answer.tasks}
    assert states == {
        "completion": "done",
        "repair": "not run",
        "operator": "done",
        "memorisation": "not run",
    }
    await until(lambda: bool(news) and news[-1].over)
    assert {one.run for one in news} == {"t1"}
    seen = [(one.task, one.state) for one in news if one.task]
    assert seen.index(("completion", "done")) < seen.index(("operator", "running"))
    last = {one.task: one for one in news if one.task}
    assert "passes its own tests, so there is nothing to repair" in last["repair"].summary
    assert "of 1 operator as" in last["operator"].html
    assert "95 % interval" in last["completion"].html
    assert "Checked before any figure" in last["completion"].html
    page = Page(last["completion"].html)
    assert [tag for tag, _ in page.headings][:2] == ["h2", "h3"]
    overview = Page(news[-1].overview)
    assert overview.headings == [("h1", "Probes of larger")]
    assert overview.jumps == [last[name].section for name in states]
    assert news[-1].status.startswith("Finished: 2 done, 2 not run")
    for name in states:
        assert f"## {name}: " in answer.markdown
    assert any(client.progress_reports.values())
    found = {one.task: [(record.probe, record.target) for record in one.records] for one in answer.tasks}
    assert found["operator"] == [("operator", "larger.py::larger")]
    assert found["memorisation"] == []
    (left_out,) = next(one.records for one in answer.tasks if one.task == "repair")
    assert left_out.outcome == "left out"
    assert "nothing to repair" in left_out.reason


async def test_a_whole_file_is_probed_function_by_function(client: LanguageClient, tmp_path: Path) -> None:
    news = listen(client)
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    answer = await ask(client, "counterlens.probeTasks", uri, tasks="likelihood", run="all")
    assert answer.ok, answer.error
    assert answer.title == "sign.py"
    assert answer.tasks[0].summary.startswith("2 functions: ")
    assert "### All functions" in answer.markdown
    await until(lambda: bool(news) and news[-1].over)
    grown = [len(Page(one.html).headings) for one in news if one.task == "likelihood"]
    assert grown == sorted(grown)
    assert len(set(grown)) == 4  # nothing, the heading alone, one function, both


async def test_a_run_is_cancelled_by_its_progress_and_keeps_what_it_had(
    client: LanguageClient, tmp_path: Path
) -> None:
    body = "".join(f"    v{i} = v{i - 1} * {i} + len(str(v{i - 1}))\n" for i in range(1, 6))
    news = listen(client)
    uri = open_file(client, tmp_path / "long.py", f"def long(v0):\n{body}    return v5\n")
    await scored(client, uri)
    with model_waiting(client):
        running = asyncio.ensure_future(
            ask(client, "counterlens.probeTasks", uri, tasks=["operator", "repair"], run="c")
        )
        await until(lambda: ("operator", "running") in [(one.task, one.state) for one in news])
        token = next(iter(client.progress_reports))
        client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    answer = await running
    assert {one.task: one.state for one in answer.tasks} == {"repair": "not run", "operator": "cancelled"}
    assert "1 cancelled" in answer.summary


async def test_a_run_is_cancelled_by_its_request_and_says_so(client: LanguageClient, tmp_path: Path) -> None:
    body = "".join(f"    v{i} = v{i - 1} * {i} + len(str(v{i - 1}))\n" for i in range(1, 6))
    news = listen(client)
    uri = open_file(client, tmp_path / "long.py", f"def long(v0):\n{body}    return v5\n")
    argument = {"uri": uri, "tasks": ["operator", "likelihood"], "run": "r"}
    params = types.ExecuteCommandParams("counterlens.probeTasks", [argument])
    await scored(client, uri)
    with model_waiting(client):
        running = client.protocol.send_request(types.WORKSPACE_EXECUTE_COMMAND, params, msg_id="the-run")
        await until(lambda: ("likelihood", "running") in [(one.task, one.state) for one in news])
        client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(id="the-run"))
    await until(lambda: news[-1].over)
    assert ("operator", "cancelled") in [(one.task, one.state) for one in news]
    await until(running.done)
    assert "the probe of long.py was cancelled" in [one.detail for one in client.statuses]  # type: ignore[attr-defined]


async def test_a_plain_client_gets_markdown(plain_client: LanguageClient, tmp_path: Path) -> None:
    client = plain_client
    news = listen(client)
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    answer = await ask(client, "counterlens.probeTasks", uri, function="sign", tasks=["likelihood"], run="p")
    assert "# Probes of sign" in answer.markdown
    await until(lambda: bool(client.shown_documents))
    shown = client.shown_documents[-1].uri
    assert Path(shown.removeprefix("file://")).read_text(encoding="utf-8") == answer.markdown
    assert news
    assert not any(one.html for one in news)


async def test_a_file_is_scored_after_what_came_before_it(client: LanguageClient, tmp_path: Path) -> None:
    long = "\n".join(f"def f{i}(a, b):\n    return a * {i} + b - {i}\n" for i in range(8))
    news = listen(client)
    await scored(client, open_file(client, tmp_path / "short.py", "x = 1\n"))
    client.statuses.clear()  # type: ignore[attr-defined]
    with model_waiting(client):
        uri = open_file(client, tmp_path / "long.py", long)
        await until(lambda: any(one.state == "scoring" for one in client.statuses))  # type: ignore[attr-defined]
        asked = ask(client, "counterlens.probeTasks", uri, function="f0", tasks=["likelihood"], run="p")
        running = asyncio.ensure_future(asked)
        await until(lambda: ("likelihood", "running") in [(one.task, one.state) for one in news])
    answer = await running
    assert answer.ok, answer.error
    assert not any("is scored" in one.detail for one in client.statuses)  # type: ignore[attr-defined]
    await until(lambda: client.statuses[-1].detail == "long.py is scored")  # type: ignore[attr-defined]
