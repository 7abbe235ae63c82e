"""Read the continuation of a prompt out of a chat model's reply.

Replies vary: with or without a code block, with prose around it, from the first line of the function or from
its last, indented as in the file or moved to the left margin. The steps:

1. Take the first code block, otherwise the whole reply, without reasoning in `<think>` marks.
2. Remove repeated parts of the prompt: lines are compared without their indentation, and blank lines do not
   count. A reply that repeats the whole function with changes is continued after the prompt's last line of
   code.
3. Indent it like the prompt if the right depth is certain: from the repeated lines, or because the lines
   would otherwise be outside the block to be completed.

A reply that is still growing is read up to its last whole line, and not at all while it may still be a
repetition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from counterlens.models import healing

_OPENING = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n", re.M)
_INLINE = re.compile(r"^[ \t]*(`{3,})([^\n`]+)\1[ \t]*$", re.M)
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S)
_UNOPENED = re.compile(r"\A(?:(?!<think).)*?</think(?:ing)?>", re.S)  # the template has begun the reasoning
_QUOTES = ('"""', "'''")
_BRANCHES = ("else", "elif", "except", "finally")  # they may end a block
_DEFINITIONS = ("def ", "async def ", "class ", "@")  # at the margin: another function, not this one's body
_STEP = "    "


@dataclass(frozen=True, slots=True)
class Block:
    """A code block: its content, and whether it is complete."""

    code: str
    closed: bool


@dataclass(frozen=True, slots=True)
class _Line:
    """A non-blank line: its start and end in its text, its indentation, its content."""

    start: int
    end: int
    indent: str
    content: str


def first_block(reply: str) -> Block | None:
    """The first code block of a reply, complete or not."""
    reply = _THOUGHT.sub("", reply)
    opening = _OPENING.search(reply)
    inline = _INLINE.search(reply)
    if inline and (opening is None or inline.start() < opening.start()):
        return Block(inline[2].strip(), closed=True)
    if opening is None:
        return None
    fence = opening[1]
    closing = re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.M)
    end = closing.search(reply, opening.end())
    return Block(reply[opening.end() : end.start() if end else len(reply)], end is not None)


def without_thought(reply: str) -> str:
    """A reply without the reasoning before it; empty if the reasoning has not ended."""
    return _THOUGHT.sub("", _UNOPENED.sub("", reply))


def still_thinks(reply: str) -> bool:
    """Whether the reasoning of a reply has begun and not ended."""
    thought = _THOUGHT.match(reply)
    return thought is not None and not thought[0].rstrip().endswith(("</think>", "</thinking>"))


def continuation(reply: str, prompt: str, indent: int | None, *, complete: bool) -> str | None:
    """The continuation of a prompt in a reply.

    Args:
        reply: The reply so far.
        prompt: The whole prompt.
        indent: The column of the header of the block to be completed, if known.
        complete: Whether the reply is complete.

    Returns:
        The text, or None if it is too early to decide.
    """
    reply = reply.replace("\r\n", "\n")
    block = first_block(reply)
    if block is None and not complete:
        return None  # prose before the code, or code without a block: its beginning does not show which
    complete = complete or (block is not None and block.closed)
    code = block.code if block else _THOUGHT.sub("", reply)
    if not complete:
        code = code[: code.rfind("\n") + 1]
    lines = _lines(code)
    code = code[lines[0].start :] if lines else ""
    head, gap = healing.split(prompt)
    whole_lines = healing.breaks_line(gap) or not head.strip()
    rest = _after_repetition(code, head, whole_lines=whole_lines, complete=complete)
    if rest is None:
        return None
    text, aligned, joined = rest
    if not complete and len(_lines(text)) < 2:  # the second line determines the meaning of the first
        return None
    if not head.strip():
        return text
    # whether code after a prompt that ends within a line belongs on the next line
    if joined or (not whole_lines and not (head.endswith(":") or text[:1] in (" ", "\t"))):
        return text.lstrip(" \t") if gap else text
    if not aligned:
        text = _indent_to_fit(text, head, gap if whole_lines else "", indent)
    return healing.reconcile(gap, "\n" + text)


def _after_repetition(
    code: str, head: str, *, whole_lines: bool, complete: bool
) -> tuple[str, bool, bool] | None:
    """The code without repetitions; whether its depth is known from them; whether it continues the line.

    None if it is too early to decide.
    """
    reply_lines, head_lines = _lines(code), _lines(head)
    if not reply_lines or not head_lines:
        return (code, False, False) if complete else None
    last = head_lines[-1]
    for count in range(min(len(reply_lines), len(head_lines)), 0, -1):
        if _repeats(reply_lines[:count], head_lines[-count:], partly=not whole_lines):
            end = reply_lines[count - 1]
            rest = end.content[len(last.content) :]
            if rest.strip():
                return rest + code[end.end :], True, True
            following = code[end.end :].removeprefix("\n")
            if not _lines(following) and not complete:
                return None
            return _shift(following, end.indent, last, sure=count > 1), True, False
    if not complete and any(
        _repeats(reply_lines, head_lines[at : at + len(reply_lines)]) for at in range(len(head_lines))
    ):
        return None
    if any(
        line.content == reply_lines[0].content and len(line.indent) < len(last.indent) for line in head_lines
    ):
        return _after_rewrite(code, reply_lines, head_lines, complete=complete)
    if reply_lines[0].content in {
        line.content for line in head_lines if line.content.startswith(_DEFINITIONS)
    }:
        return _after_rewrite(code, reply_lines, head_lines, complete=complete)
    return code, False, False


