"""Calls of Python functions: run under observers in the sandbox."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from threading import Event

from counterlens.errors import SourceError
from counterlens.judging.base import Setting
from counterlens.probes.execution.language import ExecutedLanguage
from counterlens.probes.execution.states import add_mark
from counterlens.python.execution import calls, own_code
from counterlens.python.execution.features import features
from counterlens.python.execution.unanswered import without_answer
from counterlens.python.execution.written_out import written_out
from counterlens.python.judging import differential
from counterlens.python.mutations.loop_unroll import LoopUnroll
from counterlens.python.observe import run
from counterlens.python.prompts.values import PYTHON_VALUES
from counterlens.python.syntax.parsing import parse_module
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function


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
    output_of = staticmethod(run.output_of)
    require_ordered = staticmethod(run.require_ordered)
    trace = staticmethod(run.trace)
    written_out = staticmethod(written_out)
    unanswered = staticmethod(without_answer)
    features = staticmethod(features)
    without_comments = staticmethod(own_code.without_comments)

    def require_reachable(self, document: Document, function: Function) -> None:  # noqa: ARG002
        """Like `ExecutedLanguage.require_reachable`."""
        if "." in function.qualname:
            raise SourceError("it is a method or a nested function, which cannot be called alone")

    def calls_in(self, tests: str, qualname: str) -> list[str]:
        """Like `ExecutedLanguage.calls_in`."""
        return calls.calls_in(tests, {qualname, "candidate"}, qualname)

    def generated(self, document: Document, function: Function, setting: Setting) -> Sequence[str]:
        """Like `ExecutedLanguage.generated`."""
        original = differential.find_out(document, function, setting)
        if not isinstance(original, differential.Original):
            return ()
        pairs = zip(original.calls, original.observations, strict=True)
        return [call.written(function.name) for call, seen in pairs if seen.returned]

    def rounds_of(
        self, document: Document, call: str, sandbox: Sandbox, *, limits: Limits, cancel: Event | None = None
    ) -> int:
        """Like `ExecutedLanguage.rounds_of`."""
        loops = run.observe_loops(document, call, sandbox, limits=limits, cancel=cancel)
        return sum(loop.count for loop in loops.values())

    def unrolling(
        self, document: Document, call: str, sandbox: Sandbox, *, limits: Limits, cancel: Event | None = None
    ) -> LoopUnroll:
        """Like `ExecutedLanguage.unrolling`."""
        return LoopUnroll(run.observe_loops(document, call, sandbox, limits=limits, cancel=cancel))

    def simple_lines(self, document: Document, function: Function) -> set[int]:
        """Like `ExecutedLanguage.simple_lines`."""
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
        """Like `ExecutedLanguage.described`."""
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
        return own_code.without_comments(own_code.without_texts(document))


EXECUTION = PythonExecution()


def _sound(document: Document, line: int, tree: ast.Module) -> bool:
    try:
        return ast.dump(parse_module(add_mark(document, line).text)) == ast.dump(tree)
    except (SyntaxError, ValueError):
        return False
