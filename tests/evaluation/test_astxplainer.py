"""The protocol astxplainer against a recomputation that shares no code, and on models of known scores."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from counterlens.cli.bench import bench
from counterlens.cli.causal import causal
from counterlens.cli.report import export, report
from counterlens.evaluation.results import RunResults
from counterlens.metrics.asc_eval import THRESHOLD
from counterlens.models.registry import BACKENDS
from counterlens.reports.build import plots
from counterlens.reports.run_formats import write_evaluation
from counterlens.syntax.concepts.sets import AUTHORS, concept_set
from tests.evaluation.scripted_scores import at_random, backend, galeras

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "recompute" / "astxplainer.py"
FUNCTIONS, FILES = 36, 12
SUFFIX = " (protocol astxplainer)"
EFFECTS = "effect of confidence on cross-entropy"


def sure_of_brackets(token: str, before: str) -> float:  # noqa: ARG001 - the rule is of the token alone
    """0.9 for brackets, 0.2 for words, 0.5 for all else."""
    return 0.9 if token.strip() in {"]", ")", "}", ":"} else 0.2 if token.strip().isidentifier() else 0.5


RULES = {
    "random": at_random,
    "brackets": sure_of_brackets,
    "right": lambda _token, _before: 1.0,
}


def asked(place: Path, *models: str) -> Path:
    """A run of some models by the protocol."""
    data, folder = galeras(place / "galeras.jsonl", FUNCTIONS, FILES), place / "run"
    command = ["--out", str(folder), "--data", f"galeras:{data}", "--task", "confidence"]
    command += [part for name in models for part in ("--model", f"rule:{name}")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BACKENDS, "_added", {"rule:NAME": backend(RULES)})
        done = CliRunner().invoke(bench, [*command, "--protocol", "astxplainer", "--allow-weaker-sandbox"])
    assert done.exit_code == 0, done.output
    return folder


def reported(folder: Path) -> dict[str, dict[str, Any]]:
    shown = CliRunner().invoke(report, [str(folder), "--format", "json"])
    return {table["title"]: table for table in json.loads(shown.stdout)["tables"]}


def recomputed(folder: Path, place: Path, model: str) -> dict[str, Any]:
    assert CliRunner().invoke(export, [str(folder), "--output", str(place)]).exit_code == 0
    done = subprocess.run([sys.executable, str(SCRIPT), str(place)], capture_output=True, check=True)
    tables: dict[str, Any] = json.loads(done.stdout)[model]
    return tables


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three models."""
    return asked(tmp_path_factory.mktemp("three"), *RULES)


@pytest.fixture(scope="module")
def tables(run: Path) -> dict[str, dict[str, Any]]:
    return reported(run)


