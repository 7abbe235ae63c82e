"""Scores of many texts that follow the same context: what several begin with is read once, and all in step.

What all of them begin with is held for the next call, too, which often begins alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.llama.branching import Branch, branches
from counterlens.models.llama.lanes import Lanes, Row
from counterlens.models.llama.native import Engine
from counterlens.models.llama.protocol import ScoreContinuations, Scored
from counterlens.models.llama.scoring import Rows, gathered, reduce, tokenize

_PLANNED = 64
"""Sequences that are planned together at most: a plan compares each with each."""


@dataclass
class _Sequence:
    """A context and a continuation.

    Attributes:
        tokens: Of both.
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

        different = _without_twins(sequences)
        for low in range(0, len(different), _PLANNED):
            for group in self._groups(different[low : low + _PLANNED]):
                self._read(group, k, advance)
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

    def _groups(self, sequences: list[_Sequence]) -> Iterator[_Group]:
        """Sequences that are read together: all of them, if they fit into memory, or halves of them."""
        fed = [one.tokens[:-1] for one in sequences]
        shares = self.engine.keeps_prefixes
        plan = branches(fed) if shares else [Branch(None, 0, lane) for lane in range(len(fed))]
        lanes, longest = 1 + max(one.lane for one in plan), max(len(one.tokens) for one in sequences)
        holds = shares and self.lanes.fits(lanes + 1, longest)
        if holds or len(sequences) == 1 or (not shares and self.lanes.fits(lanes, longest)):
            alike = min([one.start for one in plan[1:]], default=len(fed[0]))
            held = max(0, min(sequences[0].first - 1, alike)) if holds else 0
            self.lanes.reserve(lanes + holds, longest)
            yield _Group(sequences, fed, plan, held, int(holds))
            return
        half = len(sequences) // 2
        yield from self._groups(sequences[:half])
        yield from self._groups(sequences[half:])

    def _read(self, group: _Group, k: int, advance: Callable[[int], None]) -> None:
        """Decode some sequences in step; what each of them scores is added to its rows."""
        at = group.held
        if at:
            self.lanes.hold(group.fed[0][:at])
        waiting = sorted(range(len(group.plan)), key=lambda i: (group.plan[i].start, i))
        live: list[int] = []
        while waiting or live:
            while waiting and group.plan[waiting[0]].start <= at:
                live.append(self._begin(group, waiting.pop(0), advance))
            live = sorted((i for i in live if at < len(group.fed[i])), key=group.lane)
            if live:
                portion = max(1, self.engine.chunk // len(live))
                until = min(at + portion, group.plan[waiting[0]].start if waiting else at + portion)
                advance(self._step(group, live, at, until, k))
                at = until

    def _begin(self, group: _Group, which: int, advance: Callable[[int], None]) -> int:
        """Let a sequence take over what its parent holds, or what is held; say which it is."""
        parent, lane = group.plan[which].parent, group.lane(which)
        if parent is not None:
            self.lanes.copy(group.lane(parent), lane)
            group.sequences[which].rows = list(group.sequences[parent].rows)
            advance(sum(len(rows.logprob) for rows in group.sequences[which].rows))
        elif group.held:
            self.lanes.copy(0, lane)
        else:
            self.lanes.cut(lane, 0)
        return which

    def _step(self, group: _Group, live: list[int], at: int, until: int, k: int) -> int:
        """Decode the tokens of some sequences from one place to another, and say how many were scored."""
        rows = [
            Row(group.lane(i), token, wanted=place + 1 >= group.sequences[i].first)
            for i in live
            for place, token in enumerate(group.fed[i][at:until], at)
        ]
        logits = self.lanes.decode(rows)
        used = told = 0
        for i in live:
            one = group.sequences[i]
            targets = one.tokens[max(at + 1, one.first) : until + 1]
            if targets:
                after = logits[used : used + len(targets)]
                one.rows.append(reduce(after, np.asarray(targets, np.int64), k))
                used += len(targets)
                for twin in one.twins if until >= len(group.fed[i]) else ():
                    ends = np.asarray([*targets[:-1], twin.tokens[-1]], np.int64)
                    twin.rows = [*one.rows[:-1], reduce(after, ends, k)]
                    told += sum(len(rows.logprob) for rows in twin.rows)
        return used + told


def _without_twins(sequences: list[_Sequence]) -> list[_Sequence]:
    """The sequences of which different things are decoded; each of the others becomes the twin of one."""
    found: dict[tuple[int, int, tuple[int, ...]], _Sequence] = {}
    for one in sequences:
        same = found.setdefault((one.first, one.unscored, tuple(one.tokens[:-1])), one)
        if same is not one:
            same.twins.append(one)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Group:
    """Sequences that are read together.

    Attributes:
        sequences: With their scores so far.
        fed: What is decoded of each: the logits of a token are those after the one before it, and after the
            last nothing is asked.
        plan: How each of them comes to be.
        held: How many tokens all of them take over from lane 0.
        first_lane: The lane of the plan's lane 0.
    """

    sequences: list[_Sequence]
    fed: list[list[int]]
    plan: list[Branch]
    held: int
    first_lane: int

    def lane(self, which: int) -> int:
        """Where a sequence is kept."""
        return self.first_lane + self.plan[which].lane
