"""Specification reasoning (Liu et al. 2024, definition 3): does a test that it is shown help?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from counterlens.counting import plural
from counterlens.errors import CounterlensError, SourceError
from counterlens.metrics.effects import wilson
from counterlens.metrics.summary import mcnemar_exact
from counterlens.probes.execution.asking import TOLERANCE
from counterlens.probes.execution.misleading import misled
from counterlens.probes.execution.reasoning import LeftOut, Question, question_of, reachable, step
from counterlens.probes.execution.specifying import (
    Written,
    description,
    with_example,
    without_examples,
    write,
)
from counterlens.probes.execution.tables import SHOWN, short
from counterlens.probes.observe.run import output_of
from counterlens.probes.prompts.function_text import hollow
from counterlens.probes.prompts.literals import Literal, equal
from counterlens.probes.task import Cell, Need, Request, Result, Table, Target
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document

SETTINGS = {"none": "no test", "true": "with test", "misleading": "misleading test"}
"""What of a test the specification shows, see Liu et al. 2024, section IV-C."""
_NOTE = (
    "each program is run on the one input: with a misleading test it passes when it gives the wrong output "
    "that was shown"
)
_RSR_NOTE = (
    "R_SR: right with the test and not without, of all functions (Liu et al. 2024, equations 5 and 6); of "
    "those failed: of the functions that it could not write without"
)


class SpecificationTask:
    """Specification reasoning. Implements `counterlens.probes.task.Task`."""

    id = "specification"
    title = "does it use a test that it is shown?"
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            SourceError: no target has a description and a test; says why.
            CounterlensError: a sanity check failed.
        """
        cases: list[_Case] = []
        left_out: Counter[str] = Counter()
        for number, target in enumerate(request.targets):
            step(request, f"running {target.name}", number, len(request.targets))
            try:
                cases.append(_case(target, request))
            except LeftOut as error:
                left_out[str(error)] += 1
        if not cases:
            reasons = "; ".join(f"{count} {text}" for text, count in left_out.items())
            raise SourceError("there is nothing to have written from a specification", reasons)
        written: list[dict[str, Any]] = []
        for number, case in enumerate(cases):
            told = {}
            for at, setting in enumerate(SETTINGS):
                step(request, f"writing {case.target.name}", number * 3 + at, len(cases) * 3)
                told[setting] = _attempt(case, setting, request)
                if not written and not at:
                    _check_identity(case, setting, told[setting], request)
            written.append({**case.plain(), "settings": told, "s_sr": _score(told)})
        data = {"tolerance": TOLERANCE, "functions": written}
        return Result(
            task=self.id,
            title=f"{plural(len(written), 'function')} from their specification",
            model=request.model.info,
            summary=_summary(written),
            tables=self.tables([data], seed=request.seed),
            left_out=dict(left_out),
            data=data,
        )

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        """As `Task.tables`."""
        every = [one for data in found for one in data["functions"]]
        tables = [_settings(every), _reasoning(every), _ways(every)]
        drawn = (_listed(every), *tables) if len(every) <= SHOWN else tuple(tables)
        return tuple(table for table in drawn if table.rows)

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:
        """As `Task.measures`: whether it passed in each setting."""
        (one,) = data["functions"]
        return {title: bool(one["settings"][name]["passed"]) for name, title in SETTINGS.items()}

    def asks(self, request: Request) -> int:
        """As `Task.asks`."""
        return len(request.targets) * len(SETTINGS) + 1


@dataclass(frozen=True, slots=True)
class _Case:
    """A function to be written, and the test.

    Attributes:
        target: The function.
        question: The input, with the output that the reference gives.
        text: Its description without examples.
        removed: How many lines of examples were taken out.
        wrong: The output of the misleading test.
    """

    target: Target
    question: Question
    text: str
    removed: int
    wrong: Literal

    def shown(self, setting: str) -> str:
        """The specification in a setting."""
        if setting == "none":
            return self.text
        return with_example(self.text, self.question.truth.call, self.wanted(setting).written)

    def wanted(self, setting: str) -> Literal:
        """What a program has to give in a setting."""
        truth = self.question.truth
        return self.wrong if setting == "misleading" else Literal(truth.value, truth.written)

    def plain(self) -> dict[str, Any]:
        truth = self.question.truth
        return {
            "target": self.target.name,
            "call": truth.call,
            "input": str(self.question.input.origin),
            "gives": truth.written,
            "misleading": self.wrong.written,
            "specification": self.text,
            "lines_of_examples_removed": self.removed,
        }


