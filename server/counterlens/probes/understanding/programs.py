"""Which programs are asked about (Nguyen et al. 2024, RQ3): given ones, buggy ones, or the model's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from counterlens.errors import Cancelled, SourceError
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.task import Request, Target
from counterlens.syntax.functions import find_function

MAX_TOKENS = 384
"""So much a model may write of a function."""


class Code(StrEnum):
    """Where the programs come from."""

    GIVEN = "given"  # the functions as they stand
    BUGGY = "buggy"  # those with a known bug, and beside them the same without
    WRITTEN = "written"  # what the model writes after the header and docstring


def programs(request: Request, left_out: Counter[str]) -> list[Target]:
    """The functions that are asked about, by `Request.code`.

    Args:
        request: The model, the functions and the rest.
        left_out: Counts those of which there is no such program, by reason.

    Raises:
        SourceError: a target does not exist, or none has such a program.
        ModelError, Cancelled: as `Model.complete`.
    """
    code = Code(request.code)
    if code is Code.GIVEN:
        return list(request.targets)
    found = list(_buggy(request, left_out) if code is Code.BUGGY else _written(request, left_out))
    if not found:
        reasons = "; ".join(f"{count} {reason}" for reason, count in left_out.most_common(3))
        raise SourceError("there are no such programs to ask about", reasons)
    return found


def expected(request: Request) -> tuple[list[Target], int]:
    """What `programs` will give, as far as that is known before anything is asked, and how much it asks.

    What the model will write is taken to be like what is given.
    """
    code = Code(request.code)
    if code is Code.BUGGY:
        return list(_buggy(request, Counter())), 0
    return list(request.targets), len(request.targets) if code is Code.WRITTEN else 0


def _buggy(request: Request, left_out: Counter[str]) -> Iterator[Target]:
    for target in request.targets:
        if target.buggy is None:
            left_out["no program with a bug is known of it: such as humanevalpack has some"] += 1
        else:
            bug = replace(target.document, text=target.buggy)
            yield target
            yield replace(target, document=bug, id=f"{target.name} (with its bug)")


def _written(request: Request, left_out: Counter[str]) -> Iterator[Target]:
    for number, target in enumerate(request.targets):
        if request.cancel is not None and request.cancel.is_set():
            raise Cancelled
        if request.report:
            request.report(f"having {target.name} written", number, len(request.targets))
        function = find_function(target.document, target.qualname)
        gap = Gap.body_of(target.document, function)
        (said,) = request.model.complete([gap.prompt(MAX_TOKENS)], cancel=request.cancel)
        document = replace(target.document, text=gap.fill(said.text))
        try:
            there = find_function(document, function.qualname)
        except SourceError:
            left_out["what the model wrote of it does not parse"] += 1
            continue
        if said.finish == "length":
            left_out["the model did not come to the end of it"] += 1
        elif document.data[there.body : there.end].strip():
            yield replace(target, document=document, id=f"{target.name} (as the model writes it)")
        else:
            left_out["the model wrote nothing"] += 1
