"""Any registered task can be benched: a run of several, its tables, files and comparisons."""

from __future__ import annotations

import importlib
import json
import subprocess
from pathlib import Path

import pytest

from counterlens.errors import CounterlensError, DataError
from counterlens.evaluation.comparison import compare_runs
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.work import find_record
from counterlens.probes.probe import Context
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import run_targets
from counterlens.reports.run_formats import write_evaluation
from counterlens.sandbox.registry import best_sandbox
from tests.evaluation.conftest import TOY
from tests.evaluation.running import command_of, run

TASKS = ("confidence", "operator", "likelihood", "dependence")
SCORED = ("larger.py", "gcd.py")
PAGE = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")


def asked(place: Path) -> list[str]:
    named = [part for task in TASKS for part in ("--task", task)]
    chosen = [part for name in SCORED for part in ("--paths", name)]
    return [*named, *chosen, "--mutation", "if-else-flip", "--data", f"repo:{place / 'code'}"]


@pytest.fixture(scope="module")
def finished(place: Path, toys: None) -> Path:  # noqa: ARG001
    """A run of several tasks that only score."""
    folder = place / "tasks"
    command = command_of("bench", "--out", str(folder), "--allow-weaker-sandbox", "--model", "toy")
    done = run([*command, *asked(place)])
    assert done.returncode == 0, done.stderr
    for task in TASKS:
        assert f"{task}: 2 functions for each of 1 model, about " in done.stderr
    return folder


def test_tables_of_records_are_those_of_one_run_over_all_functions(
    place: Path, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(TOY)
    model = importlib.import_module("toy_model").ToyModel()
    given = {"mutations": ("if-else-flip",)}
    settings = RunSettings.of(TASKS, f"repo:{place / 'code'}", given, paths=SCORED)
    plan = make_plan(settings, best_sandbox())
    for task in TASKS:
        targets = list(plan.targets[task].values())
        run = run_targets(PROBES[task], Context(model, best_sandbox), targets, settings.options_of(task))
        together = {table.title: table for table in run.tables}
        tables = {table.title: table for table in RunResults.read(finished).only(task).tables()}
        assert together.keys() <= tables.keys()
        for title, table in together.items():
            assert tables[title].columns == ("model", *table.columns)
            assert tables[title].rows == tuple(("toy", *row) for row in table.rows)


def test_reports_are_of_all_tasks_or_one(finished: Path) -> None:
    found = RunResults.read(finished)
    text = write_evaluation("markdown", found)
    assert "All 8 questions about functions" in text
    assert all(f"{task}: functions asked about" in text.lower() for task in TASKS)
    assert {one["task"] for one in json.loads(write_evaluation("json", found))["records"]} == {*TASKS}
    assert write_evaluation("csv", found.only("operator")).startswith(
        "position,model,problem,function,outcome,reason,list,"
    )
    with pytest.raises(DataError, match="several tasks"):
        write_evaluation("csv", found)
    with pytest.raises(DataError, match="not of the task repair"):
        found.only("repair")


def test_a_run_compared_with_itself_has_not_changed(finished: Path) -> None:
    found = RunResults.read(finished)
    compared = compare_runs(found, found, ("a", "b"))
    assert len(compared) == len(TASKS)
    assert all(measure.p is None for one in compared for measure in one.measures)
    assert [one.name for one in compared[0].scores] == ["cross-entropy", "bits per byte"]


def test_replay_finds_the_same(finished: Path) -> None:
    record = "toy|operator|larger.py::larger"
    done = run(command_of("replay", str(finished), record, "--allow-weaker-sandbox"))
    assert done.returncode == 0, done.stdout + done.stderr
    with pytest.raises(DataError, match="larger occurs more than once"):
        find_record(finished, "larger")


def test_the_queries_of_the_guide_work_on_an_export(finished: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    done = run(command_of("export", str(finished), "--output", str(tmp_path)))
    assert done.returncode == 0, done.stderr
    queries = [block.partition("```")[0] for block in PAGE.split("```sql\n")[1:]]
    assert queries
    for query in queries:
        rows = duckdb.sql(query.replace("DIR/parquet", str(tmp_path))).fetchall()
        assert rows, query
    assert len(duckdb.read_parquet(str(tmp_path / "records.parquet"))) == 8


def test_what_cannot_be_asked_is_said_before_anything_is() -> None:
    for tasks, message in (
        (("memorisation",), "needs a corpus"),
        (("telepathy",), "there is no task telepathy"),
        (("name", "name"), "a task is given twice"),
    ):
        with pytest.raises(CounterlensError, match=message):
            make_plan(RunSettings.of(tasks, "humaneval"), best_sandbox())


@pytest.mark.usefixtures("toys")
def test_a_hook_names_the_lines_of_what_changed(place: Path) -> None:
    code = place / "committed"
    code.mkdir()
    (code / "same.py").write_text('def same(x):\n    """>>> same(1)\n    1\n    """\n    return x\n')
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "one"],
    ):
        subprocess.run(["git", *command], cwd=code, check=True)  # noqa: S607
    options = ("--mutation", "if-else-flip", "--model", "toy", "--github")
    changed = command_of("changed", "--allow-weaker-sandbox", *options)
    nothing = subprocess.run(changed, cwd=code, capture_output=True, text=True, check=False)
    assert (nothing.returncode, nothing.stderr) == (0, "")
    assert nothing.stdout.startswith("nothing to ask: no selected Python file of ")
    larger = (place / "code" / "larger.py").read_text(encoding="utf-8")
    (code / "larger.py").write_text(larger, encoding="utf-8")
    done = subprocess.run(
        [*changed, "larger.py"], cwd=code, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "The 1 function of the plan is done." in done.stdout
