"""A function with its loops written out as they run for one call (Liu et al. 2024, Table IV)."""

from __future__ import annotations

import ast
from dataclasses import replace

from counterlens.errors import SourceError
from counterlens.mutations import apply_everywhere, survey
from counterlens.mutations.loop_unroll import LoopUnroll
from counterlens.probes.execution.reasoning import Form, LeftOut, Question, agrees, question_about
from counterlens.probes.observe.run import observe_loops
from counterlens.probes.prompts.function_text import WHOLE_BYTES
from counterlens.probes.task import Request, Target
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

_TURNS = 40
_NEVER_ENTERED = "no execution"


def unrolled(target: Target, question: Question, request: Request) -> Question:
    """The same question about the program without loops.

    Loops are unrolled from the outside in, and observed anew each time, because an inner loop can be
    unrolled once it stands by itself. A loop that the call does not reach stays.

    Raises:
        LeftOut: there are no loops, or not all can be unrolled; says why.
        SandboxError, Cancelled: as the sandbox.
    """
    function = find_function(target.document, target.qualname)
    if not _has_loops(target.document, function.qualname):
        raise LeftOut("it has no loops")
    document = target.document
    try:
        for _ in range(_TURNS):
            call, sandbox = question.truth.call, request.sandbox()
            seen = observe_loops(document, call, sandbox, limits=Limits(), cancel=request.cancel)
            mutation = LoopUnroll(seen)
            text = apply_everywhere(document.text, mutation)
            if len(text.encode()) > WHOLE_BYTES:
                raise LeftOut("unrolled, it is too long to show")
            if text == document.text:
                break
            document = replace(document, text=text)
        left = survey(document.text, mutations=[mutation], function=function.qualname)
        reasons = [one.reason for one in left.refusals if not one.reason.startswith(_NEVER_ENTERED)]
        if reasons or left.counterfactuals:
            raise LeftOut(f"a loop stays: {reasons[0] if reasons else 'too many rounds'}")
        if document is target.document:
            raise LeftOut("no loop runs for this input")
        asked = question_about(
            target.name, document, function.qualname, question.input, request, form=Form.UNROLLED
        )
    except SourceError as error:
        raise LeftOut(f"it cannot be unrolled: {error.message}") from None
    if not agrees(asked.truth.written, question.truth.value):
        raise LeftOut("unrolled, it gives something else")
    # What the loops were is told by the program as it stands.
    return replace(
        asked, truth=replace(asked.truth, rounds=question.truth.rounds), features=question.features
    )


def _has_loops(document: Document, qualname: str) -> bool:
    function = find_function(document, qualname)
    text = document.data[function.header : function.end].decode("utf-8", "replace")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.For | ast.While) for node in ast.walk(tree))
