"""Operators filled in the middle: what the model is shown, and what is read of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from counterlens.models.base import Api, Capability, Completion, Prompt
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.operator.probe import fill_gaps, fills, operator_in
from counterlens.probes.operator.record import OperatorRecord
from counterlens.probes.operator.tables import FILLED
from counterlens.probes.probe import Context, Target
from counterlens.syntax.document import Document

SOURCE = "LIMIT = 3\n\n\ndef f(a, b):\n    if a < b and a not in (1,):\n        return a\n    return b\n"
COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")


@pytest.mark.parametrize(
    ("text", "candidates", "read"),
    [
        (" <= b", COMPARISONS, "<="),
        ("<b", COMPARISONS, "<"),
        ("< -b", COMPARISONS, "<"),
        (" << b", COMPARISONS, None),
        (" = b", COMPARISONS, None),
        (" not  in b", ("in", "not in"), "not in"),
        (" index", ("in", "not in"), None),
        (" or b", ("and", "or"), "or"),
        ("", COMPARISONS, None),
    ],
)
def test_the_operator_is_what_the_text_begins_with(
    text: str, candidates: Sequence[str], read: str | None
) -> None:
    assert operator_in(text, candidates) == read


class Fills:
    """A model that fills in what it is told to, and keeps what it was shown."""

    def __init__(self, model: LlamaModel, answers: Sequence[str]) -> None:
        self.info = replace(model.info, api=Api.FILL)
        self.answers, self.shown = iter(answers), list[Prompt]()

    def offers(self, capability: Capability, **_: Any) -> bool:
        return capability in self.info.capabilities

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        self.shown += prompts
        return [Completion(next(self.answers), "length", 4) for _ in prompts]


def test_a_model_is_shown_both_sides_and_judged_by_what_it_writes(model: LlamaModel) -> None:
    asked = Fills(model, ["< b", "or", " is"])
    assert fills(asked)  # type: ignore[arg-type]
    assert not fills(model)
    found = fill_gaps(Context(asked), Target(Document(SOURCE), "f"))  # type: ignore[arg-type]
    assert [(gap.operator, gap.written) for gap in found] == [
        ("<", "<"),
        ("and", "or"),
        ("not in", None),
    ]
    first = asked.shown[0]
    assert first.text.endswith("    if a ")
    assert first.suffix.startswith(" b and a not in (1,):\n        return a\n")
    nothing = OperatorRecord(target="f", corpus=None, frequency={}, operators=(), pairs=())
    table = FILLED.table([replace(nothing, filled=found)], seed=0)
    assert [(row[0], row[1], row[3]) for row in table.rows] == [
        ("all", 3, 1),
        ("comparison", 1, 0),
        ("membership", 1, 1),
        ("boolean", 1, 0),
    ]
    assert FILLED.table([nothing], seed=0).rows == ()
