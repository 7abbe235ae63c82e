"""One question on all versions of a function: similarity of answers (Nguyen et al. 2024, equation 1)."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, TypeVar

from counterlens.errors import CounterlensError, SourceError
from counterlens.judging.base import lasting
from counterlens.metrics.table import Table
from counterlens.models.base import Completion, Model, ModelInfo, Prompt
from counterlens.models.sentences import SentenceEncoder
from counterlens.mutations import Survey
from counterlens.probes.probe import Context, Need, Probe, Target
from counterlens.probes.prompts.baselines import first_words
from counterlens.probes.prompts.function_text import definition
from counterlens.probes.prompts.language import prompting_of
from counterlens.probes.prompts.templates import fill, repeats_example
from counterlens.probes.robustness.methods import METHODS, SAME, baselines, same_answers
from counterlens.probes.robustness.questions import (
    AnswerPair,
    RobustnessOptions,
    RobustnessRecord,
    VersionQuestion,
)
from counterlens.probes.robustness.versions import (
    AskedVersion,
    Code,
    Standing,
    Versions,
    expected_targets,
    programs,
    settle,
)
from counterlens.probes.sanity import repeats, require_repeatable
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

_UNLIKE = 0.9  # maximum similarity of an answer to an unrelated one
NO_ANSWER = "the model's text contains no answer"
Similarity = Callable[[str, str], float]
"""The similarity of the answer about the original and another answer, 0 to 1."""
Reader = Callable[[str], str | None]
"""Reads the answer from the model's text; None if there is none."""
Similarities = Mapping[str, Similarity]
"""The similarities by name, the main one first."""


OptionsT = TypeVar("OptionsT", bound=RobustnessOptions)
_Asked = tuple[Target, bool | None, VersionQuestion]


