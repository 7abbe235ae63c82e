"""Calls of a function in its doctests and in tests, and programs without comments (Liu et al. 2024, IV-B)."""

from __future__ import annotations

import ast
import doctest
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

from counterlens.probes.execution.language import MOST_BYTES
from counterlens.python.judging.discovery import cases_for, files_with_tests
from counterlens.python.judging.layout import layout_of
from counterlens.python.syntax.parsing import parse_expression, parse_module
from counterlens.regular_file import read_text
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_LONGEST = 600  # characters of a call in a text
_UNKNOWN = object()


def calls_in(tests: str, names: set[str], function: str) -> list[str]:
    """The distinct calls with literal arguments in some statements, in textual order.

    Args:
        tests: Python statements.
        names: The function's name there, such as `candidate`.
        function: Its name in the program and in the result.
    """
    try:
        tree = parse_module(tests)
    except (SyntaxError, ValueError):
        return []
    calls: dict[str, None] = {}
    for node in _in_order(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
            named = all(keyword.arg for keyword in node.keywords)
            if named and all(map(_is_literal, values)):
                written = ast.unparse(ast.Call(ast.Name(function, ast.Load()), node.args, node.keywords))
                if len(written.encode()) <= MOST_BYTES:
                    calls[written] = None
    return list(calls)


def calls_of(document: Document, function: Function) -> list[str]:
    """The calls in the examples of a function's docstring, then those in the tests beside its file."""
    return list(dict.fromkeys([*in_examples(document, function), *in_tests(document, function)]))


def in_examples(document: Document, function: Function) -> list[str]:
    """The calls in the examples of a function's docstring."""
    text = document.data[function.start : function.end].decode("utf-8", "replace")
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:
        examples = []
    return calls_in("".join(example.source for example in examples), {function.name}, function.name)


def in_tests(document: Document, function: Function) -> list[str]:
    """The calls in the tests beside a function's file."""
    if document.path is None or not document.path.is_file():
        return []
    place = layout_of(document.path, document.text)
    files = {case.file for case in cases_for(function.qualname, place, files_with_tests(place))}
    calls: dict[str, None] = {}
    for file in sorted(files):
        try:
            tests = read_text(file)
        except OSError:
            continue
        calls.update(dict.fromkeys(calls_in(tests, {function.name}, function.name)))
    return list(calls)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


def without_comments(document: Document) -> Document:
    """A document without its comments; unchanged if it cannot be parsed as Python."""
    lines = document.text.splitlines(keepends=True)
    try:
        comments = [
            token
            for token in tokenize.generate_tokens(io.StringIO(document.text).readline)
            if token.type == tokenize.COMMENT
        ]
    except (tokenize.TokenError, SyntaxError):
        return document
    alone: set[int] = set()
    for token in comments:
        row, column = token.start
        line = lines[row - 1]
        kept = line[:column].rstrip()
        ending = line[len(line.rstrip("\r\n")) :]
        lines[row - 1] = kept + ending
        if not kept:
            alone.add(row - 1)
    text = "".join(line for number, line in enumerate(lines) if number not in alone)
    return replace(document, text=text)


def without_texts(document: Document) -> Document:
    """A document without docstrings and other texts that are statements, whole lines of them.

    A text stays if it is all that its block has. A document that cannot be read as Python stays as it is.
    """
    try:
        module = parse_module(document.text)
    except (SyntaxError, ValueError):
        return document
    cut: set[int] = set()
    for node in ast.walk(module):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if not isinstance(block, list):
                continue
            texts = [statement for statement in block if _is_text(statement)]
            others = {
                line
                for sibling in block
                if sibling not in texts
                for line in (sibling.lineno, sibling.end_lineno)
            }
            if len(texts) < len(block):
                spans = (range(text.lineno, (text.end_lineno or text.lineno) + 1) for text in texts)
                cut.update(line for span in spans if not others & {*span} for line in span)
    lines = document.text.split("\n")
    return replace(
        document, text="\n".join(line for number, line in enumerate(lines, 1) if number not in cut)
    )


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


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
