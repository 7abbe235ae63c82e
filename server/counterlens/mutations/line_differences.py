"""The difference between a source and a counterfactual of it, as lines."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from counterlens.mutations.base import Counterfactual

_CONTEXT = 2  # lines shown around a difference
_AROUND = 8  # lines around the edits that are compared, too: a line may be aligned with an equal one near it


def line_difference(made: Counterfactual) -> tuple[str, ...]:
    """The difference of the original and a counterfactual, unified, without file headers.

    Only the lines near the edits are compared, so a file with thousands of counterfactuals
    is not read anew for each.
    """
    rendered, before = made.rendered, made.original
    if not rendered.changes:
        return ()
    start = before.rfind(b"\n", 0, rendered.changes[0].original[0]) + 1
    end = max(change.original[1] for change in rendered.changes)
    for _ in range(_AROUND):
        start = before.rfind(b"\n", 0, max(start - 1, 0)) + 1
    for _ in range(_AROUND):
        end = before.find(b"\n", end) + 1 or len(before)
    behind = len(rendered.data) - (len(before) - end)
    old, new = before[start:end].decode().splitlines(), rendered.data[start:behind].decode().splitlines()
    return tuple(_hunks(old, new, len(before[:start].decode().splitlines())))


def _hunks(old: list[str], new: list[str], above: int) -> Iterator[str]:
    """The difference of two parts of texts that have the same lines, in number `above`, above them."""
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        (_, top, _, new_top, _), (_, _, bottom, _, new_bottom) = group[0], group[-1]
        yield f"@@ -{_range(top + above, bottom + above)} +{_range(new_top + above, new_bottom + above)} @@"
        for tag, low, high, new_low, new_high in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[low:high])
            else:
                yield from (f"-{line}" for line in old[low:high])
                yield from (f"+{line}" for line in new[new_low:new_high])


def _range(start: int, end: int) -> str:
    """A range of lines, as in the heading of a unified difference."""
    length = end - start
    return str(start + 1) if length == 1 else f"{start + (length > 0)},{length}"
