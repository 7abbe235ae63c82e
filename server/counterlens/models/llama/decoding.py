"""Exact decoding: the logits of a sequence depend on its own tokens alone, bit for bit.

The rule: a prompt is read by itself, in portions that are counted from its first token, and every generated
token is one row of its sequence. What llama.cpp computes for a call depends on nothing but the call, so this
is exact for every model file and kernel. Other work shares a call only if the kernels were seen to give a row
the same bits there (`exactness.py`): that saves time and changes no bit.
"""

from __future__ import annotations

import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, ModelError
from counterlens.models.llama.protocol import Work
from counterlens.models.llama.sequences import Row, SequenceBatch
from counterlens.models.local.completing import Logits

LEAST = 8
"""Minimum number of rows of a portion of a prompt that is not shorter: kernels differ for fewer rows."""

_PORTION = 112
_ANCHORED = 32  # smaller, since a shared prefix ends with a whole portion
_NOTHING: npt.NDArray[np.int32] = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class SharedCalls:
    """What may share a call of llama.cpp without changing a bit.

    Attributes:
        width: Maximum number of sequences whose next tokens are rows of one call; 1 if none may.
        free: Whether a prompt may be read in any portions of at least `LEAST` rows.
    """

    width: int = 1
    free: bool = False

    @property
    def portion(self) -> int:
        """Rows of a portion of a prompt; the last one has up to `LEAST` - 1 more."""
        return _PORTION if self.free else _ANCHORED


ALONE = SharedCalls()
"""Nothing shares a call: exact by construction."""


@dataclass(slots=True)
class _Slot:
    """A sequence of the batch.

    Attributes:
        tokens: Its content.
        prompt: Number of its first tokens that were read in portions.
        unread: The rest of its prompt, which is still to be read.
        logits: Those after its prompt, (vocabulary,) float32, for equal prompts; None if it is not read.
        which: The sequence of the decoder that is in it; None if it has ended.
        used: When it was last used.
    """

    tokens: npt.NDArray[np.int32] = field(default_factory=lambda: _NOTHING)
    prompt: int = 0
    unread: npt.NDArray[np.int32] = field(default_factory=lambda: _NOTHING)
    logits: npt.NDArray[np.float32] | None = None
    which: int | None = None
    used: int = 0


