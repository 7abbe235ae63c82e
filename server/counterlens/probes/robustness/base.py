"""One question on all versions of a function: how alike are the answers? (Nguyen et al. 2024, equation 1)."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from counterlens.attribution.base import lasting
from counterlens.errors import CounterlensError, SourceError
from counterlens.metrics.table import Table
from counterlens.models.base import Model, ModelInfo, Prompt
from counterlens.models.sentences import SentenceEncoder
from counterlens.probes.options import DEFAULT_TIMEOUT, MaxTokens, Mutations, ProbeOptions, Timeout, Without
from counterlens.probes.probe import Context, Need, Probe, Target
from counterlens.probes.robustness import tables
from counterlens.probes.robustness.programs import Code, CodeOption, expected, programs
from counterlens.probes.robustness.record import AnswerPair, RobustnessRecord
from counterlens.probes.robustness.versions import Standing, Version, Versions, planned, settled
from counterlens.probes.sanity import require_repeatable
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document

SAME = 0.999
"""Answers that are at least so much alike are the same."""
_UNLIKE = 0.9  # an answer is less alike than this to one that has nothing to do with it
NO_ANSWER = "there was no answer in what the model said"
Similarity = Callable[[str, str], float]
"""How alike the answer to the original and another one are, 0 to 1."""
Similarities = Mapping[str, Similarity]
"""The similarities by their names, the one that counts first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessOptions(ProbeOptions):
    """Options of the probes of robustness; nothing is cut, so there is no prefix ratio."""

    mutations: Mutations = ()
    without: Without = ()
    code: CodeOption = Code.GIVEN
    max_tokens: MaxTokens = 64
    timeout: Timeout = DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True)
class VersionQuestion:
    """What is asked about a program and one version of it.

    Attributes:
        version: The version.
        standing: What it is; where there is a call, what it is for this call.
        call: The call that is asked about, if any.
        original: The question about the program as it stands.
        changed: The same about the version.
    """

    version: Version
    standing: Standing
    call: str | None
    original: Prompt
    changed: Prompt


OptionsT = TypeVar("OptionsT", bound=RobustnessOptions)
_Asked = tuple[Target, bool | None, VersionQuestion]


