"""The equivalence probe: are these two functions equivalent (Wei et al. 2025, EquiBench)?

The pairs are our own: a function and its counterfactuals that were run, as many that keep the meaning, and
behave alike on all inputs, as that break it, and differ on an input. Each pair is asked in both orders. So a
model that always says yes is right in half of the cases, and one that compares texts about as often as the
baseline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain

from counterlens.errors import SourceError
from counterlens.judging.base import lasting
from counterlens.metrics.closed import Closed, area_inside
from counterlens.metrics.effects import Proportion, pooled_share
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Model, ModelInfo, Prompt
from counterlens.models.chat.replies import without_thought
from counterlens.mutations import Concept
from counterlens.probes.common_options import DEFAULT_TIMEOUT, MaxTokens, Mutations, Timeout, Without
from counterlens.probes.equivalence.verified import VerifiedVersion, require_comparable, verified_versions
from counterlens.probes.options import ProbeOptions
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.prompts.baselines import ChanceComparison, baseline_table, first_words, share_right
from counterlens.probes.prompts.closed import YesNo, ask
from counterlens.probes.prompts.closed_figures import BY_MODEL, closed_table, log_odds, yes_no
from counterlens.probes.prompts.function_text import visible_part
from counterlens.probes.prompts.language import prompting_of
from counterlens.probes.prompts.literals import short
from counterlens.probes.prompts.templates import fill
from counterlens.probes.record import Record
from counterlens.probes.sanity import require_same
from counterlens.syntax.functions import find_function

MOST_PAIRS = 3
"""Maximum number of pairs of either kind per function."""
EQUIBENCH = {Concept.NAMING: "OJ_V"}
"""The categories of EquiBench that our concepts have; its others come from compilers and solutions."""
_LISTED = 12
UNREADABLE = "answer that is neither yes nor no"


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceOptions(ProbeOptions):
    """Options of the equivalence probe."""

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


class EquivalenceProbe(Probe[EquivalenceOptions, EquivalenceRecord]):
    """Asks whether a function and a verified version of it are equivalent."""

    id = "equivalence"
    title = "does it see whether two functions do the same?"
    source = Source("Wei et al. 2025", "EquiBench, on pairs of our own")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = EquivalenceOptions
    record = EquivalenceRecord

    def check_target(self, target: Target, options: EquivalenceOptions) -> None:  # noqa: ARG002
        """Like `Probe.check_target`: some inputs must be able to compare its behaviour."""
        require_comparable(target)

    def run(self, context: Context, target: Target, options: EquivalenceOptions) -> EquivalenceRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: its behaviour cannot be compared, or there is no version of one of the two kinds.
        """
        alike, apart, left_out = verified_versions(
            context,
            target,
            options.mutations,
            seed=options.seed,
            limits=lasting(options.timeout),
            most=MOST_PAIRS,
            without=options.without,
        )
        n = min(len(alike), len(apart))
        if not n:
            raise SourceError(
                "no version of it verifiably breaks the meaning, so there are no balanced pairs"
                if alike
                else "no version of it verifiably keeps the meaning, so there are no balanced pairs"
            )
        versions = [*alike[:n], *apart[:n]]
        info, function = context.model.info, find_function(target.document, target.qualname)
        program = visible_part(target.document, function)
        others = [visible_part(v.document, find_function(v.document, function.qualname)) for v in versions]
        prompts = [
            question(info, target, *pair, options.max_tokens)
            for other in others
            for pair in ((program, other), (other, program))
        ]
        answers = ask(context.model, prompts, read_yes_no, context.steps, "asking about equivalence")
        fresh = context.uncached.model
        require_same(
            info.name,
            "answer the same question",
            answers[0].yes,
            lambda: ask(fresh, prompts[:1], read_yes_no, context.steps, "asking again")[0].yes,
        )
        left_out[UNREADABLE] = sum(answer.yes is None for answer in answers)
        return EquivalenceRecord(
            left_out=left_out,
            program=program,
            answers=tuple(
                _answer(version, program, other, answers[2 * i : 2 * i + 2])
                for i, (version, other) in enumerate(zip(versions, others, strict=True))
            ),
        )

    def tables(self, records: Sequence[EquivalenceRecord], *, seed: int) -> tuple[Table, ...]:
        tables = (
            _overall(records),
            closed_table(_closed_questions(records), seed=seed),
            _kinds(records),
            baseline_table(_baselines(records)),
            _listing(records),
        )
        return tuple(table for table in tables if table.rows)

    def summary(self, records: Sequence[EquivalenceRecord]) -> str:
        right = _right(records)
        return (
            f"{first_words(_baselines(records))}The model was right about {right.count} of {right.n} "
            "questions whether two functions are equivalent; always saying yes is right about half of them."
        )

    def measures(self, record: EquivalenceRecord) -> Mapping[str, bool]:
        right = [each for answer in record.answers for each in answer.right]
        return {"more than half right": 2 * sum(right) > len(right)}

    def excess(self, record: EquivalenceRecord) -> float | None:
        """Like `Probe.excess`: the AUROC inside the function, or without probabilities the share right."""
        asked = _closed_questions([record]).get(("equivalent", BY_MODEL))
        inside = area_inside(asked).value if asked else None
        right = [each for answer in record.answers for each in answer.right]
        return (sum(right) / len(right) if inside is None else inside) - 0.5

    def estimate(self, target: Target, options: EquivalenceOptions, model: Model) -> int:  # noqa: ARG002
        find_function(target.document, target.qualname)
        return 4 * MOST_PAIRS + 1