class RobustnessProbe(Probe[OptionsT, RobustnessRecord]):
    """One question about a function and all its versions.

    Attributes:
        heading: The question's name in tables.
        unlike: An answer unlike any other, to check that a difference is detected.
        never: Assumptions that no version may depend on.
    """

    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    record = RobustnessRecord
    heading: ClassVar[str]
    unlike: ClassVar[str]
    never: ClassVar[tuple[str, ...]] = ()

    def shown(self, document: Document, qualname: str) -> str:
        """The code in the question."""
        return definition(document, qualname)

    def prompt(self, asked: AskedVersion) -> Prompt:
        """The question about a version of a function: here with a one-line answer, and with examples."""
        name = f"{self.id}{prompting_of(asked.document.language).suffix}"
        source = self.shown(asked.document, asked.qualname)
        return fill(asked.info, __package__, name, asked.max_tokens, ("\n",), source=source)

    @abstractmethod
    def read(self, text: str, language: str = "python") -> str | None:
        """The answer in the model's text about code in a language; None if there is none."""

    def read_published(self, text: str, language: str = "python") -> str | None:
        """Like `read`, for a question of a published protocol, whose answer is free text."""
        return self.read(text, language)

    def finished_part(self, text: str, language: str) -> str:  # noqa: ARG002
        """The part of an answer that the token limit ended in which its end does not matter."""
        return text

    @abstractmethod
    def similarities(
        self, answers: Sequence[str], encoder: SentenceEncoder | None, language: str = "python"
    ) -> tuple[Similarities, str]:
        """The similarities for some answers about code in a language, and a note on them for readers.

        Raises:
            CounterlensError: a library that compares the answers is not installed.
        """

    def questions(
        self,
        context: Context,
        program: Target,
        versions: Versions,
        options: OptionsT,
        limits: Limits,  # noqa: ARG002
        left_out: Counter[str],  # noqa: ARG002
    ) -> Iterator[VersionQuestion]:
        """The questions about a program and its versions; `left_out` counts excluded ones, by reason."""
        info = context.model.info
        original = self.asked(info, program.document, program.qualname, None, options)
        for version in versions.versions:
            changed = self.asked(info, version.document, program.qualname, None, options)
            yield VersionQuestion(version, version.standing, None, original, changed)

    def rounds(self, program: Target, options: OptionsT) -> int:  # noqa: ARG002
        """The number of questions about each version of a program."""
        return 1

    def asked(
        self, info: ModelInfo, document: Document, qualname: str, call: str | None, options: OptionsT
    ) -> Prompt:
        """Like `prompt`, in the words of the chosen protocol, if any."""
        version = AskedVersion(info, document, qualname, call, options.max_tokens)
        return METHODS[options.chosen_protocol].prompt(self, version)

    def run(self, context: Context, target: Target, options: OptionsT) -> RobustnessRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: there is nothing to compare; the message says why.
            CounterlensError: a sanity check failed, or the library that compares the answers is not
                installed.
        """
        language = target.document.language
        # Missing libraries are reported before any request to the model.
        self.similarities([self.unlike], context.encoder, language)
        method = METHODS[options.chosen_protocol]
        method.check(language)
        left_out, asked = Counter[str](), list[_Asked]()
        language = target.document.language
        limits, reader = lasting(options.timeout), self._reader(options, language)
        programs, passed = self._programs(context, target, options, left_out), None
        for program in programs:
            planned, tests = self._planned(program, options), (options.map_timeout, options.excluded_tests)
            versions = settle(context, program, planned, limits, *tests)
            left_out.update(versions.left_out)
            questions = self.questions(context, program, versions, options, limits, left_out)
            asked += [(program, versions.correct, question) for question in questions]
            passed = versions.correct
        answers = self._answers(context, [question for _, _, question in asked], reader, language)
        readable = [answer for answer in answers.values() if answer is not None]
        similarities, note = self.similarities([*readable, self.unlike], context.encoder, language)
        self._check(context, answers, similarities, reader, language)
        pairs = tuple(_compare(asked, answers, similarities, reader, left_out))
        if not pairs and method.needs_pairs:
            reasons = "; ".join(f"{count} {reason}" for reason, count in left_out.most_common(4))
            raise SourceError("there are no two answers to compare", reasons or None)
        return RobustnessRecord(
            left_out=left_out,
            note=note,
            measures=tuple(similarities),
            pairs=pairs,
            passed=(passed if programs else False) if options.code is Code.WRITTEN else None,
        )

    def tables(self, records: Sequence[RobustnessRecord], *, seed: int) -> tuple[Table, ...]:
        """Like `Probe.tables`; the similarities were computed during the run, and are in the records."""
        return METHODS[records[0].protocol].tables(records, self.heading, seed)

    def summary(self, records: Sequence[RobustnessRecord]) -> str:
        parts = []
        for standing, verb in ((Standing.PRESERVING, "keep"), (Standing.BREAKING, "break")):
            same = [alike for record in records for alike in same_answers(record, standing)]
            if same:
                parts.append(f"after {sum(same)} of {len(same)} changes that {verb} the meaning")
        shown = (
            f"The answer stayed the same {' and '.join(parts)}." if parts else "Nothing could be compared."
        )
        return (
            f"{first_words(baselines(records))}{shown} "
            "A model that follows the code keeps it after the first and changes it after the second."
        )

    def measures(self, record: RobustnessRecord) -> Mapping[str, bool]:
        """Like `Probe.measures`, by the main similarity."""
        kept, broken = same_answers(record, Standing.PRESERVING), same_answers(record, Standing.BREAKING)
        measured = {}
        if kept:
            measured["same answer after every change that keeps the meaning"] = all(kept)
        if broken:
            measured["different answer after every change that breaks it"] = not any(broken)
        return measured

    def estimate(self, target: Target, options: OptionsT, model: Model) -> int:
        """Like `Probe.estimate`: assuming that every counterfactual is usable."""
        total = 0
        for program in expected_targets(target, options.code):
            versions = len(self._planned(program, options).counterfactuals)
            total += self.rounds(program, options) * (1 + versions) if versions else 0
        again = repeats(model) if total else 0
        return total + again + (1 if options.code is Code.WRITTEN else 0)

    def _programs(
        self, context: Context, target: Target, options: OptionsT, left_out: Counter[str]
    ) -> list[Target]:
        """The programs; under a protocol, a function without a program counts as one that fails its tests."""
        find_function(target.document, target.qualname)
        try:
            return programs(context, target, options.code)
        except SourceError as error:
            if METHODS[options.chosen_protocol].needs_pairs:
                raise
            left_out[error.message] += 1
            return []

    def _planned(self, program: Target, options: OptionsT) -> Survey:
        return METHODS[options.chosen_protocol].planned(program, options, self.never)

    def _reader(self, options: OptionsT, language: str) -> Reader:
        read = METHODS[options.chosen_protocol].reader(self)
        return lambda text: read(text, language)

    def _read(self, completion: Completion, reader: Reader, language: str) -> str | None:
        is_cut_off = completion.finish == "length"
        return reader(self.finished_part(completion.text, language) if is_cut_off else completion.text)

    def _answers(
        self, context: Context, questions: Sequence[VersionQuestion], reader: Reader, language: str
    ) -> dict[Prompt, str | None]:
        """The answer to each distinct question; each is sent to the model once."""
        both = ((question.original, question.changed) for question in questions)
        prompts = list(dict.fromkeys(prompt for pair in both for prompt in pair))
        completions = context.complete_all("asking", prompts) if prompts else []
        return {
            prompt: self._read(completion, reader, language)
            for prompt, completion in zip(prompts, completions, strict=True)
        }

    def _check(
        self,
        context: Context,
        answers: Mapping[Prompt, str | None],
        similarities: Similarities,
        reader: Reader,
        language: str,
    ) -> None:
        """Check that the identity has no effect and that a forced difference is detected, on one answer."""
        prompt = next((prompt for prompt, answer in answers.items() if answer is not None), None)
        if prompt is None:
            return
        first = answers[prompt]
        require_repeatable(
            context.model,
            "answer the same question",
            first,
            lambda: self._read(context.uncached.complete(prompt), reader, language),
        )
        answer = first or ""
        for name, similarity in similarities.items():
            if similarity(answer, answer) < SAME or similarity(answer, self.unlike) > _UNLIKE:
                raise CounterlensError(
                    f"the similarity {name} does not distinguish answers", "Figures would be meaningless"
                )


def _compare(
    asked: Sequence[_Asked],
    answers: Mapping[Prompt, str | None],
    similarities: Similarities,
    reader: Reader,
    left_out: Counter[str],
) -> Iterator[AnswerPair]:
    for program, correct, question in asked:
        original, answer = answers[question.original], answers[question.changed]
        if original is None or answer is None:
            left_out[NO_ANSWER] += 1
            continue
        change = question.version.counterfactual
        yield AnswerPair(
            target=program.name,
            correct=correct,
            mutation=change.mutation,
            line=change.start_line,
            preserving=change.preserving,
            standing=question.standing,
            call=question.call,
            original=original,
            answer=answer,
            similarity={name: alike(original, answer) for name, alike in similarities.items()},
            copied=repeats_example(question.original, original, reader)
            + repeats_example(question.changed, answer, reader),
        )
