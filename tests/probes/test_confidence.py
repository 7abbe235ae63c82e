"""The confidence probe on the real model: its record, and its figures by concept."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from counterlens.errors import Cancelled, SourceError
from counterlens.metrics.bootstrap import Estimate
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.confidence import ConfidenceOptions, ConfidenceProbe, ConfidenceRecord
from counterlens.probes.confidence.published import own_medians
from counterlens.probes.options import make
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import Outcome, plain, read, write_record
from counterlens.probes.runner import run_probe
from counterlens.progress import Steps
from counterlens.syntax.document import Document
from tests.evaluation.scripted_scores import RuleModel, at_random

EXAMPLES = Path(__file__).parents[2] / "examples"
PROBE, OPTIONS = ConfidenceProbe(), ConfidenceOptions()


def target(name: str) -> Target:
    return Target(Document.read(EXAMPLES / f"{name}.py"), name, id=f"{name}.py::{name}")


@pytest.fixture(scope="module")
def records(model: LlamaModel) -> list[ConfidenceRecord]:
    found = [run_probe(PROBE, Context(model), target(name), OPTIONS) for name in ("collatz_steps", "is_even")]
    return [record for record in found if isinstance(record, ConfidenceRecord)]


def test_what_is_kept_is_what_the_causal_analysis_needs(records: list[ConfidenceRecord]) -> None:
    first, second = records
    assert (first.target, first.function) == ("collatz_steps.py::collatz_steps", "collatz_steps")
    assert first.cross_entropy > 0
    assert first.node_types["while_statement"] > 0
    assert "while_statement" not in second.node_types
    for record in records:
        held = record.confounders
        assert held.cyclomatic_complexity is not None
        assert 1 <= held.cyclomatic_complexity < held.ast_levels < held.ast_nodes
        assert held.sequence_length == record.tokens > 10
        assert record.bytes > record.tokens
        assert record.bits == pytest.approx(record.cross_entropy * record.tokens / 0.6931471805599453)
        for concept in record.concepts.values():
            assert concept.nodes > 0
            assert 0 < concept.confidence < 1
            assert concept.bits_per_byte > 0
        assert read(write_record(record), ConfidenceRecord) == record
    assert set(plain(first)["confounders"]) == {
        "cyclomatic_complexity", "ast_levels", "ast_nodes", "sequence_length",
    }  # fmt: skip


def test_figures_are_over_functions(records: list[ConfidenceRecord]) -> None:
    whole, concepts = PROBE.tables(records, seed=0)
    (row,) = whole.rows
    assert whole.columns[3] == "bits per byte"
    assert row[:2] == (2, sum(record.tokens for record in records))
    mean = row[2]
    assert isinstance(mean, Estimate)
    assert mean.value == pytest.approx(sum(record.cross_entropy for record in records) / 2)
    assert {line[0] for line in concepts.rows} == {name for record in records for name in record.concepts}
    assert sum(line[0] in PROBE.summary(records) for line in concepts.rows) >= 2
    assert PROBE.measures(records[0]) == {}


def test_what_cannot_be_scored_is_left_out(model: LlamaModel) -> None:
    record = run_probe(PROBE, Context(model), Target(target("is_even").document, "nowhere"), OPTIONS)
    assert record.outcome is Outcome.LEFT_OUT
    with pytest.raises(SourceError):
        PROBE.estimate(Target(target("is_even").document, "nowhere"), OPTIONS, model)
    assert PROBE.estimate(target("is_even"), OPTIONS, model) == 1
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        PROBE.run(Context(model, steps=Steps(stop)), target("is_even"), OPTIONS)


METHOD = """import os


class Box:
    @property
    def held(self):
        key = lambda one: one
        return [key(one) for one in self.all if one]
"""


def asked(source: str, name: str, **options: object) -> ConfidenceRecord:
    target = Target(Document(source), name)
    record = run_probe(
        PROBE, Context(RuleModel("random", at_random)), target, make(ConfidenceOptions, options)
    )
    assert isinstance(record, ConfidenceRecord)
    return record


def test_without_context_a_function_is_scored_as_if_it_stood_alone() -> None:
    alone = METHOD[METHOD.index("def held") :]
    inside, outside = asked(METHOD, "Box.held", no_context=True), asked(alone, "held", no_context=True)
    assert inside.types == outside.types
    assert inside.cross_entropy == outside.cross_entropy
    assert inside.confounders == outside.confounders
    assert asked(METHOD, "Box.held").cross_entropy != inside.cross_entropy
    text = RuleModel("random", at_random).score(alone.rstrip())
    assert inside.tokens == len(text) - 1  # nothing precedes the first
    assert inside.bits == pytest.approx(-text.logprob[1:].sum() / 0.6931471805599453)


def test_a_record_keeps_the_nodes_of_all_types() -> None:
    record = asked(METHOD, "Box.held", protocol="astxplainer")
    assert record.protocol == "astxplainer"
    known = {(one.kind, one.named): one for one in record.types}
    assert len(known[")", False].confidences) == METHOD.count(")")
    assert ("lambda", True) in known
    assert ("lambda", False) in known
    assert {"attribute", "block", ":", "=", "return"} < set(record.node_types)
    assert record.confidences()["lambda"] == (
        *known["lambda", False].confidences,
        *known["lambda", True].confidences,
    )
    assert record.confidences(named_only=True)["lambda"] == known["lambda", True].confidences
    one = known["list_comprehension", True]
    assert record.token_means()["list_comprehension"] == pytest.approx(one.confidences[0])
    assert set(record.concepts) == {"functional programming", "natural language", "scope"}
    assert record.concepts["scope"].nodes == sum(
        len(record.confidences()[kind]) for kind in ("return_statement", "]", ")", ":")
    )


def test_both_definitions_come_of_the_same_scores() -> None:
    record = asked(METHOD, "Box.held", no_context=True)
    published = asked(METHOD, "Box.held", protocol="astxplainer")
    assert published.types == record.types
    own = own_medians([published])
    assert {name: found.confidence for name, found in record.concepts.items()} == pytest.approx(
        {name: value for name, value in own.items() if name != "global"}
    )


def test_the_complexity_of_a_java_method_is_known() -> None:
    source = "class A {\n    static int sign(int n) {\n        return n < 0 ? -1 : n > 0 ? 1 : 0;\n    }\n}\n"
    record = run_probe(
        PROBE,
        Context(RuleModel("random", at_random)),
        Target(Document(source, language="java"), "A.sign", id="A.java::A.sign"),
        OPTIONS,
    )
    assert isinstance(record, ConfidenceRecord)
    assert record.confounders.cyclomatic_complexity == 3
