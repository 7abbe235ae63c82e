"""Calls of Python functions: run under observers in the sandbox."""

from __future__ import annotations

import ast
import builtins
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from counterlens.errors import SourceError
from counterlens.judging.base import Setting
from counterlens.mutations import apply_everywhere, survey
from counterlens.probes.execution.language import TAGS, USES, ExecutedLanguage, Features, add_mark
from counterlens.probes.prompts.function_text import SHOWN_BYTES
from counterlens.python.execution import calls, running
from counterlens.python.execution.unanswered import without_answer
from counterlens.python.judging import differential
from counterlens.python.mutations.loops import LoopUnroll
from counterlens.python.prompts.values import PYTHON_VALUES
from counterlens.python.syntax.parsing import parse_module
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_TURNS = 40
_NEVER_ENTERED = "no execution"
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_MEMBERSHIP = (ast.In, ast.NotIn, ast.Is, ast.IsNot)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_BRANCHES = (*_LOOPS, ast.If, ast.IfExp, ast.ExceptHandler, ast.Assert, ast.match_case, ast.comprehension)


def written_out(document: Document, function: Function, call: str, setting: Setting) -> Document:
    """A program whose loops are unrolled for a call.

    Loops are unrolled from the outside in, and observed again each time, because an inner loop can be
    unrolled only after the outer one. A loop that the call does not reach stays.

    Raises:
        SourceError: there are no loops, or not all can be unrolled; the message says why.
        SandboxError, Cancelled: as the sandbox.
    """
    if not _has_loops(document, function):
        raise SourceError("it has no loops")
    original = document
    for _ in range(_TURNS):
        try:
            seen = running.observe_loops(document, call, setting)
        except SourceError as error:
            raise SourceError(f"it cannot be unrolled: {error.message}") from None
        mutation = LoopUnroll(seen)
        text = apply_everywhere(document.text, mutation)
        if len(text.encode()) > SHOWN_BYTES:
            raise SourceError("it is too long for a prompt when unrolled")
        if text == document.text:
            break
        document = replace(document, text=text)
    left = survey(document.text, mutations=[mutation], function=function.qualname)
    reasons = [site.reason for site in left.refusals if not site.reason.startswith(_NEVER_ENTERED)]
    if reasons or left.counterfactuals:
        raise SourceError(f"a loop stays: {reasons[0] if reasons else 'too many rounds'}")
    if document is original:
        raise SourceError("no loop runs for this input")
    return document


def _has_loops(document: Document, function: Function) -> bool:
    text = document.data[function.header : function.end].decode("utf-8", "replace")
    try:
        tree = parse_module(text)
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.For | ast.While) for node in ast.walk(tree))


def features(text: str) -> Features | None:
    """The features of a function's text; None if it does not parse."""
    text = textwrap.dedent(text)
    try:
        tree = parse_module(text)
    except (SyntaxError, ValueError):
        return None
    constructs = set(_tags(tree, loops=0, branches=0)) or {"basic"}
    used = {use for node in ast.walk(tree) for use in _uses(node)}
    decisions = sum(_decisions(node) for node in ast.walk(tree))
    return Features(
        tuple(tag for tag in TAGS if tag in constructs),
        decisions + 1,
        sum(bool(line.strip()) for line in text.splitlines()),
        tuple(use for use in USES if use in used),
        tuple(sorted({_api(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)} - {""})),
    )


def _api(called: ast.expr) -> str:
    """The name of the callee; empty if it has none."""
    if isinstance(called, ast.Name):
        return called.id
    if not isinstance(called, ast.Attribute):
        return ""
    owner = called.value
    is_module = isinstance(owner, ast.Name) and owner.id in sys.stdlib_module_names
    return f"{ast.unparse(owner) if is_module else ''}.{called.attr}"


def _uses(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.BinOp | ast.AugAssign):
        yield "bitwise" if isinstance(node.op, _BITWISE) else "arithmetic"
    elif isinstance(node, ast.UnaryOp):
        if not isinstance(node.operand, ast.Constant):  # -1 is a number
            yield {ast.Not: "boolean", ast.Invert: "bitwise"}.get(type(node.op), "arithmetic")
    elif isinstance(node, ast.BoolOp):
        yield "boolean"
    elif isinstance(node, ast.Compare):
        for operator in node.ops:
            yield "membership" if isinstance(operator, _MEMBERSHIP) else "comparison"
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield "method call"
        else:
            is_builtin = isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id)
            yield "builtin call" if is_builtin else "other call"


