"""A function with its loops unrolled for one call (Liu et al. 2024, Table IV)."""

from __future__ import annotations

import ast
from dataclasses import replace

from counterlens.errors import SourceError
from counterlens.mutations import apply_everywhere, survey
from counterlens.mutations.loop_unroll import LoopUnroll
from counterlens.probes.execution.questions import ExecutionQuestion, agrees, question_about
from counterlens.probes.execution.record import Form
from counterlens.probes.observe.run import observe_loops
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.function_text import WHOLE_BYTES
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function
from counterlens.syntax.python_ast import parse_module

_TURNS = 40
_NEVER_ENTERED = "no execution"


def unrolled(
    context: Context, target: Target, question: ExecutionQuestion, limits: Limits
) -> ExecutionQuestion:
    """The same question about the program without loops.

    Raises:
        SourceError: there are no loops, or not all can be unrolled; says why.
        SandboxError, Cancelled: as the sandbox.
    """
    function = find_function(target.document, target.qualname)
    if not _has_loops(target.document, function):
        raise SourceError("it has no loops")
    document = _written_out(context, target.document, function, question.call, limits)
    try:
        asked = question_about(
            context,
            target.name,
            document,
            function.qualname,
            question.input,
            limits=limits,
            form=Form.UNROLLED,
        )
    except SourceError as error:
        raise SourceError(f"it cannot be unrolled: {error.message}") from None
    if not agrees(asked.truth.written, question.truth.value):
        raise SourceError("it returns another result when unrolled")
    # What the loops were is told by the program as it stands.
    return replace(
        asked, truth=replace(asked.truth, rounds=question.truth.rounds), features=question.features
    )


def _written_out(
    context: Context, original: Document, function: Function, call: str, limits: Limits
) -> Document:
    """A program whose loops are unrolled for a call.

    Loops are unrolled from the outside in, and observed again each time, because an inner loop can be
    unrolled once it stands by itself. A loop that the call does not reach stays.
    """
    document = original
    for _ in range(_TURNS):
        try:
            seen = observe_loops(document, call, context.sandbox(), limits=limits, cancel=context.cancel)
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
