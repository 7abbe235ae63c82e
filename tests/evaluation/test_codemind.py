"""The protocol codemind from the endpoint to the report, and its tables computed anew by a script."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from counterlens.cli import main
from tests.evaluation.oracle import SOURCE, served

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "recompute" / "codemind.py"
TASKS = ("execution", "dependent-execution", "specification")
ENDING = " (protocol codemind)"
Tables = dict[str, dict[str, list[list[Any]]]]


def bench(folder: Path, *models: str, tasks: tuple[str, ...] = TASKS) -> int:
    """Run the protocol over the five functions; the exit code."""
    (folder / "code").mkdir()
    (folder / "code" / "program.py").write_text(SOURCE)
    given = [f"--task={task}" for task in tasks] + [f"--model=remote:{model}" for model in models]
    with served() as url:
        place = ["--out", str(folder / "run"), "--data", f"repo:{folder / 'code'}"]
        served_at = ["--base-url", url, "--api", "chat", "--allow-weaker-sandbox"]
        return cli("bench", *place, *served_at, *given, "--protocol", "codemind")


def cli(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def report_of(folder: Path) -> dict[str, Any]:
    written = folder / "report.json"
    assert cli("report", str(folder / "run"), "--format", "json", "--output", str(written)) == 0
    document: dict[str, Any] = json.loads(written.read_text())
    return document


def tables_of(document: dict[str, Any]) -> Tables:
    """The tables of a report that follow the protocol, by task and title."""
    found: Tables = {task: {} for task in TASKS}
    for table in document["tables"]:
        if table["title"].endswith(ENDING):
            task, _, title = table["title"].removesuffix(ENDING).partition(": ")
            found[task][title] = table["rows"]
    return found


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("codemind")
    assert bench(folder, "truth", "partial", "aloud") == 0
    return folder


@pytest.fixture(scope="module")
def report(finished: Path) -> dict[str, Any]:
    """The report on the finished run, which no test changes."""
    return report_of(finished)


def test_every_cell_is_computed_anew_from_the_export(finished: Path, report: dict[str, Any]) -> None:
    ours = tables_of(report)
    assert cli("export", str(finished / "run")) == 0
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(finished / "run" / "parquet")],
        capture_output=True,
        text=True,
        check=True,
    )
    theirs: Tables = json.loads(done.stdout)
    assert {task: set(tables) for task, tables in theirs.items()} == {
        task: set(tables) for task, tables in ours.items()
    }
    cells = 0
    for task, tables in ours.items():
        for title, rows in tables.items():
            assert len(rows) == len(theirs[task][title]), title
            for row, other in zip(rows, theirs[task][title], strict=True):
                cells += len(row)
                exact = (str, type(None))
                assert other == [one if isinstance(one, exact) else pytest.approx(one) for one in row], title
    assert cells > 200
    assert "counterlens." not in SCRIPT.read_text()


def rows_of(tables: dict[str, list[list[Any]]], title: str, model: str) -> list[list[Any]]:
    """The rows of a model; of a figure with an interval, its value."""
    return [
        [cell["value"] if isinstance(cell, dict) else cell for cell in row[1:]]
        for row in tables[title]
        if row[0] == f"remote:{model}"
    ]


@pytest.mark.parametrize("model", ["truth", "aloud"])
def test_one_that_knows_the_truth_is_always_right_also_where_it_thinks_aloud(
    report: dict[str, Any], model: str
) -> None:
    found = tables_of(report)
    execution = found["execution"]
    rates = rows_of(execution, "R_IER (Table I, Figure 3)", model)
    assert rates == [["direct answering", 5, 0, 1.0], ["CoT", 5, 0, 1.0]]
    (thinking,) = rows_of(execution, "CoT against direct answering (Figure 3)", model)
    assert thinking == [5, 1.0, 1.0, 0.0, 0, 0, None]
    constructs = {row[0]: row[1:] for row in rows_of(execution, "R_IER by construct (Figure 6)", model)}
    assert constructs == {
        "Basic": [1, 1.0],
        "For": [2, 1.0],
        "If": [1, 1.0],
        "Nested Loop": [1, 1.0],
        "Switch": [1, 1.0],
    }
    kinds = {row[0]: row[1:] for row in rows_of(execution, "type match and value match (Figure 8)", model)}
    assert kinds == {
        name: [n, 1.0, 1.0] for name, n in (("Int", 1), ("Decimal", 1), ("String", 2), ("List", 1))
    }
    (loops,) = rows_of(execution, "unrolled loops (Table IV)", model)
    assert loops[:5] == [2, 1.0, 1.0, 0.0, 0]
    table = dict(rows_of(found["dependent-execution"], "dependent execution reasoning (Table II)", model))
    assert (table["synthesis"], table["R_DER"], table["R_IER"]) == (1.0, 1.0, 1.0)
    assert {table[name] for name in table if name.startswith("R_DER - ")} == {0.0}
    settings = {
        row[0]: row[1:]
        for row in rows_of(found["specification"], "specification reasoning (section IV-C)", model)
    }
    assert settings["with test"] == [5, 0, 1.0, 0.0, 0, 0, None]
    assert settings["misleading test"][2] == 0.0


def test_one_that_errs_gets_the_figures_that_follow_by_hand(report: dict[str, Any]) -> None:
    found = tables_of(report)
    rates = rows_of(found["execution"], "R_IER (Table I, Figure 3)", "partial")
    # direct: shout, total and half are wrong; step by step: shout, half, and pairs, which is truncated.
    assert rates == [["direct answering", 5, 0, 0.4], ["CoT", 5, 1, 0.4]]
    (thinking,) = rows_of(found["execution"], "CoT against direct answering (Figure 3)", "partial")
    assert thinking == [5, 0.4, 0.4, 0.0, 1, 1, 1.0]
    table = dict(rows_of(found["dependent-execution"], "dependent execution reasoning (Table II)", "partial"))
    # It does not write name_of right; of its own code it knows total and pairs, and neither shout nor half.
    assert (table["subjects"], table["synthesis"], table["reasoned about"]) == (5, 0.8, 4)
    assert (table["R_DER"], table["R_IER"], table["R'_IER"]) == (0.5, 0.4, 0.5)
    assert (table["R_IER, same programs"], table["R_DER - R'_IER"]) == (0.25, 0.0)
    settings = {
        row[0]: row[1:]
        for row in rows_of(found["specification"], "specification reasoning (section IV-C)", "partial")
    }
    assert settings["with test"] == [5, 0, 0.8, pytest.approx(0.2), 1, 0, 1.0]
    assert rows_of(found["specification"], "R_SR", "partial") == [[5, 0.2, 0.5, 2]]
    (ranks,) = found["dependent-execution"]["ranks of the models by synthesis and reasoning (section IV-B)"]
    assert ranks == [3, pytest.approx(1.0)]
    outcomes = {
        (one["target"].rpartition("::")[2], one["style"]): one["outcome"]
        for item in report["records"]
        if item["model"] == "remote:partial" and item["probe"] == "execution"
        for one in item["answers"]
        if one["form"] == "as it stands"
    }
    assert outcomes["pairs", "steps"] == "truncated"


def test_a_function_with_an_unsteady_answer_is_left_out_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert bench(tmp_path, "wavers", "truth", tasks=("execution",)) == 0
    document = report_of(tmp_path)
    (functions,) = [table for table in document["tables"] if table["title"] == "functions asked about"]
    assert functions["columns"] == ["model", "probed", "left out", "not the same twice"]
    assert [row[:3] for row in functions["rows"]] == [["remote:wavers", 4, 1], ["remote:truth", 5, 0]]
    assert functions["rows"][0][3]["value"] == 0.2
    assert functions["rows"][1][3] is None
    assert "more than 10%" in functions["note"]
    title = f"R_IER (Table I, Figure 3){ENDING}"
    (table,) = [table for table in document["tables"] if table["title"] == title]
    rates = rows_of({title: table["rows"]}, title, "wavers")
    assert rates == [["direct answering", 4, 0, 1.0], ["CoT", 4, 0, 1.0]]
    left_out = {
        one["target"].rpartition("::")[2]: one["reason"]
        for one in document["records"]
        if one["outcome"] == "not the same twice"
    }
    assert list(left_out) == ["half"]
    assert "does not answer the same question the same way twice" in left_out["half"]
    capfd.readouterr()
    with served() as url:
        asked = ["--model", "remote:wavers", "--base-url", url, "--api", "chat", "--allow-weaker-sandbox"]
        assert (
            cli("probe", str(tmp_path / "code" / "program.py"), *asked, "--task", "execution", "--trust") == 0
        )
        shown = capfd.readouterr().out
        assert "1 of 5 functions (20%) left out: a repeated question got another answer" in shown
        one = f"{tmp_path / 'code' / 'program.py'}::half"
        assert cli("probe", one, *asked, "--task", "execution", "--trust") == 1
        assert "the same way twice" in capfd.readouterr().err


def test_one_that_answers_at_random_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert bench(tmp_path, "random", tasks=("execution",)) != 0
    assert "the same way twice" in capfd.readouterr().err
    document = report_of(tmp_path)
    assert not [table for table in document["tables"] if table["title"].endswith(ENDING)]
    (functions,) = [table for table in document["tables"] if table["title"] == "functions asked about"]
    assert functions["rows"][0][1] == 0
