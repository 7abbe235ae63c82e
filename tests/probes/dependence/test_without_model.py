"""Prompted dependences: worked examples, copies of them, and answers without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from counterlens.dependence import dependences
from counterlens.models.base import Api, Capability, Completion, Model, ModelInfo, Prompt
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.probe import DependenceOptions, DependenceProbe
from counterlens.probes.dependence.prompts import all_pairs
from counterlens.probes.dependence.record import DependenceRecord
from counterlens.probes.options import make
from counterlens.probes.probe import Context, Target
from counterlens.probes.runner import run_targets
from counterlens.syntax.document import Document

SOURCE = """\
def total_length(words, limit):
    total = 0
    for word in words:
        size = len(word)
        if size < limit:
            total += size
    return total
"""


@pytest.mark.parametrize("relation", list(Relation))
def test_the_protocol_asks_without_an_example(relation: Relation) -> None:
    subject = ExaminedFunction.of(dependences(SOURCE, "total_length"))
    info = ModelInfo("m", "m", "m", "local", frozenset({Capability.COMPLETE}), api=Api.CHAT)
    asked = all_pairs(info, subject, relation, protocol="empica")
    assert asked.reply is not None
    assert (asked.reply.instruction, asked.reply.turns, asked.examples) == ("", (), ())
    assert asked.text.startswith("Given the following code snippet\n\n0: def total_length(")
    assert f"which have {relation} dependence." in asked.text
    ours = all_pairs(info, subject, relation)
    assert ours.reply is not None
    assert len(ours.reply.turns) == len(ours.examples) == 1


class Listing(Model):
    """A chat model that always gives the same list."""

    info = ModelInfo("m", "m", "m", "local", frozenset({Capability.COMPLETE}), api=Api.CHAT)

    def __init__(self, said: str) -> None:
        self._said = said

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        return [Completion(self._said, "stop", 1) for _ in prompts]


def test_a_list_that_copies_the_example_is_counted() -> None:
    copy = all_pairs(
        Listing.info, ExaminedFunction.of(dependences(SOURCE, "total_length")), Relation.DATA
    ).examples[0]
    target = Target(Document(SOURCE), "total_length")
    probe = DependenceProbe()
    for said, copies in ((copy, [True, False]), ('{"pairs": [[0, 1]]}', [False, False])):
        run = run_targets(
            probe, Context(Listing(said)), [target] * 12, make(probe.options, {"method": "prompted"})
        )
        copied = [record.copied for record in run.probed if isinstance(record, DependenceRecord)]
        assert len(copied) == 12
        assert {each[Relation.DATA] for each in copied} == {copies[0]}
        assert {each[Relation.CONTROL] for each in copied} == {copies[1]}
        (table,) = [table for table in run.tables if table.title == "beside answers without a model"]
        data = next(row for row in table.rows if row[0] == "data F1")
        assert data[1] == 12
        assert data[3] == 1  # all functions are the same, so the best constant list is the true one
        assert data[5] == 12 * copies[0]
        assert run.summary.startswith("The model does no better than an answer without a model (")
        assert ("12 of 24 answers repeat a worked example" in run.summary) == copies[0]


def test_pairs_that_a_list_repeats_are_counted_once_and_reported() -> None:
    target = Target(Document(SOURCE), "total_length")
    said = Listing('{"pairs": [[0, 1], [1, 2], [0, 1], [1, 2], [0, 1]]}')
    record = DependenceProbe().run(Context(said), target, make(DependenceOptions, {"method": "prompted"}))
    assert record.left_out["data: repetitions of a pair"] == 3
    inferred = [edge for edge in record.edges if edge.relation is Relation.DATA]
    assert sum((edge.source, edge.target) == (0, 1) for edge in inferred) == 1
