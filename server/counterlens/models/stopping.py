"""Where a completion ends: the stop rule, the same for every back end."""

from __future__ import annotations

from counterlens.models.base import Stop

_TRIPLES = ('"""', "'''")


def cut(text: str, stop: Stop, *, at_line_start: bool = False) -> str | None:
    """Apply a stop rule to a completion that may still be growing.

    Lines inside brackets and triple-quoted strings never end a block, and neither do comments.

    Args:
        text: What the model has written so far.
        stop: The rule.
        at_line_start: Whether the prompt ended at the start of a line, so that the first line of `text`
            is a whole one.

    Returns:
        The text up to the stop, or None when the rule does not apply yet.
    """
    found = [at for phrase in stop.texts if (at := text.find(phrase)) >= 0]
    if stop.indent is not None:
        end = _block_end(text, stop.indent, at_line_start=at_line_start)
        if end is not None:
            found.append(end)
    return text[: min(found)] if found else None


def _block_end(text: str, indent: int, *, at_line_start: bool) -> int | None:
    """The offset of the first line of code indented no deeper than `indent`, if it is there already."""
    at, depth, quote = 0, 0, ""
    fresh = at_line_start
    while at < len(text):
        if fresh and not quote and depth <= 0:
            column, code = _leading_columns(text, at)
            if code >= len(text):
                return None  # a line whose first character is still to come
            if text[code] not in "\r\n#" and column <= indent:
                return at
        fresh = False
        char = text[at]
        if quote:
            if char == "\\":
                at += 2
                continue
            if text.startswith(quote, at):
                at += len(quote)
                quote = ""
                continue
            if char == "\n" and len(quote) == 1:
                quote, fresh = "", True  # an unterminated string cannot swallow the rest
        elif char == "#":
            line = text.find("\n", at)
            if line < 0:
                return None
            at = line
            continue
        elif char in "\"'":
            quote = text[at : at + 3] if text[at : at + 3] in _TRIPLES else char
            at += len(quote)
            continue
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "\\":
            at += 2
            continue
        elif char == "\n":
            fresh = True
        at += 1
    return None


def _leading_columns(text: str, at: int) -> tuple[int, int]:
    """The column and the offset of the first character of the line at `at` that is not a blank."""
    column = 0
    while at < len(text) and text[at] in " \t\f":
        column = (column // 8 + 1) * 8 if text[at] == "\t" else column + 1
        at += 1
    return column, at
