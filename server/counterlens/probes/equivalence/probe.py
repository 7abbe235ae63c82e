"""The equivalence task: are these two functions equivalent (Wei et al. 2025, EquiBench)?

The pairs are our own: a function and its counterfactuals that were run, as many that keep the meaning, and
behave alike on all inputs, as that break it, and differ on an input. Each pair is asked in both orders. So a
model that always says yes is right in half of the cases, and one that compares texts about as often as the
baseline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from counterlens.errors import SourceError
from counterlens.judging.base import lasting
from counterlens.metrics.figures import (
    GroupedFigure,
    ListedFigure,
    Rows,
    count,
    first,
    rows_of,
    share,
    share_of,
)
from counterlens.mutations import Concept
from counterlens.probes.common_options import DEFAULT_TIMEOUT, MaxTokens, Mutations, Timeout, Without
from counterlens.probes.equivalence.verified import VerifiedVersion, require_comparable, verified_versions
from counterlens.probes.options import PromptedOptions
from counterlens.probes.probe import Context, Need, Source, Target
from counterlens.probes.prompts.asking import UNREADABLE, Question, TaskAnswer, yes_no_question
from counterlens.probes.prompts.closed_figures import BY_MODEL, log_odds, yes_no
from counterlens.probes.prompts.function_text import visible_part
from counterlens.probes.prompts.literals import short
from counterlens.probes.prompts.task import JudgedAnswer, PromptedTask
from counterlens.probes.record import Record
from counterlens.syntax.functions import find_function

MOST_PAIRS = 3
"""Maximum number of pairs of either kind per function."""
EQUIBENCH = {Concept.NAMING: "OJ_V"}
"""The categories of EquiBench that our concepts have; its others come from compilers and solutions."""
_SAID = {True: "yes", False: "no", None: "unreadable"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceOptions(PromptedOptions):
    """Options of the equivalence task."""

    mutations: Mutations = ()
    without: Without = ()
    max_tokens: MaxTokens = 16
    timeout: Timeout = DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceAnswer:
    """A pair of programs, and what the model says about it in both orders.

    Attributes:
        mutation: The id of the mutation.
        concept: The concept that it perturbs.
        line: Its line in the original, 1-based.
        equivalent: Whether the two behave alike on all inputs.
        call: An input on which they differ; empty if there is none.
        original: The result of the original on it.
        other: The result of the version.
        program: The version, as shown.
        similarity: The similarity of the two texts, 0 to 1.
        yes: Whether the model says that they are equivalent, with the original first, then with the version
            first; None if the answer cannot be read.
        probability: The probabilities of yes; empty if the model gives none.
    """

    mutation: str
    concept: Concept
    line: int
    equivalent: bool
    call: str
    original: str
    other: str
    program: str
    similarity: float
    yes: tuple[bool | None, bool | None]
    probability: tuple[float, ...] = ()

    @property
    def right(self) -> tuple[bool, bool]:
        """Whether either answer is right."""
        return self.yes[0] is self.equivalent, self.yes[1] is self.equivalent


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceRecord(Record):
    """The answers about one function and its versions, as many equivalent as not.

    Attributes:
        program: The original, as shown.
        answers: The answers, pair by pair.
    """

    program: str
    answers: tuple[EquivalenceAnswer, ...]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """A program as shown, its versions, and these as shown."""

    program: str
    versions: Sequence[VerifiedVersion]
    others: Sequence[str]


def _best_threshold(rows: Rows[EquivalenceAnswer], _: int) -> float:
    """The share that the best threshold of the texts' similarity is right about, in either direction."""
    answers = [(answer.similarity, answer.equivalent) for _, answer in rows]
    right = [
        sum((similarity >= limit) is equivalent for similarity, equivalent in answers)
        for limit in {similarity for similarity, _ in answers} | {2.0}
    ]
    return max(*right, len(answers) - min(right)) / len(answers)


