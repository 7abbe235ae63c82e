"""A Python function with its loops unrolled for one call."""

from __future__ import annotations

import ast
from dataclasses import replace
from threading import Event

from counterlens.errors import SourceError
from counterlens.mutations import apply_everywhere, survey
from counterlens.probes.prompts.function_text import WHOLE_BYTES
from counterlens.python.mutations.loop_unroll import LoopUnroll
from counterlens.python.observe.run import observe_loops
from counterlens.python.syntax.parsing import parse_module
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_TURNS = 40
_NEVER_ENTERED = "no execution"


def written_out(
    document: Document,
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
    if not _has_loops(document, function):
        raise SourceError("it has no loops")
    original = document
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
