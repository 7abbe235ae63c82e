"""The protocol reasoning-robustness from the endpoint to the report, and its cells computed anew."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterlens.cli.main import main
from counterlens.probes.execution.mutated import MUTATIONS, PLACEBO
from tests.models.remote.conftest import Handler, serving

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "recompute" / "reasoning_robustness.py"
ENDING = " (protocol reasoning-robustness)"
COUNT = """    total = 0
    for x in xs:
        if x > {0}:
            total += x
        else:
            total -= 1
    return total
"""
DOWN = """    n = len(xs) + {0}
    kept = []
    while n > 1:
        kept.append(n)
        n -= 2
    return kept
"""
PLAIN = "    return [{0}, *xs]\n"
BODIES = {"f": PLAIN} | {name: (COUNT, DOWN)[at % 2] for at, name in enumerate("abcdeghi")}


def source() -> str:
    """A file of functions that have an example each."""
    return "\n\n".join(_function(name, body.format(at)) for at, (name, body) in enumerate(BODIES.items()))


def _function(name: str, body: str) -> str:
    space: dict[str, Any] = {}
    exec(f"def {name}(xs):\n{body}", space)  # noqa: S102
    gives = space[name]([3, 1, 5])
    return f'def {name}(xs):\n    """Something.\n\n    >>> {name}([3, 1, 5])\n    {gives!r}\n    """\n{body}'


def chance_of(text: str) -> int:
    return hashlib.sha256(text.encode()).digest()[0]


def said(model: str, program: str, call: str) -> tuple[str, str]:
    """The reply of a model, and its finish: `truth` is always right, `errs` by the text of the function."""
    space: dict[str, Any] = {}
    exec(program, space)  # noqa: S102
    truth = repr(eval(call, space))  # noqa: S307
    (function,) = re.findall(rf"^def {call[0]}\(.*?(?=^def |\Z)", program, re.MULTILINE | re.DOTALL)
    chance = chance_of(function.strip())
    if model == "truth" or chance < 205:
        return truth, "stop"
    return ("<think>", "length") if chance > 230 else ("'other'", "stop")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    def answer(handler: Handler) -> None:
        program, _, question = handler.body["messages"][-1]["content"].rpartition("\n")
        call = question.removeprefix("What does ").removesuffix(" return?")
        text, finish = said(handler.body["model"], program, call)
        handler.reply(200, {"choices": [{"message": {"content": text}, "finish_reason": finish}]})

    with serving(answer, models=["truth", "errs"]) as script:
        yield script.url


def cli(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def finished(url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("robust")
    (folder / "code").mkdir()
    (folder / "code" / "program.py").write_text(source())
    where = ["--data", f"repo:{folder / 'code'}", "--out", str(folder / "run"), "--allow-weaker-sandbox"]
    models = ["--model", "remote:truth", "--model", "remote:errs", "--base-url", url, "--api", "chat"]
    assert cli("bench", "--protocol", "reasoning-robustness", *where, *models, "--timeout", "60") == 0
    return folder


@pytest.fixture(scope="module")
def report(finished: Path) -> dict[str, Any]:
    written = finished / "report.json"
    assert cli("report", str(finished / "run"), "--format", "json", "-o", str(written)) == 0
    document: dict[str, Any] = json.loads(written.read_text())
    return document


def tables_of(report: dict[str, Any]) -> dict[str, list[list[Any]]]:
    return {
        table["title"].removesuffix(ENDING).removeprefix("execution: "): table["rows"]
        for table in report["tables"]
        if table["title"].endswith(ENDING)
    }


def close(cell: Any, other: Any) -> bool:
    if isinstance(cell, dict):
        return all(close(cell[name], other[name]) for name in ("value", "low", "high", "n"))
    exact = cell is None or isinstance(cell, str)
    return bool(cell == other if exact else cell == pytest.approx(other, abs=1e-9))


def test_every_cell_is_what_a_recomputation_from_the_export_gives(
    finished: Path, report: dict[str, Any]
) -> None:
    assert cli("export", str(finished / "run")) == 0
    command = [sys.executable, str(SCRIPT), str(finished / "run" / "parquet")]
    again = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    ours, cells = tables_of(report), 0
    assert ours.keys() == again.keys()
    for title, rows in ours.items():
        assert len(rows) == len(again[title]), title
        for row, other in zip(rows, again[title], strict=True):
            assert len(row) == len(other), title
            assert all(map(close, row, other)), (title, row, other)
            cells += len(row)
    assert cells > 150


def rows_of(report: dict[str, Any], title: str, model: str) -> dict[str, list[Any]]:
    """The cells of a model by program or mutation; of a figure with an interval, its value."""
    return {
        row[1]: [cell["value"] if isinstance(cell, dict) else cell for cell in row[2:]]
        for row in tables_of(report)[title]
        if row[0] == f"remote:{model}"
    }


def test_a_model_that_runs_the_programs_loses_nothing(report: dict[str, Any]) -> None:
    accuracy = rows_of(report, "accuracy", "truth")
    assert list(accuracy) == ["original", *MUTATIONS.values(), "blank lines (placebo)"]
    assert accuracy["original"] == accuracy["blank lines (placebo)"] == [9, 0, 1.0]
    assert accuracy["swapped branches"] == [4, 0, 1.0]
    assert accuracy["unrolled loops"] == [8, 0, 1.0]
    for n, *cells in rows_of(report, "drop under each mutation", "truth").values():
        assert cells == [1.0, 1.0, 0.0, 0.0, 0, 0, None], n
    stable = rows_of(report, "stability of right answers", "truth")
    assert stable["any of the mutations"] == [8, 0.0]


def test_a_model_that_goes_by_the_text_errs_as_counted_by_hand(report: dict[str, Any]) -> None:
    records = [each for each in report["records"] if each["model"] == "remote:errs"]
    right = {each["target"]: each["answers"][0]["outcome"] == "right" for each in records}
    lost = {
        each["target"]
        for each in records
        if right[each["target"]]
        and any(
            v["outcome"] not in {"right", "truncated"} and v["mutation"] != PLACEBO for v in each["versions"]
        )
    }
    known = {
        each["target"]
        for each in records
        if right[each["target"]]
        and any(v["outcome"] != "truncated" and v["mutation"] != PLACEBO for v in each["versions"])
    }
    assert 0 < len(lost) < len(known)
    stable = rows_of(report, "stability of right answers", "errs")
    assert stable["any of the mutations"] == [len(known), pytest.approx(len(lost) / len(known))]


def test_records_show_each_program_and_why_there_is_no_version(report: dict[str, Any]) -> None:
    records = {each["function"]: each for each in report["records"] if each["model"] == "remote:truth"}
    for record in records.values():
        (original,) = record["answers"]
        for version in record["versions"]:
            assert (version["call"], version["truth"]) == (original["call"], original["truth"])
            assert version["form"] == "mutated"
    counting = {version["mutation"]: version["program"] for version in records["b"]["versions"]}
    assert "break" in counting["partial-unroll"]
    assert records["f"]["left_out"] == {f"{mutation}: there is no site": 1 for mutation in MUTATIONS}
    assert [version["mutation"] for version in records["f"]["versions"]] == [PLACEBO]
    assert report["settings"]["options"]["execution"]["protocol"] == "reasoning-robustness"


def test_unrolling_as_observed_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["bench", "--protocol", "reasoning-robustness", "--model", "no-such", "--plan"]
    assert cli(*asked, "--data", "humaneval", "--unroll") == 2
    assert "--protocol reasoning-robustness" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("command", ["bench", "probe"])
def test_whole_programs_are_refused_with_what_to_ask_instead(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    protocol = ["--protocol", "reasoning-robustness", "--model", "no-such"]
    if command == "bench":
        folder = tmp_path / "data" / "sum"
        (folder / "tests").mkdir(parents=True)
        (folder / "main.py").write_text("print(sum(map(int, input().split())))\n")
        (folder / "PROBLEM.md").write_text("Print the sum.")
        (folder / "tests" / "input_1.txt").write_text("1 2\n")
        (folder / "tests" / "output_1.txt").write_text("3\n")
        asked = ["bench", "--data", f"codecontests-folders:{folder.parent}", "--plan"]
    else:
        (tmp_path / "program.py").write_text("print(input())\n")
        asked = ["probe", f"{tmp_path / 'program.py'}::<module>", "--task", "execution"]
    assert cli(*asked, *protocol) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert "--protocol reasoning-robustness asks about calls of functions, not about whole programs" in said
    assert "Use --data cruxeval" in said