class ExactDecoder:
    """Sequences that begin and end at any time; each gets the logits that it would get alone.

    The prompts in the slots of sequences are kept: a later prompt copies the prefix that they share, and an
    equal one is not read again.

    Args:
        batch: A batch of its own.
        sequences: Maximum number of sequences at a time.
        room: Maximum number of tokens of a sequence.
        work: Counts what is decoded.
    """

    def __init__(
        self,
        batch: SequenceBatch,
        calls: SharedCalls,
        sequences: int,
        room: int,
        work: Work | None = None,
    ) -> None:
        self._batch, self._calls, self._work = batch, calls, work or Work()
        self._slots = [_Slot() for _ in range(sequences)]
        self._room = room
        batch.start([room] * sequences)
        self._clock = 0

    @property
    def free(self) -> int:
        """Number of sequences that may begin."""
        return sum(slot.which is None for slot in self._slots)

    @property
    def sequences(self) -> int:
        """Maximum number of sequences at a time."""
        return len(self._slots)

    @property
    def size(self) -> int:
        """Number of tokens for which it has room."""
        return len(self._slots) * self._room

    def widen(self, sequences: int) -> bool:
        """Make room for more sequences at a time; those that there are go on as they were.

        Returns, raises:
            As `SequenceBatch.widen`.
        """
        widened = self._batch.widen(sequences)
        self._slots += [_Slot() for _ in range(sequences - len(self._slots)) if widened]
        return widened

    def left(self, which: int) -> int:
        """Number of tokens of the prompt of a sequence that are still to be read."""
        return sum(len(slot.unread) for slot in self._slots if slot.which == which)

    def unread(self, tokens: npt.NDArray[np.int32]) -> int:
        """Number of tokens of a prompt that would have to be read if it began now."""
        return len(tokens) - max((self._shared(slot, tokens) for slot in self._slots), default=0)

    def waits(self, tokens: npt.NDArray[np.int32]) -> bool:
        """Whether a prompt begins with tokens that a sequence of another one is about to read."""
        return any(
            len(slot.unread)
            and _common(np.concatenate([slot.tokens, slot.unread]), tokens) >= len(slot.tokens) + LEAST
            for slot in self._slots
        )

    def begin(self, which: int, tokens: npt.NDArray[np.int32]) -> None:
        """Begin a sequence.

        Args:
            which: Its number.
            tokens: Its prompt, at least one token; there is a `free` slot.
        """
        at, seq_id = self._fork(tokens)
        slot = self._slots[seq_id]
        slot.which, slot.unread = which, tokens[at:]

    def read(self, which: int) -> npt.NDArray[np.float32] | None:
        """Read a portion of the prompt of a sequence that has begun.

        Returns:
            The logits after its last token, (vocabulary,) float32, which the next call overwrites; None if
            there is more to read.

        Raises:
            Cancelled, ModelError: as `SequenceBatch.decode`; all sequences are lost.
        """
        seq_id, slot = next((i, slot) for i, slot in enumerate(self._slots) if slot.which == which)
        if slot.logits is not None:
            return slot.logits.copy()
        # A rest of fewer than `LEAST` rows would get other kernels, so it is read with the portion before it.
        size = self._calls.portion if len(slot.unread) >= self._calls.portion + LEAST else len(slot.unread)
        portion, slot.unread = slot.unread[:size], slot.unread[size:]
        is_last = not len(slot.unread)
        rows = [Row(seq_id, int(token), wanted=False) for token in portion]
        rows[-1] = replace(rows[-1], wanted=is_last)
        begun = time.process_time()
        logits = self._decode(rows)
        self._work.add_read(size, time.process_time() - begun)
        slot.tokens = np.concatenate([slot.tokens, portion])
        slot.prompt = len(slot.tokens)
        self._touch(slot)
        if is_last:
            slot.logits = logits[0].copy()
        return logits[0] if is_last else None

    def step(self, tokens: Mapping[int, int]) -> Logits:
        """Append a token to each of some sequences whose prompts were read.

        Raises:
            Cancelled, ModelError: as `read`.
        """
        if self._calls.width > 1:
            self._close_gaps(tokens)
        live = [
            (which, i, slot)
            for i, slot in enumerate(self._slots)
            if (which := slot.which) is not None and which in tokens
        ]
        # Calls of equal width: a call of few rows takes nearly as long as a full one.
        count = -(-len(live) // self._calls.width)
        begun = time.process_time()
        edges = [len(live) * i // count for i in range(count + 1)]
        last: Logits = {}
        for low, high in pairwise(edges):
            part = live[low:high]
            logits = self._decode([Row(seq_id, tokens[which], wanted=True) for which, seq_id, _ in part])
            for (which, _, _), row in zip(part, logits, strict=True):
                last[which] = row.copy() if count > 1 else row  # the next call overwrites the view
        self._work.add_steps(count, len(live), time.process_time() - begun)
        return last

    def end(self, which: int) -> None:
        """End a sequence; its slot is free again."""
        for slot in self._slots:
            if slot.which == which:
                slot.which, slot.unread = None, _NOTHING

    def _fork(self, tokens: npt.NDArray[np.int32]) -> tuple[int, int]:
        """A free slot that holds the longest usable prefix of a prompt, and the length of that prefix."""
        shared = [self._shared(slot, tokens) for slot in self._slots]
        free = [i for i, slot in enumerate(self._slots) if slot.which is None]
        source = max(range(len(shared)), key=lambda i: (shared[i], i in free))  # no copy if it is free
        at = shared[source]
        self._touch(self._slots[source])
        target = source
        # A slot that is in use, or knows more of its prompt than is shared, stays as it is, and is copied.
        if source not in free or at < self._slots[source].prompt:
            target = self._replaceable()
            if at and target != source:
                self._batch.copy(source, target)
        self._batch.cut(target, at)
        slot = self._slots[target]
        logits = self._slots[source].logits if at == len(tokens) else None
        slot.tokens, slot.prompt, slot.logits = tokens[:at], at, logits
        return at, target

    def _shared(self, slot: _Slot, tokens: npt.NDArray[np.int32]) -> int:
        """Number of first tokens of a slot with the bits that a prompt would get for them."""
        if not self._batch.keeps_prefixes:
            return 0
        if slot.logits is not None and np.array_equal(slot.tokens, tokens):
            return len(tokens)
        # Of a slot's tokens those that were generated have the bits of single rows, and a prompt's have those
        # of portions; and a portion of at least `LEAST` rows must be left to read.
        most = min(slot.prompt, len(tokens)) - LEAST
        if most <= 0:
            return 0
        at = _common(slot.tokens[:most], tokens[:most])
        return at if self._calls.free else at - at % self._calls.portion

    def _is_repeated(self, at: int) -> bool:
        """Whether other slots hold all that a slot has of its prompt."""
        tokens = self._slots[at].tokens
        others = self._slots[:at] + self._slots[at + 1 :]
        return any(np.array_equal(tokens, other.tokens[: len(tokens)]) for other in others)

    def _touch(self, slot: _Slot) -> None:
        """Note that a slot was used."""
        self._clock += 1
        slot.used = self._clock

    def _close_gaps(self, stepping: Container[int]) -> None:
        """Move sequences to free slots before them: llama.cpp splits a call with gaps into several."""
        live = [i for i, slot in enumerate(self._slots) if slot.which in stepping]
        for target in range(len(live)):
            if self._slots[target].which is None:
                self._move(target, self._replaceable())
                self._move(live.pop(), target)

    def _move(self, source: int, target: int) -> None:
        if source != target:
            self._batch.copy(source, target)
            self._slots[target], self._slots[source] = self._slots[source], _Slot()
            self._batch.cut(source, 0)

    def _replaceable(self) -> int:
        """The free slot whose prompt is replaced first: others hold it, too, or it was unused the longest."""
        free = [i for i, slot in enumerate(self._slots) if slot.which is None]
        return min(free, key=lambda i: (not self._is_repeated(i), self._slots[i].used, i))

    def _decode(self, rows: Sequence[Row]) -> npt.NDArray[np.float32]:
        try:
            return self._batch.decode(rows)
        except (Cancelled, ModelError):  # the batch has forgotten all, also what was finished
            self._slots = [_Slot() for _ in self._slots]
            raise

    def close(self) -> None:
        """Free the memory."""
        self._batch.close()


def _common(first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]) -> int:
    """Length of the common beginning."""
    length = min(len(first), len(second))
    different = first[:length] != second[:length]
    return int(different.argmax()) if different.any() else length