@pytest.fixture(scope="module")
def causes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one model, with its causal effects."""
    folder = asked(tmp_path_factory.mktemp("causal"), "random")
    estimated = CliRunner().invoke(causal, ["--run", str(folder), "--simulations", "1"])
    assert estimated.exit_code == 0, estimated.output
    return folder


def rows_of(tables: dict[str, dict[str, Any]], title: str, model: str) -> list[list[Any]]:
    """The rows of one model, without its name."""
    return [row[1:] for row in tables[title + SUFFIX]["rows"] if row[0] == model]


def same(ours: Any, theirs: Any) -> None:
    if isinstance(ours, dict):
        ours = [ours[key] for key in ("value", "low", "high")]
    if isinstance(ours, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    else:
        assert ours == (theirs if isinstance(theirs, str | None) else pytest.approx(theirs, abs=1e-9))


def test_every_cell_comes_out_of_an_independent_recomputation(
    run: Path, tables: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    theirs = recomputed(run, tmp_path, "rule:brackets")
    del theirs[EFFECTS]
    for title, rows in theirs.items():
        same(rows_of(tables, title, "rule:brackets"), rows)
    assert len(theirs) == 7


def test_table_two_comes_out_of_it_too(causes: Path, tmp_path: Path) -> None:
    theirs, tables = recomputed(causes, tmp_path, "rule:random"), reported(causes)
    effects = theirs.pop(EFFECTS)
    for title, rows in theirs.items():
        same(rows_of(tables, title, "rule:random"), rows)
    table = tables[f"{EFFECTS}, rule:random{SUFFIX}"]
    assert table["columns"][3:-1] == ["cyclo", "AST levels", "AST nodes", "sequence", "cross-entropy"]
    assert "a confidence of 0" in table["note"]
    for row in table["rows"]:
        n, *pearson, value, low, high = effects.pop(row[1] if row[1] != "all of it" else "all concepts")
        assert row[2:-1] == [n, *(f"{one:+.2f}" for one in pearson)]
        same(row[-1], [value, low, high])
    assert not effects
    judged = tables[f"refutation tests of the effects, rule:random{SUFFIX}"]
    assert len(judged["rows"]) == 15
    for _, effect, placebo, *_ in judged["rows"]:
        share = float(placebo.split()[0]) / float(effect)
        if min(abs(share - 0.5), abs(share + 1)) > 0.2:  # the cells are rounded
            assert ("refuted" not in placebo) is (-1 < share < 0.5)


def test_a_model_that_is_always_right_has_one_everywhere(tables: dict[str, dict[str, Any]]) -> None:
    for row in rows_of(tables, "AsC-Eval by node type", "rule:right"):
        assert row[4:] == [1, 0, "acceptable"]
    for row in rows_of(tables, "AsC-Eval by category", "rule:right"):
        assert row[2:] == [1, None if row[0] == "testing" else 0, 0, "acceptable"]
    (whole,) = rows_of(tables, "the functions as a whole", "rule:right")
    assert whole[2]["value"] == 0


def test_figures_follow_by_hand_from_a_rule(tables: dict[str, dict[str, Any]]) -> None:
    types = {row[1]: row[4] for row in rows_of(tables, "AsC-Eval by node type", "rule:brackets")}
    expected = {"]": 0.9, ")": 0.9, "}": 0.9, ":": 0.9, "elif": 0.2, "raise": 0.2, "identifier": 0.2}
    for kind, value in expected.items():
        assert types[kind] == pytest.approx(value), kind
    categories = {row[0]: row[2] for row in rows_of(tables, "AsC-Eval by category", "rule:brackets")}
    assert categories["scope"] == pytest.approx((4 * 0.9 + types["return_statement"]) / 5)
    assert categories["global"] == pytest.approx(sum(types.values()) / 32)
    assert set(types) == set(concept_set(AUTHORS).kinds or {})


def test_best_and_worst_model_stand_beside_the_threshold(tables: dict[str, dict[str, Any]]) -> None:
    table = tables[f"best and worst model{SUFFIX}"]
    assert table["columns"][2] == "rule:right"
    assert table["rows"][0][0] == "global"
    for _, low, high, increase, below, above in table["rows"]:
        assert (high, above) == (1, "acceptable")
        assert increase == pytest.approx(1 - low)
        assert (below == "acceptable") is (low >= THRESHOLD)


def test_figures_three_and_six_show_what_the_tables_say(run: Path, tables: dict[str, dict[str, Any]]) -> None:
    results = RunResults.read(run)
    by_type, spread, density = plots.published_figures(results)
    worst = tables[f"best and worst model{SUFFIX}"]["columns"][1]
    values = {(row[1], row[2]): row[3] for row in by_type.table.rows}
    assert {model for _, model in values} == {"rule:right", worst}
    for row in rows_of(tables, "AsC-Eval by node type", worst):
        assert values[row[1], worst] == pytest.approx(row[4])
    assert [row[:2] for row in spread.table.rows] == [(f"rule:{name}", 32) for name in RULES]
    assert len(density.table.rows) == 3 * 32
    assert all(str(THRESHOLD) in figure.description for figure in (by_type, spread, density))
    page = write_evaluation("html", results)
    assert all(figure.title in page for figure in (by_type, spread, density))
    assert all(figure.svg in page for figure in (by_type, spread, density))
    assert density.svg.count("<polyline") == len(RULES)
