"""Reading no further than something is asked for changes no score."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterlens.dependence import Program
from counterlens.models.base import TokenScores
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.dependence.estimators import (
    CONTROL_KINDS,
    DATA_KINDS,
    PairScores,
    control_scores,
    data_scores,
    looked_at,
)
from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.interventions import LookedAt, everything
from counterlens.probes.dependence.reactions import react

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
