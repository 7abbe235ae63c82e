"""`--task all`: every probe runs, what one cannot do ends no other, and an interrupt keeps what is done."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from counterlens.cli import every_probe
from counterlens.cli.interrupting import INTERRUPTED
from counterlens.cli.probe import probe
from counterlens.cli.report_output import ReportOutput
from counterlens.errors import Cancelled, DataError, SourceError
from counterlens.metrics.table import Table
from counterlens.models.base import Model
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.options import ProbeOptions, make
from counterlens.probes.probe import Context, Probe, Source, Target
from counterlens.probes.record import Record
from counterlens.syntax.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked(Record):
    functions: int


class Works(Probe[ProbeOptions, Worked]):
    id, title, source = "works", "does it work?", Source("ours")
    options, record = ProbeOptions, Worked

    def run(self, context: Context, target: Target, options: ProbeOptions) -> Worked:  # noqa: ARG002
        context.steps.next("looking")
        return Worked(functions=1)

    def tables(self, records: Sequence[Worked], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        return (Table("t", ("n",), ((len(records),),)),)

    def summary(self, records: Sequence[Worked]) -> str:  # noqa: ARG002
        return "It works."

    def measures(self, record: Worked) -> Mapping[str, bool]:  # noqa: ARG002
        return {}

    def estimate(self, target: Target, options: ProbeOptions, model: Model) -> int:  # noqa: ARG002
        return 1


class Refuses(Works):
    id = "refuses"
    error: BaseException = SourceError("there is nothing", "Give it something")

    def run(self, context: Context, target: Target, options: ProbeOptions) -> Worked:  # noqa: ARG002
        raise self.error


class Last(Works):
    id = "last"


PROBES = (Works(), Refuses(), Last())


class OneFunction:
    """The source of the functions: one function, or none for some probe."""

    def __init__(self, without: str = "") -> None:
        self._without = without

    def __str__(self) -> str:
        return "shop.py"

    def targets(self, probe: Probe[Any, Any], _options: ProbeOptions) -> list[Target]:
        if probe.id == self._without:
            raise DataError("it has no programs with bugs")
        return [Target(Document("def f(): pass\n"), "f")]


def probe_all(model: Model, output: ReportOutput, subject: OneFunction | None = None) -> None:
    options = {one.id: make(one.options, {}) for one in PROBES}
    every_probe.probe_everything(Context(model), PROBES, options, subject or OneFunction(), output)


def test_what_one_probe_lacks_is_named_and_the_others_run(
    model: LlamaModel, capsys: pytest.CaptureFixture[str]
) -> None:
    probe_all(model, ReportOutput({}, as_json=True))
    printed = json.loads(capsys.readouterr().out)
    assert [one["probe"] for one in printed["results"]] == ["works", "refuses", "last"]
    assert [one["state"] for one in printed["results"]] == ["done", "not run", "done"]
    assert printed["left_out"] == {"refuses": "there is nothing: Give it something"}
    assert printed["interrupted"] is False
    probe_all(model, ReportOutput({}, as_json=False))
    assert "there is nothing: Give it something" in capsys.readouterr().out


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Cancelled()])
def test_an_interrupt_keeps_what_is_done(
    error: BaseException,
    model: LlamaModel,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Refuses, "error", error)
    with pytest.raises(click.exceptions.Exit) as ended:
        probe_all(model, ReportOutput({}, as_json=True))
    assert ended.value.exit_code == INTERRUPTED
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert [one["probe"] for one in document["results"]] == ["works"]
    assert document["left_out"] == {"refuses": "cancelled", "last": "cancelled"}
    assert document["interrupted"] is True
    assert "unfinished: refuses, last" in printed.err


def test_a_dataset_that_has_nothing_for_a_probe_ends_no_other(
    model: LlamaModel, capsys: pytest.CaptureFixture[str]
) -> None:
    probe_all(model, ReportOutput({}, as_json=True), OneFunction(without="works"))
    printed = json.loads(capsys.readouterr().out)
    assert printed["left_out"]["works"] == "it has no programs with bugs"
    assert "last" not in printed["left_out"]


def test_everything_is_written_also_what_was_not_run(
    model: LlamaModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Refuses, "error", KeyboardInterrupt())
    with (tmp_path / "r.md").open("w") as markdown, (tmp_path / "r.html").open("w") as html:
        output = ReportOutput({"markdown": markdown, "html": html}, as_json=False)
        with pytest.raises(click.exceptions.Exit) as ended:
            probe_all(model, output)
    assert ended.value.exit_code == INTERRUPTED
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


def test_one_probe_is_written(embedded: LlamaModel, tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    file.write_text("def f(a, b):\n    return a < b\n")
    ran = CliRunner().invoke(probe, [f"{file}::f", "--task", "confidence", "--markdown", "-"])
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.startswith("# confidence: which concepts does it expect, and which surprise it?")
    assert f"1 function, asked of {embedded.info.name}" in ran.stdout
    assert re.search(r"\| functions \| tokens \|.*\n\| --- .*\n\| 1 \| \d+ \|", ran.stdout)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--markdown", "-", "--json"], "standard output can hold only one of"),
        (["--markdown", "-", "--html", "-"], "standard output can hold only one of"),
        (["--markdown", "no/such/folder/r.md"], "there is no folder no/such/folder"),
        (["--html", "."], ". is a folder"),
    ],
)
def test_where_a_report_cannot_go_is_said_before_anything_is_asked(options: list[str], why: str) -> None:
    ran = CliRunner().invoke(probe, ["no-such-file.py", "--task", "operator", *options])
    assert ran.exit_code == 2
    assert why in ran.stderr.replace("'", "").replace(str(Path("no/such/folder")), "no/such/folder")
