"""Exact decoding: the logits of a sequence depend on its own tokens alone, bit for bit.

The rule: a prompt is read by itself, in portions that are counted from its first token, and every generated
token is one row of its sequence. What llama.cpp computes for a call depends on nothing but the call, so this
is exact for every model file and kernel. Other work shares a call only if the kernels were seen to give a row
the same bits there (`exactness.py`): that saves time and changes no bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, ModelError
from counterlens.models.llama.sequences import MOST, Row, SequenceBatch
from counterlens.models.local.completing import Logits

LEAST = 8
"""Minimum number of rows of a portion of a prompt that is not shorter: kernels differ for fewer rows."""

APART = 4
"""Maximum number of rows that cost more in one call than in calls of their own (a matrix times a vector)."""

_SPARE = 8  # slots that are opened for prompts to come
_PORTION = 112
_ANCHORED = 32  # smaller, since a shared prefix ends with a whole portion


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
        which: The sequence of the decoder that is in it; None if it has ended.
        used: When it was last used.
    """

    tokens: list[int] = field(default_factory=list)
    prompt: int = 0
    which: int | None = None
    used: int = 0


class ExactDecoder:
    """Sequences that begin and end at any time; each gets the logits that it would get alone.

    The prompts in the slots of ended sequences are kept: a later prompt copies the prefix that they share.
    """

    def __init__(self, batch: SequenceBatch, calls: SharedCalls) -> None:
        self._batch, self.calls = batch, calls
        self._slots: list[_Slot] = []
        self._room = 0
        self._clock = 0

    def open(self, needs: Sequence[int]) -> None:
        """Make room for sequences of `needs` tokens, as many of the first ones as fit; none may be live."""
        room = max(needs)
        slots = next(
            n for n in range(min(MOST, max(len(needs), _SPARE)), 0, -1) if self._batch.fits(n, room) or n == 1
        )
        if not self._batch.claim(self) or room > self._room or slots > len(self._slots):
            self._batch.start([room] * slots)
            self._room = self._batch.room
            self._slots = [_Slot() for _ in range(slots)]

    def fits(self, need: int) -> bool:
        """Whether there is a slot for a sequence of `need` tokens; never before `open`."""
        return need <= self._room and any(slot.which is None for slot in self._slots)

    def read(self, which: int, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        """Begin a sequence.

        Args:
            which: Its number.
            tokens: Its prompt, at least one token; it `fits`.

        Returns:
            The logits after its last token, (vocabulary,) float32; the next call overwrites them.

        Raises:
            Cancelled, ModelError: as `SequenceBatch.decode`; all sequences are lost.
        """
        at, seq_id = self._fork(tokens)
        slot = self._slots[seq_id]
        logits = np.empty((0, 0), np.float32)
        for low, high in _portions(at, len(tokens), self.calls.portion):
            rows = [
                Row(seq_id, token, wanted=i + 1 == len(tokens))
                for i, token in enumerate(tokens[low:high], low)
            ]
            logits = self._decode(rows)
            slot.prompt = high
        slot.which, self._clock = which, self._clock + 1
        slot.tokens, slot.used = list(tokens), self._clock
        last: npt.NDArray[np.float32] = logits[0]
        return last

    def step(self, tokens: Mapping[int, int]) -> Logits:
        """Append a token to each live sequence.

        Raises:
            Cancelled, ModelError: as `read`.
        """
        together = self.calls.width > 1 and len(tokens) > APART
        if together:
            self._close_gaps()
        live = [(which, i, slot) for i, slot in enumerate(self._slots) if (which := slot.which) is not None]
        live = [each for each in live if each[0] in tokens]
        count = -(-len(live) // self.calls.width) if together else len(live)
        edges = [len(live) * i // count for i in range(count + 1)]
        last: Logits = {}
        for low, high in pairwise(edges):
            part = live[low:high]
            logits = self._decode([Row(seq_id, tokens[which], wanted=True) for which, seq_id, _ in part])
            for (which, _, slot), row in zip(part, logits, strict=True):
                slot.tokens.append(tokens[which])
                last[which] = row.copy() if count > 1 else row
        return last

    def end(self, which: int) -> None:
        """End a sequence; its slot is free again."""
        for slot in self._slots:
            if slot.which == which:
                slot.which = None

    def _fork(self, tokens: Sequence[int]) -> tuple[int, int]:
        """A free slot that holds the longest usable prefix of a prompt, and the length of that prefix."""
        shared = [self._shared(slot, tokens) for slot in self._slots]
        free = [i for i, slot in enumerate(self._slots) if slot.which is None]
        source = max(range(len(shared)), key=lambda i: (shared[i], i in free))
        at = shared[source]
        if source in free and (at or not self._slots[source].tokens):
            target = source
        else:
            target = min(free, key=lambda i: (self._slots[i].used, i))
            if at:
                self._batch.copy(source, target)
        self._batch.cut(target, at)
        slot = self._slots[target]
        slot.tokens, slot.prompt = list(tokens[:at]), at
        return at, target

    def _shared(self, slot: _Slot, tokens: Sequence[int]) -> int:
        """Number of first tokens of a slot with the bits that a prompt would get for them."""
        if not self._batch.keeps_prefixes or slot.prompt < LEAST:
            return 0
        most = min(slot.prompt, len(tokens)) - LEAST
        pairs = zip(slot.tokens[: slot.prompt], tokens, strict=False)
        at = next((i for i, (a, b) in enumerate(pairs) if a != b or i >= most), max(0, most))
        return max(0, at if self.calls.free else at - at % self.calls.portion)

    def _close_gaps(self) -> None:
        """Move live sequences to the front: llama.cpp splits a call with gaps into several."""
        live = [i for i, slot in enumerate(self._slots) if slot.which is not None]
        for target in range(len(live)):
            if self._slots[target].which is None:
                source = live.pop()
                self._batch.copy(source, target)
                self._slots[target], self._slots[source] = self._slots[source], _Slot()
                self._batch.cut(source, 0)

    def _decode(self, rows: Sequence[Row]) -> npt.NDArray[np.float32]:
        try:
            return self._batch.decode(rows)
        except (Cancelled, ModelError):
            self._slots = [_Slot() for _ in self._slots]
            raise


def _portions(start: int, end: int, size: int) -> list[tuple[int, int]]:
    """Portions of `size` tokens, and a last one of at least `LEAST` if there are as many."""
    edges = [start, *range(start + size, end - LEAST + 1, size), end]
    return list(pairwise(edges))
