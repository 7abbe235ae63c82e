"""`--task all`: every task runs, what one cannot do ends no other, and an interrupt keeps what is done."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from counterlens.cli import every_task, tasks
from counterlens.cli.probe import probe
from counterlens.cli.written import Written
from counterlens.errors import Cancelled, DataError, SourceError
from counterlens.models.llama.model import LlamaModel
from counterlens.probes import running
from counterlens.probes.offers import Offer
from counterlens.probes.running import Outcome, State
from counterlens.probes.task import Need, Request, Result, Table, Target
from counterlens.sandbox.registry import best_sandbox
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
    error: BaseException = SourceError("there is nothing", "Give it something")

    def run(self, request: Request) -> Result:
        raise self.error if request.seed == 0 else AssertionError


class Last(Works):
    id = "last"


@pytest.fixture(autouse=True)
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = {"works": Works(), "refuses": Refuses(), "last": Last()}
    monkeypatch.setattr(running, "TASKS", tasks)
    monkeypatch.setattr(
        every_task,
        "OFFERS",
        {name: Offer(name, "", frozenset[Need]()) for name in ("works", "refuses", "last")},
    )


@pytest.fixture
def request_of_one(model: LlamaModel) -> Request:
    return Request(model, [Target(Document("def f(): pass\n"), "f")], best_sandbox)


def test_what_one_task_lacks_is_named_and_the_others_run(
    request_of_one: Request, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[Outcome] = []
    found = every_task.run_all(request_of_one, show=shown.append)
    assert [(one.offer.id, one.state) for one in shown] == [
        ("works", State.DONE),
        ("refuses", State.FAILED),
        ("last", State.DONE),
    ]
    assert not found.interrupted
    every_task.print_everything(found)
    printed = json.loads(capsys.readouterr().out)
    assert [one["task"] for one in printed["results"]] == ["works", "last"]
    assert printed["left_out"] == {"refuses": "there is nothing. Give it something"}
    assert printed["interrupted"] is False
    assert {"completion", "repair", "likelihood"} <= set(printed)
    for one in shown:
        every_task.show_outcome(one)
    assert "refuses is left out: there is nothing" in capsys.readouterr().out


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Cancelled()])
def test_an_interrupt_keeps_what_is_done(
    error: BaseException,
    request_of_one: Request,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Refuses, "error", error)
    found = every_task.run_all(request_of_one)
    assert found.interrupted
    assert [one.state for one in found.outcomes] == [State.DONE, State.CANCELLED]
    assert found.waiting == ("last",)
    every_task.print_everything(found)
    every_task.show_end(found)
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert [one["task"] for one in document["results"]] == ["works"]
    assert document["interrupted"] is True
    assert "not, or not to the end: refuses, last" in printed.err


def test_repair_gets_the_bugs_of_a_dataset(request_of_one: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> list[Target]:
        raise DataError("it has no programs with bugs")

    monkeypatch.setattr(every_task, "OFFERS", {"repair": Offer("repair", "", frozenset[Need]())})
    (outcome,) = every_task.run_all(request_of_one, bugs=none).outcomes
    assert (outcome.state, outcome.reason) == (State.FAILED, "it has no programs with bugs")


def test_everything_is_written_also_what_was_not_run(
    request_of_one: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Refuses, "error", KeyboardInterrupt())
    with (tmp_path / "r.md").open("w") as markdown, (tmp_path / "r.html").open("w") as html:
        written = Written(markdown, html, as_json=False)
        with pytest.raises(click.exceptions.Exit) as ended:
            every_task.probe_everything(request_of_one, "shop.py", None, written)
    assert ended.value.exit_code == every_task.INTERRUPTED
    report, page = (tmp_path / "r.md").read_text(), (tmp_path / "r.html").read_text()
    rows = [line for line in report.splitlines() if line.startswith("| ")]
    assert {"| works | done | It works. |", "| refuses | cancelled |  |", "| last | cancelled |  |"} <= {
        *rows
    }
    assert "## works" in report
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    links = re.findall(r'href="#([^"]+)"', page)
    assert links == ["head-task-works", "head-task-refuses", "head-task-last"]
    assert all(f'id="{one}"' in page for one in links)


def test_one_task_is_written(
    request_of_one: Request, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tasks, "TASKS", {"confidence": Works()})
    shown = click.File("w", lazy=True).convert("-", None, None)
    tasks.probe_task("confidence", request_of_one, "shop.py::f", Written(shown, None, as_json=False))
    printed = capsys.readouterr().out
    assert printed.startswith("# shop.py::f: confidence\n\n1 function, asked of SmolLM2")
    assert "\n| n |\n| --- |\n| 1 |\n" in printed


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--markdown", "-", "--json"], "standard output takes one of"),
        (["--markdown", "-", "--html", "-"], "standard output takes one of"),
        (["--markdown", "no/such/folder/r.md"], "there is no folder no/such/folder"),
        (["--html", "."], ". is a folder"),
    ],
)
def test_where_a_report_cannot_go_is_said_before_anything_is_asked(options: list[str], why: str) -> None:
    ran = CliRunner().invoke(probe, ["no-such-file.py", "--task", "operator", *options])
    assert ran.exit_code == 2
    assert why in ran.stderr.replace("'", "").replace(str(Path("no/such/folder")), "no/such/folder")
