"""The end of a completion: the stop rule, the same for every back end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from counterlens.models.base import Stop

# An unterminated string ends with its line, an unterminated triple-quoted one with the text.
_LEXEME = re.compile(
    r"""(?P<string> '''(?:\\.|[^\\])*?(?:'''|\Z) | \"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z)
          | '(?:\\.|[^\\'\n])*(?:'|$) | "(?:\\.|[^\\"\n])*(?:"|$) )
      | (?P<comment> \#[^\n]* )
      | (?P<open> [(\[{] )
      | (?P<close> [)\]}] )
      | (?P<joined> \\\r?\n )
      | (?P<newline> \n )""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
# For languages with braces. An unterminated string ends with its line, an unterminated comment with the text.
_BRACED = re.compile(
    r"""(?P<text> \"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z)
          | "(?:\\.|[^"\\\n])*(?:"|$) | '(?:\\.|[^'\\\n])*(?:'|$) )
      | (?P<comment> //[^\n]* | /\*.*?(?:\*/|\Z) )
      | (?P<open> \{ )
      | (?P<close> \} )""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_LEADING = re.compile(r"[ \t\f]*")
_PIECES, _LONGEST_REPEATED = 4, 1024


def cut(text: str, stop: Stop, *, at_line_start: bool = False) -> str | None:
    """Apply a stop rule to a completion that may still be growing.

    Lines inside brackets and triple-quoted strings never end a block. Neither do comments, but comments
    between the block's last line and the line that ends it are not part of the block.

    Args:
        text: The model's text so far.
        at_line_start: Whether the prompt ended at the start of a line, so that the first line of `text` is a
            whole line.

    Returns:
        The text up to the stop, or None if the rule does not apply yet.
    """
    ends = [at for phrase in stop.texts if (at := text.find(phrase)) >= 0]
    if stop.indent is not None:
        end = _block_end(text, stop.indent, at_line_start=at_line_start)
        if end is not None:
            ends.append(end)
    if stop.braces is not None:
        end = _closing_brace(text, stop.braces)
        if end is not None:
            ends.append(end)
    return text[: min(ends)] if ends else None


def open_braces(text: str) -> int:
    """Number of open braces at the end of a text that begins outside strings and comments."""
    depth = 0
    for lexeme in _BRACED.finditer(text):
        depth += bool(lexeme["open"]) - bool(lexeme["close"])
    return depth


def _closing_brace(text: str, depth: int) -> int | None:
    """The end of the brace that closes the last of `depth` open ones."""
    for lexeme in _BRACED.finditer(text):
        depth += bool(lexeme["open"]) - bool(lexeme["close"])
        if not depth:
            return lexeme.end()
    return None


def _block_end(text: str, indent: int, *, at_line_start: bool) -> int | None:
    """The end of the block that `text` continues, once a line of code outside the block has begun."""
    end: int | None = None  # the first line since the block's last that may be outside the block
    for start in _logical_lines(text, at_line_start=at_line_start):
        leading = _LEADING.match(text, start)
        code = leading.end() if leading else start
        if code >= len(text):
            return None  # the line's first character is still to come
        inside = len(text[start:code].expandtabs(8)) > indent
        if text[code] in "\r\n" or (text[code] == "#" and not inside):
            end = start if end is None else end
        elif inside:
            end = None
        else:
            return start if end is None else end
    return None


def _logical_lines(text: str, *, at_line_start: bool) -> Iterator[int]:
    """The offsets of lines that do not continue a bracket, a string or a joined line."""
    if at_line_start:
        yield 0
    depth = 0
    for lexeme in _LEXEME.finditer(text):
        if lexeme["open"]:
            depth += 1
        elif lexeme["close"]:
            depth = max(0, depth - 1)
        elif lexeme["newline"] and depth == 0:
            yield lexeme.end()


def repeats_itself(text: str, least: int = 48) -> bool:
    """Whether a text ends with the same piece several times; the last one may be incomplete.

    Args:
        least: Minimum number of characters of the repetition, at most 1,024.
    """
    end = text[-_LONGEST_REPEATED:]
    for length in range(1, len(end) // _PIECES + 1):
        span = max(_PIECES * length, least)
        if span <= len(end) and end[-span:-length] == end[length - span :]:
            return True
    return False
