"""The dependence probe: its record, its figures beside those of rules, and what its options change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from counterlens.dependence import dependences
from counterlens.errors import Cancelled, SourceError
from counterlens.metrics.agreement import Agreement
from counterlens.models.base import Completion, ModelInfo, Prompt
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.dependence.examined import ExaminedFunction, Relation, true_edges
from counterlens.probes.dependence.inferred import InferenceMethod
from counterlens.probes.dependence.probe import DependenceOptions, DependenceProbe
from counterlens.probes.dependence.prompts import all_pairs
from counterlens.probes.dependence.record import DependenceRecord
from counterlens.probes.dependence.rules import pairs_by_rule
from counterlens.probes.options import OptionError, make
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import Outcome, plain, read, write_record
from counterlens.probes.runner import run_probe
from counterlens.progress import Steps
from counterlens.syntax.document import Document

SOURCE = """\
def f(words, least):
    longest = ''
    for word in words:
        size = len(word)
        if size > least:
            longest = word
            least = size
    return longest
"""
TARGET = Target(Document(SOURCE, Path("f.py")), "f")
PROBE = DependenceProbe()
DATA = {(0, 2), (0, 4), (1, 7), (2, 3), (2, 5), (3, 4), (3, 6), (5, 7), (6, 4)}


class Listing:
    """A model that lists the pairs that it is given, whatever it is asked: for the counting."""

    info = ModelInfo("m", "m", "m", "local", frozenset())

    def __init__(self, pairs: set[tuple[int, int]]) -> None:
        self._said = f'{{"pairs": {[list(pair) for pair in sorted(pairs)]}}}'

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        return [Completion(self._said, "stop", 1) for _ in prompts]

    def offers(self, *_: Any, **__: Any) -> bool:
        return False


def probed(model: Any, **given: Any) -> DependenceRecord:
    return PROBE.run(Context(model), TARGET, make(DependenceOptions, given))


def test_the_rules_are_indentation_and_recurring_names() -> None:
    subject = ExaminedFunction.of(dependences(SOURCE, "f"))
    assert set(true_edges(subject, Relation.DATA)) == DATA
    assert pairs_by_rule(subject, Relation.CONTROL) == {(2, 3), (2, 4), (4, 5), (4, 6)}
    # forward alone: 6 to 4 goes back through the loop
    assert pairs_by_rule(subject, Relation.DATA) == DATA - {(6, 4)}
    nested = "def f(a):\n    with a:\n        if a:\n            b = a\n        c = a\n    return c\n"
    inside = ExaminedFunction.of(dependences(nested, "f"))
    assert pairs_by_rule(inside, Relation.CONTROL) == {
        (2, 3)
    }  # a `with` and the function's header decide nothing


def test_the_model_stands_beside_the_rule_on_the_same_pairs() -> None:
    record = probed(Listing({(6, 4), (0, 2), (1, 3)}))
    assert record.method is InferenceMethod.PROMPTED
    assert record.agreement.direct[Relation.DATA] == Agreement(2, 1, 7)
    assert record.rules.direct[Relation.DATA] == Agreement(8, 0, 1)
    assert record.differing[Relation.DATA] == Agreement(1, 0, 0)  # the only pair that the rule has wrong
    (table,) = [
        table for table in PROBE.tables([record], seed=0) if table.title.startswith("compared with rules")
    ]
    rows: dict[Any, Sequence[Any]] = {row[0]: row[1:] for row in table.rows}
    model, rule, by_rule, difference, differing = rows["data, direct"]
    assert rule == "recurring names"
    assert model.value == pytest.approx(2 * 2 / (2 * 2 + 1 + 7))
    assert by_rule.value == pytest.approx(2 * 8 / (2 * 8 + 1))
    assert difference.value == pytest.approx(model.value - by_rule.value)
    assert differing.value == 1.0
    assert rows["control, direct"][1] == "indentation"
    functions = PROBE.tables([record], seed=0)[0]
    assert functions.columns[2:] == (
        "control F1",
        "control F1, indentation",
        "data F1",
        "data F1, recurring names",
    )


def test_a_model_that_follows_the_rule_has_its_figures_and_none_beyond_it() -> None:
    record = probed(Listing(DATA - {(6, 4)}))
    assert record.agreement.direct[Relation.DATA] == record.rules.direct[Relation.DATA]
    assert record.agreement.transitive[Relation.DATA] == record.rules.transitive[Relation.DATA]
    assert record.differing[Relation.DATA] == Agreement(0, 0, 1)


def test_measures_and_summary_count_true_and_invented_edges() -> None:
    record = probed(Listing(DATA))
    assert PROBE.measures(record)["all data dependences shown"] is True
    assert PROBE.measures(record)["no data dependence invented"] is True
    assert PROBE.measures(record)["all control dependences shown"] is False
    said = PROBE.summary([record, record])
    assert "It shows 18 of 18 data dependences, and 0 that do not exist; " in said
    assert "recurring names, without a model, 16 and 0." in said


@pytest.mark.parametrize("method", list(InferenceMethod))
def test_records_are_read_as_they_were_written(model: LlamaModel, method: InferenceMethod) -> None:
    options = DependenceOptions(method=method, questions=4)
    record = run_probe(PROBE, Context(model), TARGET, options)
    assert isinstance(record, DependenceRecord)
    assert read(write_record(record), DependenceRecord) == record
    assert record.method is method
    document = plain(record)
    assert document["function"] == "f"
    assert document["statements"] == 8
    assert set(document["agreement"]) == {"direct", "transitive"}
    assert set(document["agreement"]["direct"]) == {"control", "data"}
    assert {edge["relation"] for edge in document["edges"]} == {"control", "data"}
    assert bool(record.traces) == (method is InferenceMethod.TRACE)
    for relation in Relation:
        edges = [edge.status for edge in record.edges if edge.relation is relation]
        if method in {InferenceMethod.INTERVENTIONAL, InferenceMethod.PROMPTED}:
            counts = record.agreement.direct[relation]
            assert edges.count(edges[0].__class__.FOUND) == counts.true_positives
    assert PROBE.estimate(TARGET, options, model) > 0
    titles = [table.title for table in PROBE.tables([record], seed=0)]
    one_by_one = method not in {InferenceMethod.INTERVENTIONAL, InferenceMethod.PROMPTED}
    assert ("beside answers without a model" in titles) == one_by_one
    assert len(titles) == 3 + one_by_one + (method is InferenceMethod.TRACE)


def test_no_more_questions_are_asked_than_wanted(model: LlamaModel) -> None:
    few = DependenceOptions(method=InferenceMethod.PAIRWISE, questions=6)
    assert PROBE.estimate(TARGET, few, model) == 12
    record = PROBE.run(Context(model), TARGET, few)
    assert record.left_out["data: pairs that were not asked about"] == 8 * 7 - 6
    assert (
        PROBE.estimate(TARGET, DependenceOptions(method=InferenceMethod.PAIRWISE, questions=100), model)
        == 112
    )
    with pytest.raises(OptionError, match="--questions"):
        make(DependenceOptions, {"questions": 1})
    with pytest.raises(OptionError, match="--method"):
        make(DependenceOptions, {"method": "guess"})


def test_what_cannot_be_examined_is_left_out_and_what_is_cancelled_ends(model: LlamaModel) -> None:
    record = run_probe(PROBE, Context(model), Target(TARGET.document, "g"), DependenceOptions())
    assert record.outcome is Outcome.LEFT_OUT
    assert "g" in record.reason
    with pytest.raises(SourceError):
        PROBE.estimate(Target(TARGET.document, "g"), DependenceOptions(), model)
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        PROBE.run(Context(model, steps=Steps(stop)), TARGET, DependenceOptions())


def test_a_list_of_all_pairs_has_room_for_every_true_edge() -> None:
    """Sixty pairs, as it once was, are fewer than a function of sixty statements has edges."""
    lines = [f"    a{i} = a{i - 1} + a{max(0, i - 3)} + a{max(0, i - 5)}" for i in range(1, 60)]
    source = "\n".join(["def f(a0):", *lines, "    return a59"]) + "\n"
    subject = ExaminedFunction.of(dependences(source, "f"))
    assert len(true_edges(subject, Relation.DATA)) > 150
    wide = ModelInfo("m", "m", "m", "local", frozenset(), context=32768)
    narrow = ModelInfo("m", "m", "m", "local", frozenset(), context=2048)
    assert all_pairs(wide, subject, Relation.DATA).max_tokens == 8 * (8 * 61) + 16
    assert all_pairs(narrow, subject, Relation.DATA).max_tokens <= 1024
    small = ExaminedFunction.of(dependences("def f(a):\n    return a\n", "f"))
    assert all_pairs(wide, small, Relation.DATA).max_tokens == 8 * 4 + 16
