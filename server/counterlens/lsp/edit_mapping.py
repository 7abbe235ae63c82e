"""Maps byte ranges of an older version of a text to a newer one, unless the edit touched them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class OffsetMap:
    """Maps ranges of a text over one edit.

    Attributes:
        first: First byte at which the two texts differ.
        last: Byte of the old text from which it equals the end of the new text.
        shift: Offset from `last` to the same byte of the new text.
    """

    new: bytes
    first: int
    last: int
    shift: int

    @classmethod
    def between(cls, old: bytes, new: bytes) -> OffsetMap:
        """The smallest single edit that turns the old text into the new one."""
        most = min(len(old), len(new))
        first = _common(old[:most], new[:most])
        tail = most - first
        same = _common(old[len(old) - tail :][::-1], new[len(new) - tail :][::-1])
        return cls(new, first, len(old) - same, len(new) - len(old))

    def moved(self, start: int, end: int) -> tuple[int, int] | None:
        """Map a range of the old text to the new one; None if the edit touched it."""
        if end <= self.first:
            span = start, end
        elif start >= self.last:
            span = start + self.shift, end + self.shift
        else:
            return None
        return None if any(_in_word(self.new, edge) for edge in span) else span


def _in_word(data: bytes, at: int) -> bool:
    """Whether a place is inside a word, for example because the edit extended the word before it."""
    return at > 0 and all(char.isalnum() or char == b"_" for char in (data[at - 1 : at], data[at : at + 1]))


def _common(text: bytes, other: bytes) -> int:
    """The length of the common prefix of two texts of equal length, in bytes."""
    different = np.flatnonzero(np.frombuffer(text, np.uint8) != np.frombuffer(other, np.uint8))
    return int(different[0]) if len(different) else len(text)