def _decisions(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return int(isinstance(node, _BRANCHES))


def _tags(node: ast.AST, *, loops: int, branches: int) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        inside_loops, inside_branches = loops, branches
        if isinstance(child, _LOOPS):
            yield "while" if isinstance(child, ast.While) else "for"
            if loops:
                yield "nested loop"
            inside_loops += 1
        elif isinstance(child, ast.If):
            yield "if"
            elif_of = isinstance(node, ast.If) and node.orelse == [child]
            if branches and not elif_of:
                yield "nested if"
            inside_branches += not elif_of
        elif isinstance(child, ast.Try | ast.TryStar):
            yield "try"
        elif isinstance(child, ast.Match):
            yield "match"
        yield from _tags(child, loops=inside_loops, branches=inside_branches)


class PythonExecution(ExecutedLanguage):
    """See the module."""

    id = "python"
    values = PYTHON_VALUES
    unrolls = LoopUnroll.id
    stops = {  # noqa: RUF012 - a constant
        "direct": ("\n\n", "\nassert", "\ndef ", "\n#"),
        "steps": ("\n\n", "\ndef ", "\nassert"),
    }

    in_examples = staticmethod(calls.in_examples)
    in_tests = staticmethod(calls.in_tests)
    output_of = staticmethod(running.output_of)
    require_ordered = staticmethod(running.require_ordered)
    trace = staticmethod(running.trace)
    written_out = staticmethod(written_out)
    unanswered = staticmethod(without_answer)
    features = staticmethod(features)
    without_comments = staticmethod(calls.without_comments)

    def require_reachable(self, document: Document, function: Function) -> None:  # noqa: ARG002
        if "." in function.qualname:
            raise SourceError("it is a method or a nested function, which cannot be called alone")

    def calls_in(self, tests: str, qualname: str) -> list[str]:
        return calls.calls_in(tests, {qualname, "candidate"}, qualname)

    def generated(self, document: Document, function: Function, setting: Setting) -> Sequence[str]:
        original = differential.find_out(document, function, setting)
        if not isinstance(original, differential.Original):
            return ()
        inputs = [each for each in original.inputs if each.seen.returned and not each.large]
        return [each.call.written(function.name) for each in inputs]

    def rounds_of(self, document: Document, call: str, setting: Setting) -> int:
        loops = running.observe_loops(document, call, setting)
        return sum(loop.count for loop in loops.values())

    def unrolling(self, document: Document, call: str, setting: Setting) -> LoopUnroll:
        return LoopUnroll(running.observe_loops(document, call, setting))

    def simple_lines(self, document: Document, function: Function) -> set[int]:
        try:
            tree = parse_module(document.text)
        except (SyntaxError, ValueError):
            return set()
        statements: Counter[int] = Counter()
        simple: set[int] = set()
        for node in ast.walk(tree):
            if not isinstance(node, ast.stmt):
                continue
            statements[node.lineno] += 1
            kind = isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr)
            if kind and node.end_lineno == node.lineno:
                simple.add(node.lineno)
        inside = range(function.start_line, function.end_line + 1)
        return {
            line
            for line in simple
            if statements[line] == 1 and line in inside and _sound(document, line, tree)
        }

    def described(self, document: Document, function: Function) -> str | None:
        text = document.data[function.header : function.end].decode("utf-8", "replace")
        lines = text.splitlines(keepends=True)
        margin = function.column  # the indentation of all lines except the first, which has none
        try:
            node = parse_module("".join([lines[0], *(line[margin:] for line in lines[1:])])).body[0]
        except (SyntaxError, ValueError, IndexError):
            return None
        return ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None

    def code_alone(self, document: Document) -> Document:
        """Like `ExecutedLanguage.code_alone`: texts that are statements document, wherever they stand."""
        return calls.without_comments(calls.without_texts(document))


EXECUTION = PythonExecution()


def _sound(document: Document, line: int, tree: ast.Module) -> bool:
    try:
        return ast.dump(parse_module(add_mark(document, line).text)) == ast.dump(tree)
    except (SyntaxError, ValueError):
        return False