class RobustnessProbe(Probe[OptionsT, RobustnessRecord]):
    """One question about a function and all its versions.

    Attributes:
        heading: What the question is called in a table.
        unlike: An answer unlike any other, for the check that a difference is seen.
    """

    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    record = RobustnessRecord
    heading: ClassVar[str]
    unlike: ClassVar[str]

    @abstractmethod
    def prompt(
        self, info: ModelInfo, document: Document, qualname: str, call: str | None, max_tokens: int
    ) -> Prompt:
        """What is asked about a version of a function, and a call of it where there is one."""

    @abstractmethod
    def read(self, text: str) -> str | None:
        """The answer in what the model says; None where there is none."""

    @abstractmethod
    def similarities(
        self, answers: Sequence[str], encoder: SentenceEncoder | None
    ) -> tuple[Similarities, str]:
        """The similarities of some answers, and what a reader needs to know of them.

        Raises:
            CounterlensError: a library that compares the answers is not installed.
        """

    def questions(
        self,
        context: Context,
        program: Target,
        found: Versions,
        options: OptionsT,
        limits: Limits,  # noqa: ARG002
        left_out: Counter[str],  # noqa: ARG002
    ) -> Iterator[VersionQuestion]:
        """What to ask about a program and each of its versions; `left_out` counts what is not, by reason."""
        info, tokens = context.model.info, options.max_tokens
        original = self.prompt(info, program.document, program.qualname, None, tokens)
        for version in found.versions:
            changed = self.prompt(info, version.document, program.qualname, None, tokens)
            yield VersionQuestion(version, version.standing, None, original, changed)

    def rounds(self, program: Target) -> int:  # noqa: ARG002
        """How often each version of a program is asked about."""
        return 1

    def run(self, context: Context, target: Target, options: OptionsT) -> RobustnessRecord:
        """As `Probe.run`.

        Raises:
            SourceError: there is nothing to compare; says why.
            CounterlensError: a sanity check failed, or the library that compares the answers is not
                installed.
        """
        self.similarities([self.unlike], context.encoder)  # what is missing is said before anything is asked
        left_out, asked = Counter[str](), list[_Asked]()
        limits = lasting(options.timeout)
        for program in programs(context, target, options.code):
            surveyed = planned(program, options.mutations, seed=options.seed, without=options.without)
            found = settled(context, program, surveyed, limits)
            left_out.update(found.left_out)
            questions = self.questions(context, program, found, options, limits, left_out)
            asked += [(program, found.correct, question) for question in questions]
        answers = self._answers(context, [question for _, _, question in asked])
        known = [answer for answer in answers.values() if answer is not None]
        similarities, note = self.similarities([*known, self.unlike], context.encoder)
        self._check(context, answers, similarities)
        pairs = tuple(_compared(asked, answers, similarities, left_out))
        if not pairs:
            reasons = "; ".join(f"{count} {reason}" for reason, count in left_out.most_common(4))
            raise SourceError("there are no two answers to compare", reasons or None)
        return RobustnessRecord(left_out=left_out, note=note, measures=tuple(similarities), pairs=pairs)

    def tables(self, records: Sequence[RobustnessRecord], *, seed: int) -> tuple[Table, ...]:
        """As `Probe.tables`; similarities are those that were measured when the answers were given."""
        shown = (
            tables.overall(records, self.heading, seed),
            tables.by_change(records, self.heading, seed),
            tables.by_correctness(records, self.heading, seed),
            tables.listing(records),
        )
        return tuple(table for table in shown if table is not None)

    def summary(self, records: Sequence[RobustnessRecord]) -> str:
        """As `Probe.summary`."""
        parts = []
        for standing, verb in ((Standing.PRESERVING, "keep"), (Standing.BREAKING, "break")):
            same = [alike for record in records for alike in _same(record, standing)]
            if same:
                parts.append(f"after {sum(same)} of {len(same)} changes that {verb} the meaning")
        shown = (
            f"The answer stayed the same {' and '.join(parts)}." if parts else "Nothing could be compared."
        )
        return (
            f"{shown} A model that follows the code keeps it after the first and changes it after the second."
        )

    def measures(self, record: RobustnessRecord) -> Mapping[str, bool]:
        """As `Probe.measures`, by the first similarity."""
        kept, broken = _same(record, Standing.PRESERVING), _same(record, Standing.BREAKING)
        measured = {}
        if kept:
            measured["same answer after every change that keeps the meaning"] = all(kept)
        if broken:
            measured["another answer after every change that breaks it"] = not any(broken)
        return measured

    def estimate(self, target: Target, options: OptionsT, model: Model) -> int:  # noqa: ARG002
        """As `Probe.estimate`, from what mutations promise."""
        total = 0
        for program in expected(target, options.code):
            surveyed = planned(program, options.mutations, seed=options.seed, without=options.without)
            versions = len(surveyed.counterfactuals)
            total += self.rounds(program) * (1 + versions) if versions else 0
        again = 1 if total else 0  # the sanity check
        return total + again + (1 if options.code is Code.WRITTEN else 0)

    def _answers(self, context: Context, questions: Sequence[VersionQuestion]) -> dict[Prompt, str | None]:
        """The answer to each question, which is asked once."""
        both = ((question.original, question.changed) for question in questions)
        prompts = list(dict.fromkeys(prompt for pair in both for prompt in pair))
        answers = {}
        for number, prompt in enumerate(prompts):
            context.steps.next("asking", number, len(prompts))
            answers[prompt] = self._answer(context, prompt)
        return answers

    def _answer(self, context: Context, prompt: Prompt) -> str | None:
        return self.read(context.complete(prompt).text)

    def _check(
        self, context: Context, answers: Mapping[Prompt, str | None], similarities: Similarities
    ) -> None:
        """The identity has no effect, and a forced difference is seen; tried on the first answer there is."""
        prompt = next((prompt for prompt, answer in answers.items() if answer is not None), None)
        if prompt is None:
            return
        first = answers[prompt]
        require_repeatable(
            context.model.info.name,
            "answer the same question",
            first,
            lambda: self._answer(context.anew, prompt),
        )
        answer = first or ""
        for name, similarity in similarities.items():
            if similarity(answer, answer) < SAME or similarity(answer, self.unlike) > _UNLIKE:
                raise CounterlensError(
                    f"the similarity {name} does not tell answers apart", "Figures would mean nothing"
                )


def _compared(
    asked: Sequence[_Asked],
    answers: Mapping[Prompt, str | None],
    similarities: Similarities,
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
        )


def _same(record: RobustnessRecord, standing: Standing) -> list[bool]:
    """Whether the answer stayed the same, for each version of a kind, by the first similarity."""
    first = record.measures[0]
    return [pair.similarity[first] > SAME for pair in record.pairs if pair.standing is standing]
