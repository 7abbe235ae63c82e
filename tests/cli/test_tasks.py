"""`--task all`: every task runs, and what one cannot do does not end the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from counterlens.cli import tasks
from counterlens.errors import Cancelled, SourceError
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.task import Need, Request, Result, Table, Target
from counterlens.syntax.document import Document


class Works:
    id, title, needs = "works", "", frozenset[Need]()

    def run(self, request: Request) -> Result:
        assert request.report
        request.report("looking", 0, 1)
        table = Table("t", ("n",), ((len(request.targets),),))
        return Result(self.id, "", request.model.info, "It works.", (table,))


class Refuses(Works):
    id = "refuses"
    error: Exception = SourceError("there is nothing", "Give it something")

    def run(self, request: Request) -> Result:
        raise self.error if request.seed == 0 else AssertionError


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "TASKS", {"refuses": Refuses(), "works": Works()})


@pytest.mark.usefixtures("both")
def test_what_one_task_lacks_is_named_and_the_others_run(
    model: LlamaModel, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []
    chosen = [Target(Document("def f(): pass\n"), "f")]

    def report(what: str, _done: int, _total: int) -> None:
        told.append(what)

    options: dict[str, Any] = {"seed": 0, "windows": False, "corpus": None, "report": report}
    found, left_out = tasks.run_all(model, chosen, **options)
    assert told == ["works: looking"]
    assert [one.task for one in found] == ["works"]
    assert left_out == {"refuses": "there is nothing (Give it something)"}
    tasks.show_all(found, [], left_out, as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert [one["task"] for one in printed["results"]] == ["works"]
    assert printed["left_out"] == left_out
    tasks.show_all(found, [], left_out, as_json=False)
    assert "refuses is left out: there is nothing" in capsys.readouterr().out


@pytest.mark.usefixtures("both")
def test_cancel_ends_all(model: LlamaModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Refuses, "error", Cancelled("given up"))
    with pytest.raises(Cancelled):
        tasks.run_all(model, [], seed=0, windows=False, corpus=None, report=lambda *_: None)
