"""Edits of a source: a byte range and its new text."""

from __future__ import annotations

Edit = tuple[int, int, str]
"""First byte to replace, the byte after the last, and the replacement."""


def smallest_edit(before: bytes, after: bytes) -> Edit:
    """The smallest range of whole lines that differs between two texts, and its new text."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    most = min(len(old), len(new))
    first = next((at for at in range(most) if old[at] != new[at]), most)
    last = next((at for at in range(most - first) if old[-1 - at] != new[-1 - at]), most - first)
    start = sum(map(len, old[:first]))
    end = len(before) - sum(map(len, old[len(old) - last :]))
    return start, end, b"".join(new[first : len(new) - last]).decode("utf-8", "surrogatepass")


def shift_edit(edit: Edit, shift: int) -> Edit:
    """The same edit in a text where its place is so many bytes later."""
    start, end, text = edit
    return start + shift, end + shift, text


def apply_edit(data: bytes, edit: Edit) -> str:
    """A text with an edit."""
    start, end, text = edit
    return (data[:start] + text.encode("utf-8", "surrogatepass") + data[end:]).decode("utf-8", "replace")