def _after_rewrite(
    code: str, reply_lines: list[_Line], head_lines: list[_Line], *, complete: bool
) -> tuple[str, bool, bool] | None:
    """Like `_after_repetition`, for code that repeats the function from its start with changes."""
    again = [line for line in reply_lines if line.content == head_lines[-1].content]
    if len(again) == 1:
        following = code[again[0].end :].removeprefix("\n")
        return _shift(following, again[0].indent, head_lines[-1], sure=True), True, False
    if not complete:
        return None
    reply_lines, head_lines = _without_words(reply_lines), _without_words(head_lines)
    for count in range(min(len(reply_lines), len(head_lines)), 0, -1):
        if _repeats(reply_lines[:count], head_lines[-count:]):
            following = code[reply_lines[count - 1].end :].removeprefix("\n")
            return _shift(following, reply_lines[count - 1].indent, head_lines[-1], sure=True), True, False
    return code, True, False  # another version of the function, not a continuation


def _without_words(lines: list[_Line]) -> list[_Line]:
    """The lines that are neither comments nor part of a docstring."""
    code, quote = [], ""
    for line in lines:
        if quote:
            quote = "" if quote in line.content else quote
        elif line.content[:3] in _QUOTES:
            quote = "" if line.content[:3] in line.content[3:] else line.content[:3]
        elif not line.content.startswith("#"):
            code.append(line)
    return code


def _repeats(reply_lines: list[_Line], head_lines: list[_Line], *, partly: bool = False) -> bool:
    """Whether lines repeat others; `partly`: the last one may be longer."""
    if len(reply_lines) != len(head_lines):
        return False
    pairs = list(zip(reply_lines, head_lines, strict=True))
    whole = pairs[:-1] if partly else pairs
    if any(line.content != head_line.content for line, head_line in whole):
        return False
    return not partly or reply_lines[-1].content.startswith(head_lines[-1].content)


def _shift(text: str, given: str, last: _Line, *, sure: bool) -> str:
    """Lines moved like the repeated line before them, from the indentation `given` to the prompt's.

    If only the first line lost its indentation, it shows nothing about the others (`sure` is then False).
    """
    lines = _lines(text)
    if not lines or given == last.indent:
        return text
    if not sure and not given and not _moved_as_one(last, lines[0]):
        return text
    if last.indent.endswith(given):
        return _add_prefix(text, last.indent[: len(last.indent) - len(given)])
    extra = given.removesuffix(last.indent)
    if extra != given and all(line.indent.startswith(extra) for line in lines):
        return "".join(line.removeprefix(extra) for line in text.splitlines(keepends=True))
    return text


def _moved_as_one(first: _Line, second: _Line) -> bool:
    """Whether the next line lost the same indentation as a line at the margin that belongs at `first`."""
    if first.content.endswith(":"):
        return len(second.indent) <= len(first.indent)
    return not second.indent


def _indent_to_fit(text: str, head: str, gap: str, indent: int | None) -> str:
    """The text at the depth that the prompt requires, if it certainly has another one."""
    lines = _lines(text)
    if not lines:
        return text
    last = _lines(head)[-1]
    opened = last.content.endswith(":")
    first = lines[0]
    least = len(last.indent.expandtabs(8)) if opened else -1
    if indent is not None and not opened:
        least = indent
    if len(first.indent.expandtabs(8)) > least or first.content.startswith(_BRANCHES + _DEFINITIONS):
        return text
    wanted = re.split(r"[\r\n]", gap)[-1] or last.indent + (_one_indent(head) if opened else "")
    if first.indent:
        added = wanted.removesuffix(first.indent)
        return _deepen(text, added, indent) if added != wanted else text
    expected = _Line(0, 0, wanted, first.content)
    if len(lines) == 1 or _moved_as_one(expected, lines[1]):
        return _add_prefix(text, wanted)
    return text[: first.start] + wanted + text[first.start :]


def _deepen(text: str, added: str, indent: int | None) -> str:
    """The lines moved deeper, up to the first that is shallower than the first one, if it may stay in place.

    Small models give the first lines after the header of a block its own depth, and later lines their depth
    in the function. A branch belongs to what precedes it, and a line at the function's own depth cannot stay.
    """
    lines = _lines(text)
    depth = len(lines[0].indent.expandtabs(8))
    after = next((line for line in lines if len(line.indent.expandtabs(8)) < depth), None)
    if after is None or indent is None or after.content.startswith(_BRANCHES):
        return _add_prefix(text, added)
    if len(after.indent.expandtabs(8)) <= indent:
        return _add_prefix(text, added)
    return _add_prefix(text[: after.start], added) + text[after.start :]


def _one_indent(head: str) -> str:
    """One level of indentation, as used in the prompt."""
    indents = [line.indent for line in _lines(head) if line.indent]
    return min(indents, key=len, default=_STEP)


def _add_prefix(text: str, prefix: str) -> str:
    return "".join(prefix + line if line.strip() else line for line in text.splitlines(keepends=True))


def _lines(text: str) -> list[_Line]:
    lines, at = [], 0
    for line in text.split("\n"):
        content = line.strip(healing.WHITESPACE)
        if content:
            indent = line[: len(line) - len(line.lstrip(healing.WHITESPACE))]
            lines.append(_Line(at, at + len(line), indent, content))
        at += len(line) + 1
    return lines
