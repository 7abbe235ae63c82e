"""The protocol `operators`: by endpoints whose figures follow by hand, and beside an independent script."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterlens.errors import CounterlensError, OptionError
from counterlens.evaluation.export import export
from counterlens.evaluation.results import RunResults
from counterlens.models.remote.client import Retries
from counterlens.models.remote.model import RemoteModel
from counterlens.models.remote.scoring.scorer import Memory
from counterlens.probes.operator.pairs import CHANGES
from counterlens.probes.operator.probe import OperatorOptions, OperatorProbe
from counterlens.probes.operator.published import FIGURES
from counterlens.probes.options import make
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import plain
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.reports.build.evaluation import evaluation_report
from counterlens.reports.build.plots import boxes
from counterlens.reports.run_formats import write_evaluation
from counterlens.syntax.document import Document
from tests.collapsed import collapsed, figures
from tests.evaluation.running import command_of, run
from tests.probes.operator.endpoints import Rule, holding, scoring, stubbornness, truth

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "recompute" / "operators.py"
SOURCES = {
    "larger": "def f(a, b):\n    if a < b:\n        c = b\n    else:\n        c = a\n    return c\n",
    "same": "def f(a, b):\n    if a == b:\n        c = 1\n    else:\n        c = 2\n    return c\n",
    "walk": "def f(i, n):\n    while i < n:\n        i += 1\n    if i != 3:\n        i = 3\n    return i\n",
    "none": "def f(a):\n    if a is None:\n        return 0\n    else:\n        return a\n",
}
DOCUMENTS = {name: Document(text) for name, text in SOURCES.items()}
SIDE = {"no": "original", "yes": "transformed"}
Json = dict[str, Any]
TOLD = {  # what differs from draw to draw, and how much
    "chance": 0.03,
    "best round": 0.35,
    "rounds better": 60,
}


def asked(rule: Rule, folder: Path, **given: Any) -> ProbeRun:
    """The result of a scripted endpoint, over HTTP."""
    targets = [Target(document, "f", id=name) for name, document in DOCUMENTS.items()]
    with scoring(rule) as url:
        model = RemoteModel(url, "scripted", memory=Memory(folder / "known.json"), retries=Retries(1, 0.01))
        with model:
            return run_targets(OperatorProbe(), Context(model), targets, make(OperatorOptions, given))


def cells(found: ProbeRun, title: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of a table by their words, each a value by its column."""
    (table,) = (one for one in found.tables if one.title.startswith(title))
    assert table.title.endswith("(protocol operators)")
    rows = (
        {name: value_of(cell) for name, cell in zip(table.columns, row, strict=True)} for row in table.rows
    )
    return {words(row): row for row in rows}


