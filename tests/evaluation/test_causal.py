"""AsC-Causal on real functions: from scores to tables in the layout of the paper."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from counterlens.cli import report as reporting
from counterlens.cli.causal import causal
from counterlens.cli.report import report
from counterlens.errors import DataError, OptionError
from counterlens.evaluation.causal import (
    ALL_CONCEPTS,
    TASK,
    Absent,
    absent_of,
    causal_tables,
    check_enough,
    snippets_of,
)
from counterlens.evaluation.causal_results import FILE, estimate, stored_effects
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.causal import CONFOUNDERS, LEAST_SNIPPETS, ConceptEffect, Refutation
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.confidence import (
    NODE_TYPES,
    ConceptFigures,
    ConfidenceOptions,
    ConfidenceProbe,
    ConfidenceRecord,
    Confounders,
    NodeTypeFigures,
)
from counterlens.probes.probe import Context, Target
from counterlens.probes.runner import run_probe
from counterlens.syntax.document import Document

MANIFEST = {
    "counterlens": "0", "python": "3", "platform": "p", "sandbox": "s",
    "model": {"asked_as": "m", "name": "m", "where": "local", "identity": "i", "details": {}},
    "dataset": {"title": "data", "version": "1", "licence": "MIT", "sha256": "00"},
}  # fmt: skip
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_real_functions_become_snippets(model: LlamaModel) -> None:
    targets = [
        Target(Document.read(EXAMPLES / f"{name}.py"), name, id=f"{name}.py::{name}")
        for name in ("collatz_steps", "is_even")
    ]
    context = Context(model, lambda: pytest.fail("nothing is run"))
    records = [run_probe(ConfidenceProbe(), context, target, ConfidenceOptions()) for target in targets]
    first, second = snippets_of([record for record in records if isinstance(record, ConfidenceRecord)])
    assert (first.cluster, second.cluster) == ("collatz_steps.py", "is_even.py")
    assert first.cross_entropy > 0
    assert first.concepts["while_statement"] > 0
    assert "while_statement" not in second.concepts
    for snippet in (first, second):
        assert 0 < snippet.concepts[ALL_CONCEPTS] < 1
        complexity, levels, nodes, tokens = snippet.confounders
        assert 1 <= complexity < levels < nodes
        assert tokens > 10
    with pytest.raises(DataError, match="2 functions are too few"):
        check_enough([first, second])


def test_the_tables_have_the_papers_layout() -> None:
    pearson = {
        "cyclomatic_complexity": 0.1,
        "ast_levels": 0.2,
        "ast_nodes": 0.3,
        "sequence_length": None,
        "cross_entropy": -0.5,
    }
    refutations = {"placebo": Refutation(0.01, True), "subset": Refutation(0.9, False)}
    effects = [
        ConceptEffect("lambda", 4, Estimate(None, None, None, 4), pearson, {}),
        ConceptEffect(ALL_CONCEPTS, 40, Estimate(-1.5, -2.0, -1.0, 40), pearson, refutations),
        ConceptEffect("functional programming", 40, Estimate(-0.5, -1.0, 0.0, 40), pearson, refutations),
    ]
    table, refuted = causal_tables({"m": effects})
    assert table.title == "effect of confidence on cross-entropy, m"
    assert [row[:3] for row in table.rows] == [
        ("global", "all of it", 40),
        ("functional programming", "all of it", 40),
        ("functional programming", "lambda", 4),
    ]
    assert table.rows[0][:8] == ("global", "all of it", 40, "+0.10", "+0.20", "+0.30", None, "-0.50")
    assert table.rows[-1][-1] == Estimate(None, None, None, 4)
    assert refuted.rows[0] == (ALL_CONCEPTS, "-1.50", "+0.01", "+0.90 (refuted)")

    both, tried = causal_tables({"small": effects, "large": effects[:2]})
    assert both.columns[2:6] == ("functions, small", "functions, large", "cyclo, small", "cyclo, large")
    last = ("cross-entropy, small", "effect, small", "cross-entropy, large", "effect, large")
    assert both.columns[-4:] == last
    assert both.rows[0][:6] == ("global", "all of it", 40, 40, "+0.10", "+0.10")
    assert both.rows[1][-2:] == (None, None)  # a concept that one model has no confidence in
    assert all(len(row) == len(both.columns) for row in both.rows)
    assert [row[0] for row in tried.rows] == ["small", "small", "large"]
    apart = causal_tables({"small": effects, "large": effects}, side_by_side=False)
    assert [one.title.rpartition(" ")[2] for one in apart] == ["small", "small", "large", "large"]
    three = causal_tables(dict.fromkeys("abc", effects))
    assert len(three) == 6


def made_up(protocol: str, **types: tuple[tuple[float, ...], int, float]) -> ConfidenceRecord:
    """A record whose nodes are as given: confidences, tokens, their mean."""
    return ConfidenceRecord(
        protocol=protocol,
        target="a.py::f",
        tokens=9,
        bytes=9,
        bits=9.0,
        cross_entropy=1.0,
        concepts={"decision": ConceptFigures(nodes=2, confidence=0.4, bits_per_byte=1.0)},
        node_types={kind: sum(values) / len(values) for kind, (values, _, _) in types.items()},
        confounders=Confounders(cyclomatic_complexity=1, ast_levels=2, ast_nodes=3, sequence_length=9),
        types=tuple(
            NodeTypeFigures(kind=kind, named=True, confidences=values, tokens=tokens, probability=mean)
            for kind, (values, tokens, mean) in types.items()
        ),
    )


def test_by_the_protocol_there_are_14_treatments_and_what_is_absent_is_zero() -> None:
    records = [
        made_up("astxplainer", lambda_=((0.9,), 1, 0.9), string=((0.2, 0.6), 8, 0.3), block=((0.7,), 9, 0.7)),
        made_up("astxplainer", identifier=((0.5,), 2, 0.5)),
    ]
    first, second = snippets_of(records, absent_of("astxplainer"))
    assert set(first.concepts) == set(second.concepts) == {ALL_CONCEPTS, *NODE_TYPES}
    assert len(NODE_TYPES) == 14
    assert first.concepts["string"] == pytest.approx(0.3)  # the mean over tokens, not over nodes
    assert first.concepts["while_statement"] == 0
    assert first.concepts[ALL_CONCEPTS] == pytest.approx(0.3 / 14)
    assert second.concepts[ALL_CONCEPTS] == pytest.approx(0.5 / 14)
    with pytest.raises(OptionError, match="sets --absent to zero"):
        absent_of("astxplainer", Absent.DROP)


def test_what_is_absent_is_dropped_unless_zero_is_asked_for() -> None:
    records = [made_up("", string=((0.2, 0.6), 8, 0.3)), made_up("", identifier=((0.5,), 2, 0.5))]
    dropped, _ = snippets_of(records, absent_of(""))
    assert dropped.concepts == {ALL_CONCEPTS: 0.4, "decision": 0.4, "string": pytest.approx(0.4)}
    zero, _ = snippets_of(records, absent_of("", Absent.ZERO))
    assert zero.concepts == {**dropped.concepts, "identifier": 0}


def test_one_source_is_asked_for() -> None:
    assert "give one of PATH, --data or --run" in CliRunner().invoke(causal, []).output


def recorded(folder: Path, functions: int = LEAST_SNIPPETS + 2) -> Path:
    """A run of `confidence` whose figures are made up, finished but for one function."""
    draw = random.Random(1)  # noqa: S311 - no secret
    items = [
        Item(i, f"m|{TASK}|f{i // 2}.py::g{i}", "m", f"f{i // 2}.py::g{i}", f"g{i}", "", TASK)
        for i in range(functions)
    ]
    with Store.create(folder) as store:
        store.begin(RunSettings((TASK,), "data", ("m",)), items)
        store.keep_manifest("d", json.dumps(MANIFEST))
        for item in items[:-1]:
            confidence, complexity = draw.uniform(0.2, 0.9), draw.randint(1, 9)
            held = (complexity, *draw.sample(range(5, 99), 3))
            record = ConfidenceRecord(
                target=item.problem,
                cross_entropy=3 - 2 * confidence + 0.1 * complexity + draw.gauss(0, 0.05),
                tokens=9,
                bits=9.0,
                bytes=9,
                confounders=Confounders(**dict(zip(CONFOUNDERS, held, strict=True))),
                concepts={"decision": ConceptFigures(nodes=2, confidence=confidence, bits_per_byte=1.0)},
                node_types={},
            )
            store.append(item, StoredRecord(record, manifest="d"))
    return folder


def test_a_report_has_the_effects_that_were_estimated_of_its_records(tmp_path: Path) -> None:
    folder, asked = recorded(tmp_path / "run"), CliRunner()
    assert "effect of confidence" not in asked.invoke(report, [str(folder), "--format", "markdown"]).stdout
    done = asked.invoke(causal, ["--run", str(folder), "--simulations", "1"])
    assert done.exit_code == 0, done.output
    assert f"stored: counterlens report {folder}" in done.stderr
    for form in ("text", "markdown", "html", "latex", "json"):
        shown = asked.invoke(report, [str(folder), "--format", form]).stdout
        assert "effect of confidence on cross-entropy" in shown.lower(), form
        assert "random common cause" in shown
        assert "seed 0, 1 simulations" in " ".join(shown.split())
    known = stored_effects(folder, RunResults.read(folder))
    assert known is not None
    assert known.effects["m"][0].effect.value == pytest.approx(-2, abs=0.2)
    again = asked.invoke(report, [str(folder), "--format", "latex", "--causal"])  # nothing is estimated anew
    assert again.stdout == asked.invoke(report, [str(folder), "--format", "latex"]).stdout

    with Store.create(folder) as store:
        _, some = next(store.records())
        store.append(store.items[-1], some)
    stale = asked.invoke(report, [str(folder), "--format", "markdown"])
    assert "effect of confidence" not in stale.stdout
    assert "other records" in stale.stderr
    (folder / FILE).write_text("{")
    assert "effect of confidence" not in asked.invoke(report, [str(folder)]).stdout


def test_a_report_estimates_when_it_is_asked_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = recorded(tmp_path / "run")
    monkeypatch.setattr(reporting, "estimate", partial(estimate, simulations=1))
    shown = CliRunner().invoke(report, [str(folder), "--format", "markdown", "--causal"])
    assert "## Effect of confidence on cross-entropy, m" in shown.stdout
    assert (folder / FILE).exists()
    few = recorded(tmp_path / "few", 5)
    with pytest.raises(DataError, match="4 functions are too few"):
        CliRunner().invoke(report, [str(few), "--causal"], catch_exceptions=False)
    with Store.create(tmp_path / "other") as store:
        store.begin(RunSettings(("operator",), "data", ("m",)), [])
    with pytest.raises(DataError, match="not of the task confidence"):
        CliRunner().invoke(report, [str(tmp_path / "other"), "--causal"], catch_exceptions=False)
