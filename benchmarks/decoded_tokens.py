"""Counts the tokens decoded for many texts with common beginnings, with and without sharing.

    python benchmarks/decoded_tokens.py

The texts are those for the influence of every statement of `textwrap.dedent` on the later ones, and for 120
yes/no questions about it. `apart` reads every text from its start; `shared` counts the tokens that
`ContinuationScorer` sends to llama.cpp. Tokens of the embedded model are counted, not decoded: the plan does
not depend on the results. The counts depend on the source of the running Python's `textwrap`. The last line
is JSON.
"""

from __future__ import annotations

import inspect
import json
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from counterlens.models.base import Capability, ModelInfo, TokenScores
from counterlens.models.files import embedded_model
from counterlens.models.llama.continuations import ContinuationScorer
from counterlens.models.llama.native import Engine
from counterlens.models.llama.sequences import Row, SequenceBatch
from counterlens.models.local.messages import ScoreContinuations
from counterlens.probes.dependence.estimators import CONTROL_KINDS, DATA_KINDS, looked_at
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.prompted import ask_pairs, every_pair
from counterlens.probes.dependence.reactions import react
from counterlens.python.dependence.program import Program

QUESTIONS = 120


class Counting:
    """A model with the methods that are needed here, which counts the tokens to decode."""

    def __init__(self) -> None:
        self.engine = Engine(Path(embedded_model()), threads=2, context=4096)
        self.info = ModelInfo("", "", "", "local", frozenset({Capability.SCORE}))
        self.apart = self.shared = 0
        batch = SequenceBatch(self.engine)
        self._scorer = ContinuationScorer(self.engine, batch)

        def counted(rows: Sequence[Row]) -> Any:
            self.shared += len(rows)
            return np.zeros((sum(row.wanted for row in rows), self.engine.vocabulary), np.float32)

        batch.decode = counted  # type: ignore[method-assign]

    def offers(self, *_: object, **__: object) -> bool:
        """Always true: the methods need token probabilities."""
        return True

    def score_continuations(
        self, context: str, continuations: Sequence[str], **_: object
    ) -> list[TokenScores]:
        """Like `Model.score_continuations`, but only counts."""
        texts = tuple(text.encode() for text in continuations)
        self.apart += sum(len(self.engine.tokenize(context.encode() + text)) for text in texts)
        found = self._scorer.score(ScoreContinuations(context.encode(), texts, 0), lambda *_: None)
        return [
            TokenScores(
                text,
                np.concatenate([[0], one.end[:-1]]).astype(np.int64),
                one.end,
                one.logprob,
                one.entropy,
                one.rank,
                one.alternative_logprob,
                (),
                one.context,
            )
            for text, one in zip(continuations, found, strict=True)
        ]


def main() -> int:
    """Count and print."""
    model: Any = Counting()
    subject = ExaminedFunction.of(Program(inspect.getsource(textwrap.dedent)).dependences("dedent"))
    length = len(model.engine.tokenize(subject.data))
    print(f"textwrap.dedent: {len(subject.parts)} statements, {length} tokens")
    figures: dict[str, dict[str, int]] = {}
    for part in subject.parts:
        react(model, subject, part, DATA_KINDS + CONTROL_KINDS, looked_at=looked_at)
    figures["influence"] = {"apart": model.apart, "shared": model.shared}
    model.apart = model.shared = 0
    ask_pairs(model, subject, Relation.DATA, every_pair(subject)[:QUESTIONS])
    figures[f"{QUESTIONS} questions"] = {"apart": model.apart, "shared": model.shared}
    print(f"{'':16}{'apart':>10}{'shared':>10}{'lengths':>10}")
    for name, one in figures.items():
        print(f"{name:16}{one['apart']:>10,}{one['shared']:>10,}{one['shared'] / length:>10.1f}")
    print(json.dumps({"benchmark": "decoded_tokens", "tokens": length, "counts": figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
