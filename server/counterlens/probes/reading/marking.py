"""Marks at functions whose docstring and code disagree.

An example that the docstring states needs no model. What a model reads in the docstring marks only with
models whose rule was fitted for precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from counterlens.confidence.exclusion import ignore_comments
from counterlens.doubt.disagreeing import DisagreeingFunction
from counterlens.doubt.edits import smallest_edit
from counterlens.doubt.marking import is_silenced
from counterlens.doubt.scope import DoubtScope
from counterlens.errors import SourceError
from counterlens.judging.base import Setting
from counterlens.judging.languages import judging_of
from counterlens.models.base import Capability, Model
from counterlens.probes.common_options import MAX_TOKENS
from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.questions import reachable
from counterlens.probes.execution.translation import description
from counterlens.probes.probe import Context, Target
from counterlens.probes.reading.readings import SAMPLES, Consensus, Majority, read, require_readable

_QWEN_CODER = Consensus(Majority(2, 1.0), Majority(5, 5 / 6))
FITTED: Mapping[str, Consensus] = MappingProxyType(
    {
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32": _QWEN_CODER,  # 0.5B
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046": _QWEN_CODER,  # 1.5B
    }
)
"""How many versions must agree for a mark, by model identity: the SHA-256 of its file.

Chosen for Qwen2.5-Coder 0.5B with `benchmarks/readings.py`, so that right functions are not marked, and tried
unchanged with 1.5B (docs/results/readings.md).
"""

_MOST_CALLS = 12  # of a docstring


def marking_rule(model: Model) -> Consensus | None:
    """How many versions of a model must agree for a mark; None if its versions mark nothing."""
    able = {Capability.COMPLETE, Capability.SAMPLE} <= model.info.capabilities
    return FITTED.get(model.info.identity) if able else None


def stated_mark(scope: DoubtScope, setting: Setting) -> DisagreeingFunction | None:
    """The mark at a function that does not return what its docstring states for a call; None otherwise.

    A call that does not return a value in time shows nothing.

    Args:
        setting: The sandbox, interpreter and limits of the calls.

    Raises:
        SandboxError, Cancelled: as the sandbox.
    """
    document, language = scope.document, judging_of(scope.document.language)
    target = Target(document, scope.function.qualname)
    try:
        function = reachable(target)
    except SourceError:
        return None
    stated = language.stated_examples(description(target, function) or "", function.name)
    if not stated or is_silenced(ignore_comments(document), scope.name):
        return None
    for call, value in list(stated.items())[:_MOST_CALLS]:
        try:
            gives = execution_of(document.language).output_of(document, call, setting).written
        except SourceError:
            continue
        if language.contradicts(stated, call, f"returned {gives}"):
            return DisagreeingFunction(scope=scope, call=call, code=gives, raises=False, versions=repr(value))
    return None


def docstring_mark(
    context: Context, scope: DoubtScope, setting: Setting, rule: Consensus
) -> DisagreeingFunction | None:
    """The mark at a function whose versions disagree with it; None if they do not, or none is wanted.

    Args:
        context: The model.
        setting: The sandbox, interpreter and limits of each program.
        rule: How many versions must agree.

    Raises:
        SourceError: its docstring cannot be read, or no inputs can compare it with its versions.
        ModelError, SandboxError, Cancelled: as `read`.
    """
    document = scope.document
    target = Target(document, scope.function.qualname)
    function = require_readable(target)
    if reason := judging_of(document.language).never_compared(document, function):
        raise SourceError(f"no inputs can compare it with its readings: {reason}")
    if is_silenced(ignore_comments(document), scope.name):
        return None
    readings = read(context, target, function, setting, samples=SAMPLES, seed=0, max_tokens=MAX_TOKENS)
    told = None if readings.is_alike(1) else readings.disagreement(rule)
    if told is None:
        return None
    program = readings.programs[told.reading]
    judge = readings.judge
    edit = smallest_edit(document.data, program.encode("utf-8", "surrogatepass"))
    versions = told.readings.partition(" ")[2]
    how, _, code = told.code.partition(" ")
    return DisagreeingFunction(
        scope=scope,
        call=told.call,
        code=code,
        raises=how == "raised",
        versions=versions,
        agreeing=told.agreeing,
        of=told.of,
        tested=judge is not None and judge.judge(program, cancel=setting.cancel).passed,
        edit=edit,
        example=judging_of(document.language).added_example(document, function, told.call, versions),
    )
