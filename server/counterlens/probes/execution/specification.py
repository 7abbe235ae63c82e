"""The specification probe (Liu et al. 2024, definition 3): does showing a test help?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from counterlens.errors import CounterlensError, SourceError
from counterlens.judging.base import lasting
from counterlens.metrics.table import Table
from counterlens.models.base import Model
from counterlens.probes.common_options import DEFAULT_TIMEOUT, Timeout
from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.methods import METHODS
from counterlens.probes.execution.prompts import WRITTEN_TOKENS, StyleTokens, most_tokens
from counterlens.probes.execution.published import PROTOCOL
from counterlens.probes.execution.questions import ExecutionQuestion, question_of, reachable
from counterlens.probes.execution.record import SpecificationRecord, SpecifiedFunction, SpecifiedProgram
from counterlens.probes.execution.specification_tables import SETTINGS, count_passed
from counterlens.probes.execution.translation import (
    FromLanguage,
    Specification,
    WrittenFunction,
    as_translation,
    description,
    noted,
    to_translate,
    translation_of,
    without_examples,
    write_each,
)
from counterlens.probes.options import PromptedOptions, protocols
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.prompts.function_text import hollow
from counterlens.probes.prompts.literals import Literal
from counterlens.probes.record import steady
from counterlens.probes.sanity import repeats, require_repeatable
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecificationOptions(PromptedOptions):
    """Options of the specification probe."""

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {PROTOCOL: {"ask_by": "text"}}

    timeout: Timeout = DEFAULT_TIMEOUT
    max_tokens: StyleTokens = None
    from_language: FromLanguage = None
    protocol: Annotated[str | None, protocols(PROTOCOL)] = None


class SpecificationProbe(Probe[SpecificationOptions, SpecificationRecord]):
    """Specification reasoning: writing a function with no test, with one, and with a misleading one."""

    id = "specification"
    title = "does it use a test that it is shown?"
    source = Source("Liu et al. 2024", "definition 3")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = SpecificationOptions
    record = SpecificationRecord

    def check_target(self, target: Target, options: SpecificationOptions) -> None:
        """Like `Probe.check_target`: a function needs a description, or a program to translate."""
        _specification(target, reachable(target), options.from_language)

    def run(self, context: Context, target: Target, options: SpecificationOptions) -> SpecificationRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: the function has no description, no usable call, or no program to translate.
        """
        context.steps.next(f"running {target.name}")
        case = _case(context, target, options)
        tokens = most_tokens(context.model.info, options.max_tokens, WRITTEN_TOKENS)
        settings = list(SETTINGS)
        written = case.write(context, settings, tokens)
        require_repeatable(
            context.model,
            "write a function from the same specification",
            written[0].program,
            lambda: case.write(context.uncached, settings[:1], tokens)[0].program,
        )
        programs = {
            setting: _ran(context, case, setting, program)
            for setting, program in zip(settings, written, strict=True)
        }
        return SpecificationRecord(
            translated_from=noted(options.from_language), functions=(case.specified(programs),)
        )

    def tables(self, records: Sequence[SpecificationRecord], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        shown = METHODS[records[0].protocol].specification_tables(_functions(records))
        return as_translation(shown, records)

    def summary(self, records: Sequence[SpecificationRecord]) -> str:
        written = _functions(records)
        parts = ", ".join(f"{count_passed(written, setting)} {title}" for setting, title in SETTINGS.items())
        kind = f" ({translation_of(records)})" if translation_of(records) else ""
        return f"Implementations that pass the test, of {len(written)}{kind}: {parts}."

    def measures(self, record: SpecificationRecord) -> Mapping[str, bool]:
        """Like `Probe.measures`: whether the function passed in each setting."""
        (function,) = record.functions
        return {title: function.settings[setting].passed for setting, title in SETTINGS.items()}

    def estimate(self, target: Target, options: SpecificationOptions, model: Model) -> int:  # noqa: ARG002
        reachable(target)
        return len(SETTINGS) + repeats(model)


@dataclass(frozen=True, slots=True)
class _Case:
    """A function to write, and its test.

    Attributes:
        question: The input, with the output of the reference.
        specification: Its description without examples, or the program to translate.
        removed: Number of lines of examples removed from the description.
        wrong: The output of the misleading test.
        limits: The limits of a program.
    """

    target: Target
    question: ExecutionQuestion
    specification: Specification
    removed: int
    wrong: Literal
    limits: Limits

    def write(self, context: Context, settings: Sequence[str], max_tokens: int) -> list[WrittenFunction]:
        """Have the model write the function from the specifications of some settings."""
        call = self.question.call
        alone = self.specification
        shown = [
            alone if setting == "none" else alone.with_example(call, self.wanted(setting).written)
            for setting in settings
        ]
        return write_each(context, self.target.document, reachable(self.target), shown, max_tokens)

    def wanted(self, setting: str) -> Literal:
        """The output with which a program passes in a setting."""
        truth = self.question.truth
        return self.wrong if setting == "misleading" else Literal(truth.value, truth.written)

    def specified(self, programs: Mapping[str, SpecifiedProgram]) -> SpecifiedFunction:
        """The result of the case, with the written programs."""
        return SpecifiedFunction(
            target=self.target.name,
            call=self.question.call,
            input=self.question.input.origin,
            gives=self.question.truth.written,
            misleading=self.wrong.written,
            specification=self.specification.text or self.specification.program,
            lines_of_examples_removed=self.removed,
            settings=programs,
            s_sr=int(programs["true"].passed and not programs["none"].passed),
        )


def _case(context: Context, target: Target, options: SpecificationOptions) -> _Case:
    """The case of a target, after the sanity check that a hollow function passes neither test."""
    function = reachable(target)
    specification, removed = _specification(target, function, options.from_language)
    limits = lasting(options.timeout)
    inputs = METHODS[options.chosen_protocol].specified_inputs
    question = question_of(context, target, seed=options.seed, limits=limits, inputs=inputs)
    values = execution_of(target.document.language).values
    other = values.misled(question.truth.value)
    if values.equal(other, question.truth.value):
        raise CounterlensError(
            f"{values.written(other)} is meant to mislead, but is correct",
            "This is a defect of Counterlens; please report it",
        )
    case = _Case(target, question, specification, removed, Literal(other, values.written(other)), limits)
    empty = hollow(target.document, function)
    for setting in ("true", "misleading"):
        if _ran(context, case, setting, WrittenFunction(empty.text, "stop")).passed:
            raise CounterlensError(
                f"{function.name} passes its test without a body, so figures would be meaningless",
                "Check the code around it in its file",
            )
    return case


def _specification(target: Target, function: Function, language: str | None) -> tuple[Specification, int]:
    """The specification of a function, and the number of lines of examples removed from it.

    Raises:
        SourceError: there is none.
    """
    if language is not None:
        return to_translate(target, language), 0
    whole = description(target, function)
    if whole is None:
        raise SourceError("it has no description to implement", "Add a docstring")
    text = without_examples(whole, function.name)
    if not text:
        raise SourceError("its description consists of examples only", "Add a docstring")
    return Specification(text), len(whole.splitlines()) - len(text.splitlines())


def _ran(context: Context, case: _Case, setting: str, written: WrittenFunction) -> SpecifiedProgram:
    """Run a written program, and see whether it passes the test of a setting."""
    document: Document = replace(case.target.document, text=written.program)
    right, gave, failed = False, None, None
    try:
        output = execution_of(document.language).output_of(
            document, case.question.call, context.setting(case.limits)
        )
        equal = execution_of(document.language).values.equal
        right, gave = equal(output.value, case.wanted(setting).value), output.written
    except SourceError as error:
        failed = steady(error.message)
    return SpecifiedProgram(right, gave, failed, written.finish, written.program)


def _functions(records: Sequence[SpecificationRecord]) -> list[SpecifiedFunction]:
    return [function for record in records for function in record.functions]
