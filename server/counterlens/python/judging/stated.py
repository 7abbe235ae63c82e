"""Examples that a docstring states in prose: a call and its value, such as `median([1, 2]) == 1.5`.

A doctest has the value on the next line, and is run. Docstrings also write `==`, `->`, `=>` or *returns*
between the two, also behind a prompt without a next line, which doctest would take for an example of nothing.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from counterlens.python.syntax.parsing import parse_expression

_VALUE = re.compile(
    r"`?\s*(?:(?:#\s*)?(?:==>|===?|=>|-+>|➞|→|⟹)|,?\s*(?:#\s*)?(?:should\s+(?:be|return)|returns?|gives?|is\s+equal\s+to)\b)\s*`?"
)
"""What stands between a call and its value. Not `=`, with which mathematics defines other things, too."""
_BEHIND = re.compile(r"`?[\s.,;:!)]*(?:#|//|\(|\w+\(|\b(?:because|since|as|and)\b|$)")
"""What may follow a value: a word that does not could belong to it, as in `3 elements`."""
_MOST = 2000  # characters of an example that are read
_NOTHING = object()


def stated_examples(text: str, name: str) -> Mapping[str, Any]:
    """The values that a text states for calls of a function with literal arguments, by the call.

    A call that is given two values has none.

    Args:
        name: The name of the function.
    """
    values: dict[str, Any] = {}
    for call, value in _examples(text, name):
        if values.setdefault(call, value) != value:
            values[call] = _NOTHING
    return {call: value for call, value in values.items() if value is not _NOTHING}


def contradicts(stated: Mapping[str, Any], call: str, outcome: str) -> bool:
    """Whether an outcome in words, such as `returned 3`, is not what is stated for a call.

    An outcome that is not a whole literal contradicts nothing.
    """
    value = stated.get(_plain(call) or call, _NOTHING)
    if value is _NOTHING:
        return False
    how, _, written = outcome.partition(" ")
    if how == "raised":
        return True
    given = _literal(written) if how == "returned" else _NOTHING
    return given is not _NOTHING and not _is_stated(given, value)


def _examples(text: str, name: str) -> Iterator[tuple[str, Any]]:
    for begin in re.finditer(rf"(?<![\w.]){re.escape(name)}\(", text):
        rest = text[begin.start() : begin.start() + _MOST]
        ends = (at + 1 for at, mark in enumerate(rest) if mark == ")")
        call, end = next(((plain, end) for end in ends if (plain := _plain(rest[:end]))), (None, 0))
        line = rest[end:].partition("\n")[0]
        between = _VALUE.match(line.lstrip())
        if call is not None and between is not None:
            value = _longest_literal(line.lstrip()[between.end() :])
            if value is not _NOTHING:
                yield call, value


def _plain(call: str) -> str | None:
    """A call with literal arguments in Python's own spelling; None if it is none."""
    try:
        node = parse_expression(call.strip())
        if not isinstance(node, ast.Call):
            return None
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            ast.literal_eval(argument)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return None
    return ast.unparse(node)


def _longest_literal(line: str) -> Any:
    """The longest literal with which a line begins, if nothing follows that could belong to it."""
    for end in range(len(line), 0, -1):
        text = line[:end].strip()
        if text.endswith("."):
            continue  # it ends a sentence: `half(2) == 1.` says 1
        value = _literal(text)
        if isinstance(value, tuple) and not text.startswith("("):
            continue  # of `4, 5` the second one may belong to the sentence
        if value is not _NOTHING:
            rest = line[end:]
            return value if _BEHIND.match(rest) and not rest.startswith("..") else _NOTHING
    return _NOTHING


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(parse_expression(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return _NOTHING


def _is_stated(given: Any, value: Any) -> bool:
    """Whether a result is what is stated: numbers up to their digits, lists and tuples alike."""
    if isinstance(value, list | tuple) and isinstance(given, list | tuple):
        return len(value) == len(given) and all(map(_is_stated, given, value))
    if isinstance(given, tuple) and len(given) == 1:
        return _is_stated(given[0], value)  # `("Venus")` is no tuple, but is written for one
    if isinstance(value, float) and isinstance(given, int | float):
        digits = len(repr(value).partition(".")[2].partition("e")[0])
        return math.isclose(given, value, rel_tol=1e-6, abs_tol=0.501 * 10.0**-digits)
    return bool(given == value)
