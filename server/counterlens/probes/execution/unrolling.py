"""A function with its loops unrolled for one call (Liu et al. 2024, Table IV)."""

from __future__ import annotations

from dataclasses import replace

from counterlens.errors import SourceError
from counterlens.probes.execution.languages import executed
from counterlens.probes.execution.questions import ExecutionQuestion, agrees, question_about
from counterlens.probes.execution.record import Form
from counterlens.probes.probe import Context, Target
from counterlens.sandbox.base import Limits
from counterlens.syntax.functions import find_function


def unrolled(
    context: Context, target: Target, question: ExecutionQuestion, limits: Limits
) -> ExecutionQuestion:
    """The same question about the program without loops.

    Raises:
        SourceError: there are no loops, or not all can be unrolled; the message says why.
        SandboxError, Cancelled: as the sandbox.
    """
    function, language = find_function(target.document, target.qualname), executed(target.document.language)
    document = language.written_out(
        target.document, function, question.call, context.sandbox(), limits=limits, cancel=context.cancel
    )
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
    if not agrees(document, asked.truth.written, question.truth.value):
        raise SourceError("it returns another result when unrolled")
    # The rounds and features are those of the program with its loops.
    return replace(
        asked, truth=replace(asked.truth, rounds=question.truth.rounds), features=question.features
    )
