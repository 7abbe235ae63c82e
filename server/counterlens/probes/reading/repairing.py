"""Versions of a function that fails its tests, which a model writes: those that pass are fixes.

The model sees the function with the test that fails and, if the docstring says what the function does, also
its description without the body. Of the versions that pass all tests, the one that changes least is offered.
A few tests can also be passed by accident: it is confirmed if another version that passes does the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterlens.doubt.edits import Edit, smallest_edit
from counterlens.doubt.failing import FailedTest, FailingFunction, WrittenFix
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.settling import StudiedVersion
from counterlens.errors import SourceError
from counterlens.judging.base import Judge, Setting
from counterlens.models.base import Capability, Draw, Model
from counterlens.probes.common_options import MAX_TOKENS
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.gap import Gap, View
from counterlens.probes.reading.readings import (
    SAMPLES,
    TEMPERATURE,
    gap_of,
    require_described,
    unwritten,
)
from counterlens.progress import Steps
from counterlens.syntax.functions import find_function

_WIDTH = 120  # of each part of what a test says
_MOST_COMPARED = 4  # versions that pass, which run beside the offered one


def written_fix(model: Model, mark: FailingFunction, judge: Judge, setting: Setting) -> WrittenFix | None:
    """The version with the smallest change that passes the tests; None if none does, or the model is unable.

    First come the likeliest versions; others are drawn if these do not pass, or do not agree.

    Args:
        judge: The tests, which the function fails.
        setting: The environment for comparing versions with each other, and cancellation.

    Raises:
        ModelError, Cancelled: as `Model.complete`.
        SandboxError, Cancelled: as `Judge.judge`.
    """
    if Capability.COMPLETE not in model.info.capabilities:
        return None
    scope, context = mark.scope, Context(model, lambda: setting.sandbox, Steps(setting.cancel))
    gaps = list(_gaps(scope, mark.failed))
    fix: WrittenFix | None = None
    passing: list[str] = []
    seen = {scope.document.text}
    draws: list[Sequence[Draw | None]] = [[None]]
    if model.offers(Capability.SAMPLE, cancel=setting.cancel):
        draws.append([Draw(TEMPERATURE, 0, number) for number in range(SAMPLES)])
    for some in draws:
        programs = [each for each in _programs(context, scope, gaps, some) if each not in seen]
        seen.update(programs)
        verdicts = judge.judge_all(programs, cancel=setting.cancel)
        passing += [each for each, verdict in zip(programs, verdicts, strict=True) if verdict.passed]
        fix = _smallest(scope, passing, setting)
        if fix is not None and fix.confirmed:
            return fix
    return fix


def _gaps(scope: DoubtScope, failed: FailedTest) -> Iterator[Gap]:
    """The holes to fill: the body behind the function with its bug, and behind its description alone."""
    document, target = scope.document, Target(scope.document, scope.function.qualname)
    function = find_function(document, scope.function.qualname)
    yield Gap.repair(document, function, View(used=True), _reason(failed))
    try:
        require_described(target, function)
    except SourceError:  # its docstring says too little
        return
    yield gap_of(target, function)


def _reason(failed: FailedTest) -> str:
    """What a failing test says, in words of a comment."""
    test, error, got, expected = (
        text[:_WIDTH] for text in (failed.statement or failed.name, failed.error, failed.got, failed.expected)
    )
    if failed.endless:
        return f"{test} does not end"
    if error:
        return f"{test} raises {error}"
    return f"{test} gives {got} instead of {expected}" if got or expected else f"{test} fails"


def _programs(
    context: Context, scope: DoubtScope, gaps: Sequence[Gap], draws: Sequence[Draw | None]
) -> list[str]:
    """The whole file with each version, each once."""
    prompts = [gap.own_prompt(MAX_TOKENS, draw) for gap in gaps for draw in draws]
    completions = context.complete_all(f"writing {scope.function.qualname} anew", prompts)
    owners = [gap for gap in gaps for _ in draws]
    return list(
        dict.fromkeys(
            gap.fill(completion.text)
            for gap, completion in zip(owners, completions, strict=True)
            if unwritten(completion) is None
        )
    )


def _smallest(scope: DoubtScope, passing: Sequence[str], setting: Setting) -> WrittenFix | None:
    """The version that changes least, compared with the others."""
    if not passing:
        return None
    before = scope.document.data
    edits = {program: smallest_edit(before, program.encode("utf-8", "surrogatepass")) for program in passing}
    first, *others = sorted(edits, key=lambda program: _size(edits[program]))
    version = StudiedVersion(scope, first, setting)
    alike = [version.does_the_same(other) for other in others[:_MOST_COMPARED]]
    return WrittenFix(edits[first], confirmed=bool(alike) and all(alike))


def _size(edit: Edit) -> int:
    """How much a change removes and adds."""
    start, end, text = edit
    return end - start + len(text)