def question(info: ModelInfo, target: Target, first: str, second: str, max_tokens: int) -> Prompt:
    """The question about two programs."""
    name = f"equivalence{prompting_of(target.document.language).suffix}"
    function = find_function(target.document, target.qualname)
    return fill(
        info, __package__, name, max_tokens, ("\n",), first=first, second=second, function=function.name
    )


def read_yes_no(text: str) -> bool | None:
    """The answer that a text begins with; None if it is neither yes nor no."""
    word = without_thought(text).strip().lstrip("*`\"'#").split(maxsplit=1)[:1]
    return {"yes": True, "no": False}.get(word[0].strip("*`\"'.,:;!").lower()) if word else None


def _answer(
    version: VerifiedVersion, program: str, other: str, answers: Sequence[YesNo]
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
        yes=(answers[0].yes, answers[1].yes),
        probability=tuple(each.probability for each in answers if each.probability is not None),
    )


def _pairs(records: Sequence[EquivalenceRecord]) -> Iterator[tuple[str, EquivalenceAnswer]]:
    return ((record.target, answer) for record in records for answer in record.answers)


def _right(records: Sequence[EquivalenceRecord]) -> Proportion:
    return pooled_share((target, right) for target, answer in _pairs(records) for right in answer.right)


def _by_similarity(records: Sequence[EquivalenceRecord]) -> float:
    """The share that the best threshold of the texts' similarity is right about, in either direction."""
    answers = sorted((answer.similarity, answer.equivalent) for _, answer in _pairs(records))
    n, best = len(answers), 0
    for limit in {similarity for similarity, _ in answers} | {2.0}:
        right = sum((similarity >= limit) is equivalent for similarity, equivalent in answers)
        best = max(best, right, n - right)
    return best / n


def _overall(records: Sequence[EquivalenceRecord]) -> Table:
    answers = list(_pairs(records))
    same = pooled_share((target, answer.yes[0] is answer.yes[1]) for target, answer in answers)
    said_yes = pooled_share((target, yes is True) for target, answer in answers for yes in answer.yes)
    both = pooled_share((target, all(answer.right)) for target, answer in answers)
    row = (len(answers), _right(records), both, said_yes, same, _by_similarity(records))
    columns = ("pairs", "right", "right in both orders", "said yes", "same in both orders", "text similarity")
    note = (
        "as many pairs are equivalent as not, so always yes is right about 0.5; text similarity: the share "
        "that the best threshold, chosen on these very pairs, is right about"
    )
    return Table("equivalence", columns, (row,), note)


def _closed_questions(records: Sequence[EquivalenceRecord]) -> dict[tuple[str, str], list[Closed]]:
    """The questions of which the probability of yes is known, by it, and by the similarity of the texts."""
    asked: dict[tuple[str, str], list[Closed]] = {
        ("equivalent", BY_MODEL): [],
        ("equivalent", "text similarity"): [],
    }
    for target, answer in _pairs(records):
        for probability in answer.probability:
            odds = log_odds(probability)
            asked["equivalent", BY_MODEL].append(yes_no(target, odds, truth=answer.equivalent))
            asked["equivalent", "text similarity"].append(
                yes_no(target, answer.similarity, truth=answer.equivalent)
            )
    return asked


def _kinds(records: Sequence[EquivalenceRecord]) -> Table:
    groups: dict[tuple[bool, Concept, str], list[tuple[str, bool]]] = {}
    for target, answer in _pairs(records):
        kind = (not answer.equivalent, answer.concept, answer.mutation)
        groups.setdefault(kind, []).extend((target, right) for right in answer.right)
    rows: list[tuple[Cell, ...]] = [
        (
            "differ" if differ else "equivalent",
            str(concept),
            mutation,
            EQUIBENCH.get(concept),
            len(group),
            pooled_share(group),
        )
        for (differ, concept, mutation), group in sorted(groups.items())
    ]
    columns = ("the two", "concept", "mutation", "EquiBench", "n", "right")
    return Table(
        "by kind of pair", columns, tuple(rows), "EquiBench: its category, if it has one of this kind"
    )


def _baselines(records: Sequence[EquivalenceRecord]) -> list[ChanceComparison]:
    answers = [answer for _, answer in _pairs(records)]
    truths = [answer.equivalent for answer in answers for _ in answer.yes]
    right = sum(chain.from_iterable(answer.right for answer in answers))
    compared = share_right("equivalent", truths, right, 0)
    return [replace(compared, constant=max(compared.constant, 0.5))] if compared else []


def _listing(records: Sequence[EquivalenceRecord]) -> Table:
    """The pairs of a few functions."""
    words = {True: "yes", False: "no", None: "unreadable"}
    answers = list(_pairs(records))
    rows = tuple(
        (
            target,
            f"{answer.mutation}, line {answer.line}",
            "yes" if answer.equivalent else short(answer.call),
            *(words[yes] for yes in answer.yes),
        )
        for target, answer in (answers if len(answers) <= _LISTED else ())
    )
    columns = (
        "function",
        "version",
        "equivalent, or an input that differs",
        "said",
        "said in the other order",
    )
    return Table("pairs", columns, rows)
