"""Scores of many texts that follow the same context: the context is read once, the texts decode together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.llama.lanes import Lanes, Row
from counterlens.models.llama.native import Engine
from counterlens.models.llama.protocol import ScoreContinuations, Scored
from counterlens.models.llama.scoring import Rows, gathered, reduce, tokenize


@dataclass
class _Sequence:
    """A context and a continuation.

    Attributes:
        tokens: Of both.
        first: The first token that is scored.
        ends: The byte of the continuation after each of its tokens.
        unscored: How many tokens of the continuation nothing precedes.
        rows: The scores so far.
    """

    tokens: list[int]
    first: int
    ends: npt.NDArray[np.int64]
    unscored: int
    rows: list[Rows] = field(default_factory=list)


@dataclass
class ContinuationScorer:
    """Scores continuations with one engine; the answers to one call depend on what was asked in it alone."""

    engine: Engine
    lanes: Lanes

    def score(self, request: ScoreContinuations, progress: Callable[[int, int], None]) -> list[Scored]:
        """Score each continuation as `Scorer.score` would, but for rounding.

        A context that is too long loses its oldest tokens, the same ones for every continuation.

        Args:
            request: At least one continuation.
            progress: Called with (tokens done, tokens in all).

        Raises:
            ModelError: a continuation is longer than the model's window.
            Cancelled, ModelError: as `Lanes.decode`.
        """
        k = request.alternatives
        sequences = self._sequences(request)
        total = sum(len(one.tokens) - one.first for one in sequences)
        done = 0

        def advance(tokens: int) -> None:
            nonlocal done
            done += tokens
            progress(done, total)

        for group in self.lanes.groups([len(one.tokens) for one in sequences]):
            self._read([sequences[i] for i in group], k, advance)
        return [
            gathered(
                one.rows,
                one.ends,
                np.arange(one.first, len(one.tokens), dtype=np.int64),
                k,
                self.engine.pieces,
                unscored=one.unscored,
            )
            for one in sequences
        ]

    def _sequences(self, request: ScoreContinuations) -> list[_Sequence]:
        engine = self.engine
        lead = [engine.bos] if engine.adds_bos else []
        parts = [tokenize(engine, request.context, text) for text in request.continuations]
        longest = max(len(lead) + len(before) + len(tokens) for before, tokens, _ in parts)
        dropped = max(0, longest - engine.context)
        if dropped and dropped >= min(len(before) for before, _, _ in parts):
            raise ModelError(
                f"a continuation of {max(len(tokens) for _, tokens, _ in parts)} tokens does not fit into a "
                f"context of {engine.context}",
                "Score a shorter one",
            )
        sequences = []
        for before, tokens, ends in parts:
            first = len(lead) + len(before) - dropped
            unscored = int(first == 0 and bool(tokens))
            sequences.append(_Sequence(lead + before[dropped:] + tokens, first + unscored, ends, unscored))
        return sequences

    def _read(self, group: Sequence[_Sequence], k: int, advance: Callable[[int], None]) -> None:
        """Decode some sequences together; what each of them scores is added to its rows."""
        self.lanes.start([len(one.tokens) for one in group])
        # The logits of a token are those after the one before it; after the last nothing is asked.
        fed = [one.tokens[:-1] for one in group]
        at = self.lanes.read_shared(
            fed, max(0, min(min(one.first - 1, len(f)) for one, f in zip(group, fed, strict=True)))
        )
        while live := [lane for lane, tokens in enumerate(fed) if at < len(tokens)]:
            portion = max(1, self.engine.chunk // len(live))
            rows = [
                Row(lane, token, wanted=i + 1 >= group[lane].first)
                for lane in live
                for i, token in enumerate(fed[lane][at : at + portion], at)
            ]
            logits = self.lanes.decode(rows)
            used = 0
            for lane in live:
                one = group[lane]
                targets = one.tokens[max(at + 1, one.first) : at + portion + 1]
                if targets:
                    part = logits[used : used + len(targets)]
                    one.rows.append(reduce(part, np.asarray(targets, np.int64), k))
                    used += len(targets)
            advance(used)
            at += portion
