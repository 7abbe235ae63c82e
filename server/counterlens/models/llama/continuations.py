"""Scores of many texts with the same context, decoded in step; shared prefixes are read once.

The shared prefix is also kept for the next call, which often begins with it. A plan says, for each text, from
which other one it forks, where, and in which slot of the KV cache. It is made before decoding, from the texts
alone: what earlier calls left in the cache must not decide how a text is read, since rounding depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.llama.native import Engine
from counterlens.models.llama.sequences import ROWS, Row, SequenceBatch
from counterlens.models.local.messages import ScoreContinuations, Scored
from counterlens.models.local.scoring import Rows, gather, reduce, tokenize

_PLANNED = 64
"""Maximum number of sequences planned together: a plan compares each with each."""


@dataclass
class _Sequence:
    """A context and a continuation.

    Attributes:
        tokens: Tokens of both.
        first: Index of the first scored token.
        ends: The byte of the continuation after each of its tokens.
        unscored: Number of tokens of the continuation before it, which get no score.
        rows: Scores so far.
        twins: Sequences with the same tokens to decode; only their last token may differ.
    """

    tokens: list[int]
    first: int
    ends: npt.NDArray[np.int64]
    unscored: int
    rows: list[Rows] = field(default_factory=list)
    twins: list[_Sequence] = field(default_factory=list)


@dataclass
class ContinuationScorer:
    """Scores continuations with one engine; the responses to one call depend on its requests alone."""

    engine: Engine
    batch: SequenceBatch

    def score(self, request: ScoreContinuations, progress: Callable[[int, int], None]) -> list[Scored]:
        """Score each continuation as `Scorer.score` would, except for rounding.

        The oldest tokens of a context that is too long are dropped, the same ones for every continuation.

        Args:
            request: The request, with at least one continuation.
            progress: Called with (finished tokens, all tokens).

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
            gather(
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
        for (before, tokens, ends), read in zip(parts, request.unscored, strict=True):
            first = len(lead) + len(before) - dropped
            unscored = max(int(first == 0 and bool(tokens)), int(np.searchsorted(ends, read, "right")))
            sequences.append(_Sequence(lead + before[dropped:] + tokens, first + unscored, ends, unscored))
        return sequences

    def _groups(self, sequences: list[_Sequence]) -> Iterator[_Group]:
        """Groups of sequences that are read together: all of them if they fit into memory, else halves."""
        fed = [sequence.tokens[:-1] for sequence in sequences]
        shares = self.engine.keeps_prefixes
        first = [sequence.first for sequence in sequences]
        plan = plan_prefixes(fed, first) if shares else [Fork(None, 0, slot) for slot in range(len(fed))]
        slots = 1 + max(fork.slot for fork in plan)
        longest = max(len(sequence.tokens) for sequence in sequences)
        holds = shares and self.batch.fits(slots + 1, longest)  # sequence 0 has the prefix that is kept
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
        """Decode some sequences in step, and append the scores of each to its rows."""
        at = group.held
        if at:
            self.batch.hold(group.fed[0][:at])
        waiting = sorted(range(len(group.plan)), key=lambda i: (group.plan[i].start, i))
        live: list[int] = []
        while waiting or live:
            while waiting and group.plan[waiting[0]].start <= at:
                live.append(self._begin(group, waiting.pop(0), advance))
            live = sorted((i for i in live if at < len(group.fed[i])), key=group.seq_id)
            if live:  # up to the next fork: what forks there copies what its parent has then, and no more
                until = group.until(live, at, self.engine.chunk)
                if waiting:
                    until = min(until, group.plan[waiting[0]].start)
                advance(self._step(group, live, at, until, k))
                at = until

    def _begin(self, group: _Group, which: int, advance: Callable[[int], None]) -> int:
        """Start a sequence from its parent or from the kept prefix, and return its number."""
        parent, seq_id = group.plan[which].parent, group.seq_id(which)
        if parent is not None:  # with its scores: they are those of the same tokens after the same tokens
            self.batch.copy(group.seq_id(parent), seq_id)
            group.sequences[which].rows = list(group.sequences[parent].rows)
            advance(sum(len(rows.logprob) for rows in group.sequences[which].rows))
        elif group.held:
            self.batch.copy(0, seq_id)
        else:
            self.batch.cut(seq_id, 0)
        return which

    def _step(self, group: _Group, live: list[int], at: int, until: int, k: int) -> int:
        """Decode the tokens of some sequences between two positions; returns the number of scored tokens."""
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
    """The sequences with different tokens to decode; each of the others becomes a twin of one of these."""
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
        sequences: The sequences, with their scores so far.
        fed: The decoded part of each: the logits for a token are those after the token before it, and the
            logits after the last token are not needed.
        plan: The fork points of the texts.
        held: Number of tokens that all of them copy from sequence 0 of the batch.
        first_slot: The sequence of the batch that is slot 0 of the plan.
    """

    sequences: list[_Sequence]
    fed: list[list[int]]
    plan: list[Fork]
    held: int
    first_slot: int

    def seq_id(self, which: int) -> int:
        """The number of a sequence in the batch."""
        return self.first_slot + self.plan[which].slot

    def until(self, live: Sequence[int], at: int, most: int) -> int:
        """How far some sequences are read in one call from a position on, with logits for `most` tokens."""
        until = at + max(1, ROWS // len(live))
        # A row with logits takes the memory of a whole vocabulary.
        while (
            until > at + 1 and sum(max(0, until - max(at, self.sequences[i].first - 1)) for i in live) > most
        ):
            until -= 1
        return until


@dataclass(frozen=True, slots=True)
class Fork:
    """The fork of one sequence from another.

    Attributes:
        parent: The sequence whose prefix it shares; None if it is read from its start.
        start: Length of the shared prefix, in tokens.
        slot: Its slot in the KV cache.
    """

    parent: int | None
    start: int
    slot: int


def plan_prefixes(sequences: Sequence[Sequence[int]], first: Sequence[int]) -> list[Fork]:
    """Plan how to read sequences in step, with each shared token read once.

    A sequence forks from its parent one token before they differ, because the logits after that token are
    compared with another target; so each sequence reads at least one token itself. A slot is free again when
    its sequence has ended.

    Args:
        sequences: (n,) sequences of tokens; the parent of a sequence comes before it.
        first: (n,) the first scored token of each. A fork takes over its parent's scores only if both are
            scored from the same token on; otherwise it lies before the first score of either.
    """
    starts: list[tuple[int | None, int]] = []
    arrays = [np.asarray(sequence, np.int64) for sequence in sequences]
    for i, sequence in enumerate(arrays):
        shared = [
            same if first[i] == first[j] else min(same, first[i], first[j])
            for j, other in enumerate(arrays[:i])
            for same in [_common_prefix(sequence, other)]
        ]
        most = max(shared, default=0)
        # The first of those with the longest shared prefix is still in its own slot at the fork.
        starts.append((shared.index(most), most - 1) if most > 1 else (None, 0))
    slots = [0] * len(sequences)
    ends: list[int] = []  # end of the sequence in each slot
    for i in sorted(range(len(sequences)), key=lambda i: (starts[i][1], i)):
        start, end = starts[i][1], len(sequences[i])
        slot = next((at for at, until in enumerate(ends) if until <= start), len(ends))
        ends[slot : slot + 1] = [end]
        slots[i] = slot
    return [Fork(parent, start, slot) for (parent, start), slot in zip(starts, slots, strict=True)]


def _common_prefix(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> int:
    """Length of the common prefix of two sequences."""
    most = min(len(first), len(second))
    different = np.flatnonzero(first[:most] != second[:most])
    return int(different[0]) if len(different) else most
