"""Scores of many texts that follow the same context, decoded in step; shared prefixes are read once.

The prefix that all of them share is held for the next call, too, which often begins alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prefix_plan import Fork, plan_prefixes
from counterlens.models.llama.sequences import Row, SequenceBatch
from counterlens.models.local.messages import ScoreContinuations, Scored
from counterlens.models.local.scoring import Rows, gathered, reduce, tokenize

_PLANNED = 64
"""Sequences that are planned together at most: a plan compares each with each."""


@dataclass
class _Sequence:
    """A context and a continuation.

    Attributes:
        tokens: The model of both.
        first: The first token that is scored.
        ends: The byte of the continuation after each of its tokens.
        unscored: How many tokens of the continuation nothing precedes.
        rows: The scores so far.
        twins: Others of which the same is decoded; they end in another token at most.
    """

    tokens: list[int]
    first: int
    ends: npt.NDArray[np.int64]
    unscored: int
    rows: list[Rows] = field(default_factory=list)
    twins: list[_Sequence] = field(default_factory=list)


@dataclass
class ContinuationScorer:
    """Scores continuations with one engine; the answers to one call depend on what was asked in it alone."""

    engine: Engine
    batch: SequenceBatch

    def score(self, request: ScoreContinuations, progress: Callable[[int, int], None]) -> list[Scored]:
        """Score each continuation as `Scorer.score` would, but for rounding.

        A context that is too long loses its oldest tokens, the same ones for every continuation.

        Args:
            request: At least one continuation.
            progress: Called with (tokens done, tokens in all).

        Raises:
            ModelError: a continuation is longer than the model's window.
            Cancelled, ModelError: as `SequenceBatch.decode`.
        """
        k = request.alternatives
        sequences = self._sequences(request)
        total = sum(len(sequence.tokens) - sequence.first for sequence in sequences)
        done = 0

        def advance(tokens: int) -> None:
            nonlocal done
            done += tokens
            progress(done, total)

        different = _without_twins(sequences)
        for low in range(0, len(different), _PLANNED):
            for group in self._groups(different[low : low + _PLANNED]):
                self._read(group, k, advance)
        return [
            gathered(
                sequence.rows,
                sequence.ends,
                np.arange(sequence.first, len(sequence.tokens), dtype=np.int64),
                k,
                self.engine.pieces,
                unscored=sequence.unscored,
            )
            for sequence in sequences
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

    def _groups(self, sequences: list[_Sequence]) -> Iterator[_Group]:
        """Sequences that are read together: all of them, if they fit into memory, or halves of them."""
        fed = [sequence.tokens[:-1] for sequence in sequences]
        shares = self.engine.keeps_prefixes
        plan = plan_prefixes(fed) if shares else [Fork(None, 0, slot) for slot in range(len(fed))]
        slots = 1 + max(fork.slot for fork in plan)
        longest = max(len(sequence.tokens) for sequence in sequences)
        holds = shares and self.batch.fits(slots + 1, longest)
        if holds or len(sequences) == 1 or (not shares and self.batch.fits(slots, longest)):
            shared = min([fork.start for fork in plan[1:]], default=len(fed[0]))
            held = max(0, min(sequences[0].first - 1, shared)) if holds else 0
            self.batch.reserve(slots + holds, longest)
            yield _Group(sequences, fed, plan, held, int(holds))
            return
        half = len(sequences) // 2
        yield from self._groups(sequences[:half])
        yield from self._groups(sequences[half:])

    def _read(self, group: _Group, k: int, advance: Callable[[int], None]) -> None:
        """Decode some sequences in step; what each of them scores is added to its rows."""
        at = group.held
        if at:
            self.batch.hold(group.fed[0][:at])
        waiting = sorted(range(len(group.plan)), key=lambda i: (group.plan[i].start, i))
        live: list[int] = []
        while waiting or live:
            while waiting and group.plan[waiting[0]].start <= at:
                live.append(self._begin(group, waiting.pop(0), advance))
            live = sorted((i for i in live if at < len(group.fed[i])), key=group.seq_id)
            if live:
                portion = max(1, self.engine.chunk // len(live))
                until = min(at + portion, group.plan[waiting[0]].start if waiting else at + portion)
                advance(self._step(group, live, at, until, k))
                at = until

    def _begin(self, group: _Group, which: int, advance: Callable[[int], None]) -> int:
        """Start a sequence from its parent or from the held prefix, and return its number."""
        parent, seq_id = group.plan[which].parent, group.seq_id(which)
        if parent is not None:
            self.batch.copy(group.seq_id(parent), seq_id)
            group.sequences[which].rows = list(group.sequences[parent].rows)
            advance(sum(len(rows.logprob) for rows in group.sequences[which].rows))
        elif group.held:
            self.batch.copy(0, seq_id)
        else:
            self.batch.cut(seq_id, 0)
        return which

    def _step(self, group: _Group, live: list[int], at: int, until: int, k: int) -> int:
        """Decode the tokens of some sequences from one place to another, and count those that were scored."""
        rows = [
            Row(group.seq_id(i), token, wanted=place + 1 >= group.sequences[i].first)
            for i in live
            for place, token in enumerate(group.fed[i][at:until], at)
        ]
        logits = self.batch.decode(rows)
        used = copied = 0
        for i in live:
            sequence = group.sequences[i]
            targets = sequence.tokens[max(at + 1, sequence.first) : until + 1]
            if targets:
                after = logits[used : used + len(targets)]
                sequence.rows.append(reduce(after, np.asarray(targets, np.int64), k))
                used += len(targets)
                for twin in sequence.twins if until >= len(group.fed[i]) else ():
                    ends = np.asarray([*targets[:-1], twin.tokens[-1]], np.int64)
                    twin.rows = [*sequence.rows[:-1], reduce(after, ends, k)]
                    copied += sum(len(rows.logprob) for rows in twin.rows)
        return used + copied


def _without_twins(sequences: list[_Sequence]) -> list[_Sequence]:
    """The sequences of which different things are decoded; each of the others becomes the twin of one."""
    distinct: dict[tuple[int, int, tuple[int, ...]], _Sequence] = {}
    for sequence in sequences:
        decoded = (sequence.first, sequence.unscored, tuple(sequence.tokens[:-1]))
        twin = distinct.setdefault(decoded, sequence)
        if twin is not sequence:
            twin.twins.append(sequence)
    return list(distinct.values())


@dataclass(frozen=True, slots=True)
class _Group:
    """Sequences that are read together.

    Attributes:
        sequences: With their scores so far.
        fed: The decoded part of each: the logits of a token are those after the one before it, and after the
            last nothing is asked.
        plan: The fork points of the texts.
        held: How many tokens all of them take over from sequence 0 of the batch.
        first_slot: The sequence of the batch that is the plan's slot 0.
    """

    sequences: list[_Sequence]
    fed: list[list[int]]
    plan: list[Fork]
    held: int
    first_slot: int

    def seq_id(self, which: int) -> int:
        """The number of a sequence in the batch."""
        return self.first_slot + self.plan[which].slot