def words(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(value for value in row.values() if isinstance(value, str))


def value_of(cell: Any) -> Any:
    if isinstance(cell, dict):
        return cell["value"]
    return getattr(cell, "value", cell)


def all_texts(of: Any) -> Iterable[str]:
    return (text for document in DOCUMENTS.values() for text in of(document, "f"))


@pytest.fixture(scope="module")
def knowing(tmp_path_factory: pytest.TempPathFactory) -> ProbeRun:
    return asked(holding(all_texts(truth)), tmp_path_factory.mktemp("knowing"), protocol="operators")


@pytest.fixture(scope="module")
def stubborn(tmp_path_factory: pytest.TempPathFactory) -> ProbeRun:
    return asked(holding(all_texts(stubbornness)), tmp_path_factory.mktemp("stubborn"), protocol="operators")


def test_an_endpoint_that_knows_the_truth_has_everything_right(knowing: ProbeRun) -> None:
    assert [record.target for record in knowing.probed] == ["larger", "same", "walk"]
    for title in ("Table 2", "Table 3", "Table 4", "Table 5"):
        for row in cells(knowing, title).values():
            assert [row[name] for name in ("original", "transformed", "both")] == [1, 1, 1], row
            assert row["NLL"] == pytest.approx(0, abs=0.1)
            assert row["NLL after"] == pytest.approx(0, abs=0.1)
    for title in ("Table 8", "Table 9"):
        for row in cells(knowing, title).values():
            assert (row["FP"], row["FN"], row["F1"]) == (0, 0, 1)
    assert len(cells(knowing, "Table 3")) == 14  # two swaps, each with seven contexts


def test_every_pair_in_json_says_its_form(knowing: ProbeRun) -> None:
    forms = {(pair["change"], pair["form"]) for record in knowing.probed for pair in plain(record)["pairs"]}
    assert forms == {
        (change, "condition" if "operand" in change else "if-else")
        for change in CHANGES
        if change.endswith("swap")
    }


def test_the_population_is_the_papers(knowing: ProbeRun) -> None:
    rows = cells(knowing, "Table 2")
    assert {key: row["n"] for key, row in rows.items()} == {("block swap",): 2, ("operand swap",): 4}
    assert {key[0] for key in cells(knowing, "Table 4")} == {"block swap, renamed", "operand swap, renamed"}
    assert cells(knowing, "Table 5")["block swap, refactored",]["n"] == 2
    assert knowing.left_out["it has no swap of the kind in the paper"] == 1  # `a is None`


def test_an_endpoint_that_always_gives_the_originals_operator(stubborn: ProbeRun) -> None:
    rows = cells(stubborn, "Table 2")
    block, operand = rows["block swap",], rows["operand swap",]
    assert [block[name] for name in ("original", "transformed", "both")] == [1, 0, 0]
    # `==` and `!=` stay under a swap of operands, the two `<` do not.
    assert [operand[name] for name in ("original", "transformed", "both")] == [1, 0.5, 0.5]
    assert block["NLL after"] > 20 > 1 > block["entropy after"]  # it is sure, and wrong
    eighth = cells(stubborn, "Table 8")
    assert {key: [row[one] for one in ("TP", "FP", "FN")] for key, row in eighth.items()} == {
        ("==", "no"): [1, 0, 0],
        ("==", "yes"): [0, 1, 0],
        ("!=", "yes"): [0, 0, 1],
        ("<", "no"): [1, 0, 0],
        ("<", "yes"): [0, 1, 0],
        (">=", "yes"): [0, 0, 1],
        ("overall", "no"): [2, 0, 0],
        ("overall", "yes"): [0, 2, 2],
    }
    ninth = cells(stubborn, "Table 9")["overall", "yes"]
    assert [ninth[one] for one in ("TP", "FP", "FN", "precision", "recall")] == [2, 2, 2, 0.5, 0.5]


def test_no_interval_of_a_published_table_is_a_point(knowing: ProbeRun, stubborn: ProbeRun) -> None:
    assert collapsed([*knowing.tables, *stubborn.tables]) == []
    assert figures(knowing.tables) > 50


def test_the_two_entropies_are_what_they_are_called(stubborn: ProbeRun) -> None:
    for record in stubborn.probed:
        for pair in record.pairs:  # type: ignore[attr-defined]
            for side in (pair.original, pair.transformed):
                total = math.fsum(math.exp(value) for value in side.logprob.values())
                if total > 1e-200:
                    nll = math.log(total) - side.logprob[side.operator]
                    assert side.nll == pytest.approx(nll, abs=1e-9)
                assert side.surprisal in (0.125, 5.125)  # of one token


def test_an_endpoint_that_answers_at_random_is_refused(tmp_path: Path) -> None:
    drawn = iter(np.random.default_rng(1).random(1000))
    with pytest.raises(CounterlensError, match="the answer depends on the operator that the gap hides"):
        asked(lambda _: -0.1 - float(next(drawn)), tmp_path, protocol="operators")


def test_an_endpoint_that_finds_all_alike_has_the_logarithm_of_six_for_both_entropies(tmp_path: Path) -> None:
    found = asked(lambda prompt: -1e-6 / len(prompt), tmp_path, protocol="operators")
    for row in cells(found, "Table 2").values():
        for name in ("NLL", "NLL after", "entropy", "entropy after"):
            assert row[name] == pytest.approx(math.log(6), abs=1e-3)


def test_what_the_protocol_sets_cannot_be_set_otherwise() -> None:
    assert make(OperatorOptions, {"protocol": "operators"}).windows
    with pytest.raises(OptionError, match="sets --windows to True"):
        make(OperatorOptions, {"protocol": "operators", "windows": False})


@pytest.fixture(scope="module")
def run_of_half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with an endpoint that knows some of the truth."""
    place = tmp_path_factory.mktemp("protocol")
    problems = ({"id": name, "code": text, "input": "1", "output": "1"} for name, text in SOURCES.items())
    (place / "data.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in problems))
    (place / "corpus.py").write_text("x = a < b or c < d or a == b\ny = i != 3\nz = a != b\n")

    held = holding(all_texts(truth))

    def half(prompt: str) -> float:
        """Something else of every text, and on the whole a little more of those that are right."""
        return -zlib.crc32(prompt.encode()) % 97 / -400 - 0.01 + held(prompt) / 50

    with scoring(half) as url:
        made = run(
            command_of(
                *("bench", "--out", str(place / "run"), "--data", str(place / "data.jsonl")),
                *("--task", "operator", "--protocol", "operators", "--corpus", str(place / "corpus.py")),
                *("--model", "remote:scripted", "--base-url", url, "--allow-weaker-sandbox"),
            )
        )
    assert made.returncode == 0, made.stdout + made.stderr
    return place / "run"


@pytest.fixture(scope="module")
def exported(run_of_half: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Json, Json]:
    """The tables of the run in its JSON report, and those that the script makes of its export."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    found, folder = RunResults.read(run_of_half), tmp_path_factory.mktemp("parquet")
    export(found, folder)
    command = [sys.executable, "-I", str(SCRIPT), str(folder)]
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(write_evaluation("json", found)), json.loads(again.stdout)


def test_every_cell_is_what_an_independent_script_makes_of_the_export(
    exported: tuple[Json, Json],
) -> None:
    report, recomputed = exported
    (tables,) = recomputed.values()
    drawn = [*tables["Table 2"], *tables["Table 3"]]
    assert all(0.1 < row["NLL"] != row["entropy"] > 0.1 for row in drawn)
    assert any(0 < row["original"] < 1 for row in drawn)  # figures that are all 0 or 1 would show little
    assert any(0 < row["transformed"] < 1 for row in drawn)
    tables["guessing by frequency"] = tables.pop("guessing")
    ours = [one for one in report["tables"] if "(protocol operators)" in one["title"]]
    for name, expected in list(tables.items()):
        found = [one for one in ours if one["title"].partition(":")[0].startswith(name)]
        if not expected:
            assert (name, found) == ("Table 6", [])
            continue
        (table,) = found
        rows = [
            {column: value_of(cell) for column, cell in zip(table["columns"], row, strict=True)}
            for row in table["rows"]
        ]
        del tables[name], ours[ours.index(table)]
        mine = {words(row)[1:]: row for row in rows}  # the model's name stands first
        assert len(mine) == len(rows) == len(expected), name
        for row in expected:
            compare(name, mine[words_in(table["columns"], row)], row)
    assert ours == []


def words_in(columns: list[str], row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in columns if isinstance(row.get(name), str))


def compare(name: str, mine: dict[str, Any], row: dict[str, Any]) -> None:
    """Every cell of a row; those of guesses within what other draws give."""
    assert set(row) >= set(mine) - {"model", "p"}, (name, set(mine) - set(row))
    for column in set(mine) - {"model", "p"}:
        told, said = mine[column], row[column]
        if isinstance(said, float):
            assert told == pytest.approx(said, abs=TOLD.get(column, 1e-9)), (name, column, mine)
        else:
            assert told == said, (name, column, mine)


def test_the_script_shares_no_code() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert "import counterlens" not in text
    assert "from counterlens" not in text


def test_figures_6_and_7_are_plots_of_the_tables(run_of_half: Path) -> None:
    found = RunResults.read(run_of_half)
    figures = {figure.title: figure for figure in boxes(found)}
    tables = {table.title: table for table in found.tables()}
    assert list(figures) == [f"{title}, in nats" for title in FIGURES.values()]
    for title, figure in zip(FIGURES.values(), figures.values(), strict=True):
        table = tables[f"{title} (protocol operators)"]
        drawn = [row[:2] + row[3:] for row in figure.table.rows]
        assert drawn == [(row[1], SIDE[row[2]], *row[4:9]) for row in table.rows]
        assert figure.svg.startswith("<svg")
        assert figure in evaluation_report(found).blocks
