"""The differences between one source and its counterfactuals as lines, in time that depends on their size.

`difflib` reads both texts anew for each difference, which takes a minute for the thousands of counterfactuals
of a long file. Here the edits say which lines to compare. The result is that of `difflib`, line for line:
lines in place are skipped only if it is certain that `difflib` aligns them with themselves.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from difflib import SequenceMatcher
from itertools import accumulate, pairwise
from typing import Literal

from counterlens.mutations.base import Counterfactual

_CONTEXT = 2  # lines shown around a difference
_Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]
_SHORT = 200  # lines; in a shorter text, `difflib` takes no line for a frequent one


class LineDifferences:
    """The differences between a source and its counterfactuals."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines()
        self._counts = Counter(self._lines)
        self._unique = {line: at for at, line in enumerate(self._lines) if self._counts[line] == 1}
        self._runs: dict[int, _Runs] = {}
        # Edits are looked up by the line feeds before them: `splitlines` also splits at other characters.
        rows = source.split("\n")
        self._starts = [0, *accumulate(len(row.encode()) + 1 for row in rows)]
        self._first = [0, *accumulate(len(f"{row}\n".splitlines()) for row in rows)]

    def of(self, made: Counterfactual) -> tuple[str, ...]:
        """The difference of the source and a counterfactual of it, unified, without file headers."""
        rendered = made.rendered
        if not rendered.changes:
            return ()
        start, end = rendered.changes[0].original[0], max(change.original[1] for change in rendered.changes)
        first, last = bisect_right(self._starts, start) - 1, bisect_right(self._starts, end)
        data, rest = rendered.data, max(len(made.original) - self._starts[last], 0)
        new = data[self._starts[first] : len(data) - rest].decode().splitlines()
        top, bottom = self._first[first], min(self._first[last], len(self._lines))
        after = [*self._lines[:top], *new, *self._lines[bottom:]]
        return tuple(self._unified(after, top, len(self._lines) - bottom))

    def _unified(self, after: list[str], head: int, tail: int) -> Iterator[str]:
        """The difference of the source and a text that has the same lines at the start and at the end."""
        before = self._lines
        often = len(after) // 100 + 1 if len(after) >= _SHORT else len(after)  # a frequent line occurs more
        head, tail, counts = self._skipped(after, head, tail, often)
        old, new = before[head : len(before) - tail], after[head : len(after) - tail]
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        places: dict[str, list[int]] = matcher.b2j  # type: ignore[attr-defined]  # documented, not declared
        for line in [line for line in places if counts.get(line, self._counts[line]) > often]:
            del places[line]
        first: list[_Opcode] = [("equal", 0, head, 0, head)] if head else []
        inner: list[_Opcode] = [
            (tag, i + head, j + head, k + head, m + head) for tag, i, j, k, m in matcher.get_opcodes()
        ]
        ends = (len(before) - tail, len(before), len(after) - tail, len(after))
        last: list[_Opcode] = [("equal", *ends)] if tail else []
        for group in _Aligned([*first, *inner, *last]).get_grouped_opcodes(_CONTEXT):
            (_, top, _, new_top, _), (_, _, bottom, _, new_bottom) = group[0], group[-1]
            yield f"@@ -{_range(top, bottom)} +{_range(new_top, new_bottom)} @@"
            for tag, low, high, new_low, new_high in group:
                if tag == "equal":
                    yield from (f" {line}" for line in before[low:high])
                else:
                    yield from (f"-{line}" for line in before[low:high])
                    yield from (f"+{line}" for line in after[new_low:new_high])

    def _skipped(self, after: list[str], head: int, tail: int, often: int) -> tuple[int, int, dict[str, int]]:
        """The numbers of lines at the start and at the end that need not be compared.

        `difflib` first aligns the block with the longest run of lines that are not frequent in the new text;
        then, in the same way, what is before it and what is behind it. The lines at the start, or those at
        the end, are that block if they have a longer run than all blocks that align a line with another: they
        hold no line that is unique in both texts.

        Returns:
            These, and how often the lines between them occur in the new text.
        """
        before, shorter = self._lines, min(len(self._lines), len(after))
        while head < shorter and before[head] == after[head]:
            head += 1
        while tail < shorter and before[-1 - tail] == after[-1 - tail]:
            tail += 1
        if often not in self._runs:
            self._runs[often] = _Runs([self._counts[line] > often for line in before], self._unique.values())
        runs = self._runs[often]
        if runs.before[head] >= runs.behind[-1 - tail]:
            tail = min(tail, shorter - head)
        else:
            head = min(head, shorter - tail)
        old, new = Counter(before[head : len(before) - tail]), Counter(after[head : len(after) - tail])
        counts = {line: self._counts[line] - old[line] + new[line] for line in old | new}
        if any((count > often) != (self._counts[line] > often) for line, count in counts.items()):
            return 0, 0, counts
        other = runs.longest_without({self._unique[line] for line in counts if line in self._unique})
        return head * (runs.before[head] > other), tail * (runs.behind[-1 - tail] > other), counts


class _Aligned(SequenceMatcher[str]):
    """An alignment that is known."""

    def __init__(self, opcodes: list[_Opcode]) -> None:
        super().__init__()
        self._opcodes = opcodes

    def get_opcodes(self) -> list[_Opcode]:
        """The alignment."""
        return self._opcodes


class _Runs:
    """The runs of lines of a text that are not frequent.

    Attributes:
        before: The length of the longest run before each line, and in the whole text.
        behind: The length of the longest run from each line on, and behind the last one.

    Args:
        frequent: Whether each line is frequent.
        unique: The indices of lines that occur once.
    """

    def __init__(self, frequent: Sequence[bool], unique: Iterable[int]) -> None:
        self.before = _longest_runs(frequent)
        self.behind = _longest_runs(frequent[::-1])[::-1]
        once = set(unique)
        known = (at for at, often in enumerate(frequent) if often or at in once)
        self._bounds = [-1, *known, len(frequent)]
        self._longest = max(end - start - 1 for start, end in pairwise(self._bounds))

    def longest_without(self, moved: Set[int]) -> int:
        """A bound on the length of runs without unique lines, if some of these may occur elsewhere."""
        longest, bounds = self._longest, self._bounds
        for at in moved:
            start = end = bisect_left(bounds, at)
            while bounds[start] in moved:
                start -= 1
            while bounds[end] in moved:
                end += 1
            longest = max(longest, bounds[end] - bounds[start] - 1)
        return longest


def _longest_runs(frequent: Sequence[bool]) -> list[int]:
    """The length of the longest run of infrequent lines before each line, and in all."""
    runs = accumulate(frequent, lambda run, often: 0 if often else run + 1, initial=0)
    return list(accumulate(runs, max))


def _range(start: int, end: int) -> str:
    """A range of lines, as in the heading of a unified difference."""
    length = end - start
    return str(start + 1) if length == 1 else f"{start + (length > 0)},{length}"