def _case(target: Target, request: Request) -> _Case:
    """The case of a target, after its checks: a hollow function passes neither test."""
    function = reachable(target)
    whole = description(target, function)
    text = without_examples(whole, function.name) if whole else ""
    if not whole or not text:
        raise LeftOut("it has no description beside examples: add a docstring")
    question = question_of(target, request)
    other = misled(question.truth.value)
    case = _Case(
        target, question, text, len(whole.splitlines()) - len(text.splitlines()), Literal(other, repr(other))
    )
    if equal(other, question.truth.value):
        raise CounterlensError(
            f"{other!r} was to mislead, and is right", "This is a defect of Counterlens; please report it"
        )
    for setting in ("true", "misleading"):
        if _gave(case, setting, hollow(target.document, function), request)[0]:
            raise CounterlensError(
                f"{function.name} passes its test without a body, so figures would mean nothing",
                "Look at what stands around it in its file",
            )
    return case


def _attempt(case: _Case, setting: str, request: Request) -> dict[str, Any]:
    """Have the function written in one setting, and run it."""
    written = _write(case, setting, request)
    passed, gave, failed = _gave(case, setting, written.document(case.target), request)
    return {
        "passed": passed,
        "gave": gave,
        "failed": failed,
        "finish": written.finish,
        "program": written.program,
    }


def _write(case: _Case, setting: str, request: Request) -> Written:
    return write(request, case.target, reachable(case.target), case.shown(setting))


def _gave(
    case: _Case, setting: str, document: Document, request: Request
) -> tuple[bool, str | None, str | None]:
    """Whether a program passes the test of a setting, what it gives, and why it gives nothing."""
    try:
        call, sandbox = case.question.truth.call, request.sandbox()
        found = output_of(document, call, sandbox, limits=Limits(), cancel=request.cancel)
    except SourceError as error:
        return False, None, error.message
    return equal(found.value, case.wanted(setting).value), found.written, None


def _check_identity(case: _Case, setting: str, first: Mapping[str, Any], request: Request) -> None:
    if _write(case, setting, request).program != first["program"]:
        raise CounterlensError(
            f"{request.model.info.name} does not write the same twice from the same specification",
            "Figures would mean nothing: ask a model at temperature 0",
        )


def _score(told: Mapping[str, Mapping[str, Any]]) -> int:
    """The specification reasoning score (Liu et al. 2024, equation 5)."""
    return (1 - int(told["none"]["passed"])) * int(told["true"]["passed"])


def _passed(every: Sequence[Mapping[str, Any]], setting: str) -> int:
    return sum(bool(one["settings"][setting]["passed"]) for one in every)


def _settings(every: Sequence[Mapping[str, Any]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, title in SETTINGS.items():
        told = [one["settings"][name] for one in every]
        nothing = sum(one["gave"] is None for one in told)
        cut = sum(one["finish"] == "length" for one in told)
        rows.append((title, len(every), wilson(_passed(every, name), len(every)), nothing, cut))
    columns = ("specification", "n", "passes", "gives nothing", "cut off")
    return Table("specification reasoning", columns, tuple(rows), _NOTE)


def _reasoning(every: Sequence[Mapping[str, Any]]) -> Table:
    score = sum(one["s_sr"] for one in every)
    failed = len(every) - _passed(every, "none")
    lost = sum(one["settings"]["none"]["passed"] and not one["settings"]["true"]["passed"] for one in every)
    columns = ("n", "R_SR", "of those failed without", "only without right", "McNemar p")
    row = (len(every), wilson(score, len(every)), wilson(score, failed), lost, mcnemar_exact(lost, score))
    return Table("what the test changes", columns, (row,), _RSR_NOTE)


def _ways(every: Sequence[Mapping[str, Any]]) -> Table:
    """Why what was written gives nothing."""
    counts = Counter(
        (SETTINGS[name], told["failed"])
        for one in every
        for name, told in one["settings"].items()
        if told["failed"]
    )
    rows = tuple((title, reason, count) for (title, reason), count in sorted(counts.items()))
    return Table("programs that give nothing", ("specification", "why", "n"), rows)


def _listed(every: Sequence[Mapping[str, Any]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in every:
        told = (one["settings"][name] for name in SETTINGS)
        gave = (short(each["gave"]) if each["gave"] is not None else each["failed"] for each in told)
        rows.append((one["call"], one["input"], short(one["gives"]), short(one["misleading"]), *gave))
    columns = ("call", "input from", "right", "misleading", *SETTINGS.values())
    return Table("what its programs give", columns, tuple(rows))


def _summary(every: Sequence[Mapping[str, Any]]) -> str:
    parts = [f"{_passed(every, name)} {title}" for name, title in SETTINGS.items()]
    return (
        f"Of {plural(len(every), 'function')} the model wrote such that the test passed: {', '.join(parts)}."
    )
