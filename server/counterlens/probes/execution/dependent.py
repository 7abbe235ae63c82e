"""Dependent execution reasoning (Liu et al. 2024, definition 2): does it know what its own code gives?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from counterlens.attribution.base import Judge, Judgement
from counterlens.attribution.registry import described, find_judge
from counterlens.counting import plural
from counterlens.errors import SourceError
from counterlens.probes.execution.asking import TOLERANCE, ask_all, nothing_to_ask
from counterlens.probes.execution.dependent_tables import common, dependent_tables, synthesised
from counterlens.probes.execution.features import features
from counterlens.probes.execution.own_code import without_comments
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.execution.reasoning import (
    Form,
    LeftOut,
    Question,
    agrees,
    question_about,
    question_of,
    reachable,
    step,
)
from counterlens.probes.execution.specifying import Written, description, write
from counterlens.probes.execution.tables import pick, right
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.steps import Steps
from counterlens.probes.task import Need, Request, Result, Table, Target
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function


class DependentTask:
    """Dependent execution reasoning. Implements `counterlens.probes.task.Task`."""

    id = "dependent-execution"
    title = "does it know what its own code gives?"
    needs = frozenset({Need.COMPLETE, Need.SANDBOX, Need.TESTS})

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            SourceError: no target could be written and asked about; says why.
            CounterlensError: a sanity check failed.
        """
        questions: list[Question] = []
        syntheses: list[dict[str, Any]] = []
        left_out: Counter[str] = Counter()
        for number, target in enumerate(request.targets):
            step(request, f"writing {target.name}", number, len(request.targets))
            try:
                found = _synthesised(target, request)
            except LeftOut as error:
                left_out[str(error)] += 1
                continue
            syntheses.append(found.plain())
            questions.append(found.reference)
            if found.own is not None:
                questions.append(found.own)
            elif found.unasked:
                left_out[f"its own code is not asked about: {found.unasked}"] += 1
        if not syntheses:
            raise nothing_to_ask(left_out)
        rows = [one.plain() for one in ask_all(request, questions)]
        for one in syntheses:
            one["s_der"] = _scores(one, rows)
        data = {"tolerance": TOLERANCE, "syntheses": syntheses, "answers": rows}
        return Result(
            task=self.id,
            title=f"the model's own code of {plural(len(syntheses), 'function')}",
            model=request.model.info,
            summary=_summary(data),
            tables=self.tables([data], seed=request.seed),
            left_out=dict(left_out),
            data=data,
        )

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:
        """As `Task.tables`."""
        return dependent_tables(found, seed=seed)

    def across(self, models: Mapping[str, Sequence[Mapping[str, Any]]], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        """R' on the functions that all models wrote right; `models`: the data of each, by its name."""
        return (common(models),)

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:
        """As `Task.measures`: whether it wrote it right, and knows what that gives."""
        (one,) = data["syntheses"]
        return {
            "written right": bool(one["correct"]),
            **{f"own code, {STYLES[style].title}": bool(score) for style, score in one["s_der"].items()},
        }

    def asks(self, request: Request) -> int:
        """As `Task.asks`."""
        return len(request.targets) * (1 + 2 * len(STYLES)) + 1


@dataclass(frozen=True, slots=True)
class _Synthesised:
    target: Target
    reference: Question
    written: Written
    judged_by: str
    judgement: Judgement
    failed: str
    own: Question | None
    unasked: str
    complexity: int | None

    def plain(self) -> dict[str, Any]:
        return {
            "target": self.target.name,
            "call": self.reference.truth.call,
            "input": str(self.reference.input.origin),
            "program": self.written.program,
            "finish": self.written.finish,
            "judged_by": self.judged_by,
            "judgement": str(self.judgement),
            "failed": self.failed,
            "correct": self.judgement is Judgement.PASSED,
            "unasked": self.unasked,
            "complexity": self.complexity,
            "reference_complexity": self.reference.features.complexity if self.reference.features else None,
        }


def _synthesised(target: Target, request: Request) -> _Synthesised:
    """Have a function written, judge it, and make the questions about it and about the reference."""
    function = reachable(target)
    text = description(target, function)
    if text is None:
        raise LeftOut("it has no description to write it from: add a docstring")
    judge, judging = _judging(target, function, request)
    reference = question_of(target, request)
    written = write(request, target, function, text)
    verdict = judging.verdict(written.program)
    if verdict.judgement is Judgement.REFUSED:
        raise LeftOut(f"what was written cannot be judged: {verdict.evidence.message.splitlines()[0]}")
    own, unasked, complexity = None, "", None
    if verdict.passed:
        try:
            document = without_comments(written.document(target))
            own = question_about(
                target.name, document, function.qualname, reference.input, request, form=Form.OWN
            )
            complexity = own.features.complexity if own.features else None
            if not agrees(own.truth.written, reference.truth.value):
                own, unasked = None, "for the input it gives something else than the reference"
        except SourceError as error:
            unasked = error.message
    else:
        complexity = _complexity(written.document(target), function.qualname)
    return _Synthesised(
        target,
        reference,
        written,
        described(judge),
        verdict.judgement,
        verdict.evidence.failed or "",
        own,
        unasked,
        complexity,
    )


def _judging(target: Target, function: Function, request: Request) -> tuple[Judge, Judging]:
    """The tests of a function, which it passes as it stands and fails without its body."""
    judge = target.judge or find_judge(
        target.document,
        function,
        request.sandbox(),
        limits=request.limits,
        fallback=False,
        cancel=request.cancel,
    )
    if judge is None:
        raise LeftOut("it has no tests to judge what is written: add a doctest or a test")
    judging = Judging(judge, target.document, function, Steps(request.cancel, None), request.limits)
    try:
        judging.check_own_tests()
        judging.check_identity()
    except SourceError as error:
        raise LeftOut(error.message.replace(function.qualname, "it", 1).partition(" (")[0]) from None
    return judge, judging


def _complexity(document: Document, qualname: str) -> int | None:
    try:
        function = find_function(document, qualname)
    except SourceError:
        return None
    found = features(document.data[function.header : function.end].decode("utf-8", "replace"))
    return found.complexity if found else None


def _scores(one: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The dependent execution reasoning score for each way to ask (Liu et al. 2024, equation 2)."""
    scores = {}
    for style in STYLES:
        own = pick(rows, style=style, form=Form.OWN).get(one["target"])
        scores[style] = int(bool(one["correct"]) and own is not None and right(own))
    return scores


def _summary(data: Mapping[str, Any]) -> str:
    done = synthesised([data])
    found = pick(data["answers"], form=Form.OWN, style="direct")
    said = sum(map(right, found.values()))
    return (
        f"The model wrote {done.count} of {plural(done.n, 'function')} right. "
        f"Asked direct what these give, it was right in {said} of {len(found)}."
    )