class EquivalenceProbe(PromptedTask[EquivalenceOptions, EquivalenceRecord, _Pairs]):
    """Asks whether a function and a verified version of it are equivalent."""

    id = "equivalence"
    title = "does it see whether two functions do the same?"
    source = Source("Wei et al. 2025", "EquiBench, on pairs of our own")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = EquivalenceOptions
    record = EquivalenceRecord
    asking = "asking about equivalence of versions of"
    main = "equivalent"
    requests = 4 * MOST_PAIRS + 1
    unread = UNREADABLE
    figures = (
        GroupedFigure[EquivalenceRecord, EquivalenceAnswer](
            "equivalence",
            of=lambda record: record.answers,
            columns={
                "pairs": count,
                "right": share(lambda answer: answer.right),
                "right in both orders": share(lambda answer: all(answer.right)),
                "said yes": share(lambda answer: [yes is True for yes in answer.yes]),
                "same in both orders": share(lambda answer: answer.yes[0] is answer.yes[1]),
                "text similarity": _best_threshold,
            },
            note="as many pairs are equivalent as not, so always yes is right about 0.5; text similarity: "
            "the share that the best threshold, chosen on these very pairs, is right about",
        ),
        GroupedFigure[EquivalenceRecord, EquivalenceAnswer](
            "by kind of pair",
            of=lambda record: record.answers,
            by={
                "the two": lambda answer: "equivalent" if answer.equivalent else "differ",
                "concept": lambda answer: str(answer.concept),
                "mutation": lambda answer: answer.mutation,
            },
            columns={
                "EquiBench": first(lambda answer: EQUIBENCH.get(answer.concept)),
                "n": lambda rows, _: 2 * len(rows),
                "right": share(lambda answer: answer.right),
            },
            order=lambda answer: (not answer.equivalent, answer.concept, answer.mutation),
            note="EquiBench: its category, if it has one of this kind",
        ),
    )
    listing = ListedFigure[EquivalenceRecord, EquivalenceAnswer](
        "pairs",
        of=lambda record: record.answers,
        columns={
            "version": lambda answer: f"{answer.mutation}, line {answer.line}",
            "equivalent, or an input that differs": lambda answer: (
                "yes" if answer.equivalent else short(answer.call)
            ),
            "said": lambda answer: _SAID[answer.yes[0]],
            "said in the other order": lambda answer: _SAID[answer.yes[1]],
        },
    )

    def check_target(self, target: Target, options: EquivalenceOptions) -> None:  # noqa: ARG002
        """Like `Probe.check_target`: some inputs must be able to compare its behaviour."""
        require_comparable(target)

    def questions(
        self, context: Context, target: Target, options: EquivalenceOptions, left_out: Counter[str]
    ) -> tuple[_Pairs, list[Question[bool]]]:
        """Like `PromptedTask.questions`: both orders of each pair, as many equivalent as not."""
        alike, apart, reasons = verified_versions(
            context,
            target,
            options.mutations,
            seed=options.seed,
            limits=lasting(options.timeout),
            most=MOST_PAIRS,
            without=options.without,
        )
        left_out.update(reasons)
        n = min(len(alike), len(apart))
        if not n:
            missing = "breaks" if alike else "keeps"
            raise SourceError(
                f"no version of it verifiably {missing} the meaning, so there are no balanced pairs"
            )
        versions = [*alike[:n], *apart[:n]]
        function = find_function(target.document, target.qualname)
        program = visible_part(target.document, function)
        others = [visible_part(v.document, find_function(v.document, function.qualname)) for v in versions]
        questions = [
            yes_no_question(
                "equivalence",
                {"first": one_side, "second": other_side, "function": function.name},
                options.max_tokens,
            )
            for other in others
            for one_side, other_side in ((program, other), (other, program))
        ]
        return _Pairs(program, versions, others), questions

    def answered(
        self,
        context: Context,  # noqa: ARG002
        target: Target,  # noqa: ARG002
        options: EquivalenceOptions,  # noqa: ARG002
        facts: _Pairs,
        answers: Sequence[TaskAnswer[bool]],
    ) -> EquivalenceRecord:
        pairs = zip(facts.versions, facts.others, answers[::2], answers[1::2], strict=True)
        return EquivalenceRecord(
            program=facts.program,
            answers=tuple(_answer(version, facts.program, other, *said) for version, other, *said in pairs),
        )

    def judged(self, record: EquivalenceRecord) -> Iterator[JudgedAnswer]:
        """Like `PromptedTask.judged`: both orders of each pair."""
        for answer in record.answers:
            ranked = [
                {
                    BY_MODEL: yes_no(record.target, log_odds(probability), truth=answer.equivalent),
                    "text similarity": yes_no(record.target, answer.similarity, truth=answer.equivalent),
                }
                for probability in answer.probability
            ] or [{}, {}]
            for right, ways in zip(answer.right, ranked, strict=True):
                yield JudgedAnswer("equivalent", answer.equivalent, right, ways, 0.5)

    def finding(self, records: Sequence[EquivalenceRecord]) -> str:
        right = share_of(rows_of(records, lambda record: record.answers), lambda answer: answer.right)
        return (
            f"The model was right about {right.count} of {right.n} questions whether two functions are "
            "equivalent; always saying yes is right about half of them."
        )

    def measures(self, record: EquivalenceRecord) -> Mapping[str, bool]:
        right = [each.right for each in self.judged(record)]
        return {"more than half right": 2 * sum(right) > len(right)}


def _answer(
    version: VerifiedVersion, program: str, other: str, before: TaskAnswer[bool], after: TaskAnswer[bool]
) -> EquivalenceAnswer:
    made, difference = version.counterfactual, version.difference
    return EquivalenceAnswer(
        mutation=made.mutation,
        concept=made.concept,
        line=made.start_line,
        equivalent=difference is None,
        call=difference.call if difference else "",
        original=difference.original if difference else "",
        other=difference.other if difference else "",
        program=other,
        similarity=SequenceMatcher(None, program.split(), other.split(), autojunk=False).ratio(),
        yes=(before.value, after.value),
        probability=tuple(answer.probability for answer in (before, after) if answer.probability is not None),
    )
