"""Reading no further than something is asked for changes no score."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterlens.models.base import Capability, ModelInfo, TokenScores
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.dependence.estimators import (
    CONTROL_KINDS,
    DATA_KINDS,
    Influence,
    PairScores,
    control_scores,
    data_scores,
    looked_at,
    minus_placebo,
)
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.inferred import EdgeStatus, infer
from counterlens.probes.dependence.reactions import LookedAt, everything, react
from counterlens.python.dependence.program import Program

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("[!t]*.py"))
ENDS_WITHOUT_A_NAME = '''\
def f(words, least):
    """Words that are long enough."""
    for word in words:
        if len(word) < least:
            print(word)
            break
    else:
        return True
    return False
'''


class Unmoved:
    """A model that expects everything alike, whatever stood before."""

    info = ModelInfo("m", "m", "m", "local", frozenset({Capability.SCORE}))

    def offers(self, *_: Any, **__: Any) -> bool:
        return True

    def score_continuations(self, context: str, continuations: Sequence[str], **_: Any) -> list[TokenScores]:
        scored = Causal().score_continuations(context, continuations)
        return [replace(one, logprob=np.full(len(one.start), -1.0)) for one in scored]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("threshold", [None, 0.0, -0.2, -5.0])
def test_no_reaction_is_no_edge(path: Path, threshold: float | None) -> None:
    model: Any = Unmoved()
    given = None if threshold is None else dict.fromkeys(Relation, threshold)
    for function in Program(path.read_text()).all():
        if function.statements:
            found = infer(model, function, threshold=given)
            assert {edge.status for edge in found.edges} <= {EdgeStatus.MISSED}
            assert all(edge.belief in {None, 0.0} for edge in found.edges)


def test_what_moves_no_more_than_the_placebos_is_no_edge() -> None:
    scores = minus_placebo({(1, 2): 3.0, (1, 3): 0.0, (1, 4): 3.0, (5, 2): 1.0, (5, 3): 1.0, (5, 4): 1.0})
    subject = ExaminedFunction.of(Program("def f(a):\n    return a\n").dependences("f"))
    influence = Influence(subject, Unmoved.info, {}, scores)
    for threshold in (None, 0.0, -1.0, -10.0):
        assert influence.edges(Relation.CONTROL, threshold) == {(1, 2), (1, 4), (5, 3)}


class Causal:
    """A tokenizer by words, whose probabilities depend on every byte before and on none after."""

    def __init__(self) -> None:
        self.read = 0

    def score_continuations(self, context: str, continuations: Sequence[str], **_: Any) -> list[TokenScores]:
        return [self._score(context, text) for text in continuations]

    def _score(self, context: str, text: str) -> TokenScores:
        spans = [match.span() for match in re.finditer(r"\n *| ?\w+|[^\w\n]", text)]
        self.read += len(spans)
        past = [zlib.crc32((context + text[:end]).encode()) for _, end in spans]
        logprob = -np.array(past, np.float64) / 2**30
        start, end = np.array(spans, np.int64).reshape(-1, 2).T
        none = np.zeros((len(spans), 0))
        zero = np.zeros(len(spans), np.int64)
        return TokenScores(text, start, end, logprob, logprob, zero, none, ((),) * len(spans), zero)


def scores(model: Any, subject: ExaminedFunction, looked_at: LookedAt) -> tuple[PairScores, PairScores]:
    kinds = DATA_KINDS + CONTROL_KINDS
    found = [one for part in subject.parts for one in react(model, subject, part, kinds, looked_at=looked_at)]
    return data_scores(subject, found), control_scores(found)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_scores_of_examples_are_the_same(path: Path) -> None:
    program = Program(path.read_text())
    for function in program.functions:
        subject = ExaminedFunction.of(program.dependences(function))
        assert scores(Causal(), subject, looked_at) == scores(Causal(), subject, everything)


def test_less_is_read_and_scores_are_the_same() -> None:
    subject = ExaminedFunction.of(Program(ENDS_WITHOUT_A_NAME).dependences("f"))
    all_of_it, some = Causal(), Causal()
    assert scores(some, subject, looked_at) == scores(all_of_it, subject, everything)
    assert some.read < all_of_it.read


def test_scores_of_a_real_model_are_the_same_up_to_rounding(model: LlamaModel) -> None:
    subject = ExaminedFunction.of(Program(ENDS_WITHOUT_A_NAME).dependences("f"))
    for less, whole in zip(
        scores(model, subject, looked_at), scores(model, subject, everything), strict=True
    ):
        assert less.keys() == whole.keys()
        assert [*less.values()] == pytest.approx([*whole.values()], abs=0.5)
