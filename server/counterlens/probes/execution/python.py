"""Calls of Python functions: run under observers in the sandbox."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from threading import Event

from counterlens.attribution import differential
from counterlens.attribution.base import Setting
from counterlens.errors import SourceError
from counterlens.mutations import apply_everywhere, survey
from counterlens.mutations.loop_unroll import LoopUnroll
from counterlens.probes.execution import calls
from counterlens.probes.execution.features import Features, features
from counterlens.probes.execution.language import ExecutedLanguage
from counterlens.probes.execution.states import marked
from counterlens.probes.observe import run
from counterlens.probes.observe.run import Step, observe_loops
from counterlens.probes.prompts.function_text import WHOLE_BYTES
from counterlens.probes.prompts.literals import PYTHON_VALUES, Literal
from counterlens.probes.prompts.unanswered import unanswered
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.python_ast import parse_module

_TURNS = 40
_NEVER_ENTERED = "no execution"


class PythonExecution(ExecutedLanguage):
    """See the module."""

    id = "python"
    values = PYTHON_VALUES
    stops = {  # noqa: RUF012 - a constant
        "direct": ("\n\n", "\nassert", "\ndef ", "\n#"),
        "steps": ("\n\n", "\ndef ", "\nassert"),
    }

    def require_reachable(self, document: Document, function: Function) -> None:  # noqa: ARG002
        """Like `ExecutedLanguage.require_reachable`."""
        if "." in function.qualname:
            raise SourceError("it is a method or a nested function, which cannot be called alone")

    def calls_in(self, tests: str, qualname: str) -> list[str]:
        """Like `ExecutedLanguage.calls_in`."""
        return calls.calls_in(tests, {qualname, "candidate"}, qualname)

    def in_examples(self, document: Document, function: Function) -> list[str]:
        """Like `ExecutedLanguage.in_examples`."""
        return calls.in_examples(document, function)

    def in_tests(self, document: Document, function: Function) -> list[str]:
        """Like `ExecutedLanguage.in_tests`."""
        return calls.in_tests(document, function)

    def generated(self, document: Document, function: Function, setting: Setting) -> Sequence[str]:
        """Like `ExecutedLanguage.generated`."""
        original = differential.find_out(document, function, setting)
        if not isinstance(original, differential.Original):
            return ()
        pairs = zip(original.calls, original.observations, strict=True)
        return [call.written(function.name) for call, seen in pairs if seen.returned]

    def output_of(
        self, document: Document, call: str, sandbox: Sandbox, *, limits: Limits, cancel: Event | None = None
    ) -> Literal:
        """Like `ExecutedLanguage.output_of`."""
        return run.output_of(document, call, sandbox, limits=limits, cancel=cancel)

    def require_ordered(
        self,
        document: Document,
        call: str,
        gives: Literal,
        sandbox: Sandbox,
        *,
        limits: Limits,
        cancel: Event | None = None,
    ) -> None:
        """Like `ExecutedLanguage.require_ordered`."""
        run.require_ordered(document, call, gives, sandbox, limits=limits, cancel=cancel)

    def rounds_of(
        self, document: Document, call: str, sandbox: Sandbox, *, limits: Limits, cancel: Event | None = None
    ) -> int:
        """Like `ExecutedLanguage.rounds_of`."""
        loops = run.observe_loops(document, call, sandbox, limits=limits, cancel=cancel)
        return sum(loop.count for loop in loops.values())

    def trace(
        self, document: Document, call: str, sandbox: Sandbox, *, limits: Limits, cancel: Event | None = None
    ) -> list[Step]:
        """Like `ExecutedLanguage.trace`."""
        return run.trace(document, call, sandbox, limits=limits, cancel=cancel)

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

    def written_out(
        self,
        document: Document,
        function: Function,
        call: str,
        sandbox: Sandbox,
        *,
        limits: Limits,
        cancel: Event | None = None,
    ) -> Document:
        """Like `ExecutedLanguage.written_out`."""
        return written_out(document, function, call, sandbox, limits=limits, cancel=cancel)

    def unanswered(self, document: Document, function: Function, call: str) -> Document:
        """Like `ExecutedLanguage.unanswered`."""
        return unanswered(document, function, call)

    def features(self, text: str) -> Features | None:
        """Like `ExecutedLanguage.features`."""
        return features(text)

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

    def without_comments(self, document: Document) -> Document:
        """Like `ExecutedLanguage.without_comments`."""
        return without_comments(document)

    def code_alone(self, document: Document) -> Document:
        """Like `ExecutedLanguage.code_alone`: texts that are statements document, wherever they stand."""
        return without_comments(without_texts(document))


EXECUTION = PythonExecution()


def _sound(document: Document, line: int, tree: ast.Module) -> bool:
    try:
        return ast.dump(parse_module(marked(document, line).text)) == ast.dump(tree)
    except (SyntaxError, ValueError):
        return False


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
            others = {line for one in block if one not in texts for line in (one.lineno, one.end_lineno)}
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


def written_out(
    original: Document,
    function: Function,
    call: str,
    sandbox: Sandbox,
    *,
    limits: Limits,
    cancel: Event | None = None,
) -> Document:
    """A program whose loops are unrolled for a call.

    Loops are unrolled from the outside in, and observed again each time, because an inner loop can be
    unrolled only after the outer one. A loop that the call does not reach stays.

    Raises:
        SourceError: there are no loops, or not all can be unrolled; the message says why.
        SandboxError, Cancelled: as the sandbox.
    """
    if not _has_loops(original, function):
        raise SourceError("it has no loops")
    document = original
    for _ in range(_TURNS):
        try:
            seen = observe_loops(document, call, sandbox, limits=limits, cancel=cancel)
        except SourceError as error:
            raise SourceError(f"it cannot be unrolled: {error.message}") from None
        mutation = LoopUnroll(seen)
        text = apply_everywhere(document.text, mutation)
        if len(text.encode()) > WHOLE_BYTES:
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
