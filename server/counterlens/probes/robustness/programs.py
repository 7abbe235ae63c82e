"""The programs of a probe (Nguyen et al. 2024, RQ3): given ones, buggy ones, or the model's own."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Annotated

from counterlens.errors import SourceError
from counterlens.mutations.languages import parse_document
from counterlens.probes.options import option
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.gap import Gap
from counterlens.syntax.functions import find_function

WRITTEN_TOKENS = 384
"""Maximum number of tokens of the model's own implementation."""


class Code(StrEnum):
    """The origin of the programs."""

    GIVEN = "given"  # the unchanged functions
    BUGGY = "buggy"  # the functions with a known bug: each with and without the bug
    WRITTEN = "written"  # the model's implementation from the header and docstring


CodeOption = Annotated[
    Code,
    option(
        "Programs to ask about. given: the reference; buggy: also the dataset's buggy variant; written: "
        "the model's own implementation.",
        setting="probe.code",
    ),
]


def programs(context: Context, target: Target, code: Code) -> list[Target]:
    """The programs of a function to ask about.

    Raises:
        SourceError: the function does not exist, or has no such program.
        ModelError, Cancelled: as `Model.complete`.
    """
    return [_write(context, target)] if code is Code.WRITTEN else expected_targets(target, code)


def expected_targets(target: Target, code: Code) -> list[Target]:
    """Predict the result of `programs` before any request; the function stands in for the model's own code.

    Raises:
        SourceError: there is no such program.
    """
    if code is not Code.BUGGY:
        return [target]
    if target.buggy is None:
        raise _no_program("no buggy variant of it is known; humanevalpack, for example, has some")
    bug = replace(target.document, text=target.buggy)
    return [target, replace(target, document=bug, id=f"{target.name} (with its bug)")]


def _write(context: Context, target: Target) -> Target:
    context.steps.next(f"asking the model to write {target.name}")
    function = find_function(target.document, target.qualname)
    gap = Gap.body_of(target.document, function)
    completion = context.complete(gap.prompt(WRITTEN_TOKENS))
    document = replace(target.document, text=gap.fill(completion.text))
    try:
        parse_document(document)
        there = find_function(document, function.qualname)
    except (SourceError, SyntaxError, ValueError, MemoryError, RecursionError):
        raise _no_program("the model's implementation does not parse") from None
    if completion.finish == "length":
        raise _no_program("the model did not finish it")
    if not document.data[there.body : there.end].strip():
        raise _no_program("the model wrote nothing")
    return replace(target, document=document, id=f"{target.name} (as the model writes it)")


def _no_program(reason: str) -> SourceError:
    return SourceError(f"there are no such programs to probe: {reason}")
