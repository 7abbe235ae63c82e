"""Calls of one function in code and in text, compared with the input of a question."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from counterlens.python.syntax.parsing import parse_expression

_LONGEST = 600  # characters of a call in a text
_UNKNOWN = object()
Arguments = ast.arguments


class Mention(StrEnum):
    """How a function is used."""

    ASKED = "with the input of the question"
    OTHER = "with another input"
    UNKNOWN = "with an input that is not a literal"


@dataclass(frozen=True, slots=True)
class Asked:
    """The call in a question.

    Attributes:
        names: The names of the function: its own, its aliases, and `candidate`, its name in checks.
        parameters: The parameters of the function; None if its definition is unknown.
        values: The arguments, by parameter.
    """

    names: frozenset[str]
    parameters: Arguments | None
    values: Mapping[str, Any]

    @classmethod
    def of(cls, tree: ast.Module, name: str, call: str) -> Self | None:
        """Parse a call; None if an argument is not a literal.

        Args:
            name: The name of the function.

        Raises:
            SyntaxError, ValueError: the call is not an expression.
        """
        node = parse_expression(call)
        defined = [
            definition
            for definition in tree.body
            if isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef) and definition.name == name
        ]
        parameters = defined[-1].args if defined else None
        if not isinstance(node, ast.Call) or (values := _bind(node, parameters)) is None:
            return None
        others = {
            target.id
            for assignment in ast.walk(tree)
            if isinstance(assignment, ast.Assign)
            and isinstance(assignment.value, ast.Name)
            and assignment.value.id == name
            for target in assignment.targets
            if isinstance(target, ast.Name)
        }
        return cls(frozenset({name, "candidate", *others}), parameters, values)

    def mentions(self, node: ast.AST) -> set[Mention]:
        """The ways in which a piece of code uses the function."""
        mentions, called = set(), set()
        for child in ast.walk(node):
            if isinstance(child, ast.Call) and self._is_it(child.func):
                called.add(id(child.func))
                mentions.add(self._kind(child))
            elif self._is_it(child) and id(child) not in called:
                mentions.add(Mention.UNKNOWN)
        return mentions

    def occurs_in(self, text: str) -> bool:
        """Whether a text contains the call, or a doctest in it a call whose input is not a literal."""
        names = "|".join(map(re.escape, sorted(self.names)))
        for match in re.finditer(rf"(?<!\w)(?:{names})\s*\(", text):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            prompted = line.lstrip(" \t#").startswith((">>>", "..."))
            kind = self._kind_at(text, match.start(), match.end())
            if kind is Mention.ASKED or (prompted and kind is Mention.UNKNOWN):
                return True
        return False

    def _kind_at(self, text: str, start: int, opened: int) -> Mention | None:
        """The kind of the call that begins at `start` in a text; None if it is not a call."""
        at = opened
        while 0 <= (at := text.find(")", at)) < start + _LONGEST:
            at += 1
            try:
                node = parse_expression(text[start:at].replace("\n", " "))
            except (SyntaxError, ValueError):
                continue
            return self._kind(node) if isinstance(node, ast.Call) else None
        return None

    def _kind(self, node: ast.Call) -> Mention:
        values = _bind(node, self.parameters)
        if values is None:
            return Mention.UNKNOWN
        return Mention.ASKED if values == self.values else Mention.OTHER

    def _is_it(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.names and isinstance(node.ctx, ast.Load)
        return isinstance(node, ast.Attribute) and node.attr in self.names


def _bind(call: ast.Call, parameters: Arguments | None) -> dict[str, Any] | None:
    """The values of a call's arguments and defaults by parameter; None if an argument is not a literal."""
    named = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)] if parameters else []
    values: dict[str, Any] = {}
    for number, argument in enumerate(call.args):
        values[named[number] if number < len(named) else f"*{number}"] = _value(argument)
    for keyword in call.keywords:
        values[keyword.arg or "**"] = _value(keyword.value)
    if parameters:
        defaults = dict(zip(reversed(named), reversed(parameters.defaults), strict=False))
        keyword_only = zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
        defaults |= {parameter.arg: default for parameter, default in keyword_only if default is not None}
        for name, default in defaults.items():
            if name not in values and (value := _value(default)) is not _UNKNOWN:
                values[name] = value
    return None if "**" in values or any(value is _UNKNOWN for value in values.values()) else values


def _value(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _UNKNOWN
