"""The usual scores of benchmarks: does this set-up reproduce what is published about the model?

A set-up that does not (the chat template, what ends an answer, the quantisation) is wrong before any
experiment begins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from counterlens.judging.base import lasting
from counterlens.metrics.effects import Proportion
from counterlens.metrics.figures import (
    GroupedFigure,
    Rows,
    count,
    draw_figures,
    first,
    number,
    rows_of,
    share,
    share_of,
)
from counterlens.metrics.table import Table
from counterlens.models.base import Completion, Model, ModelInfo
from counterlens.probes.common_options import DEFAULT_TIMEOUT, MOST_TOKENS, Timeout
from counterlens.probes.options import PromptedOptions, option, protocols
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.reference.benchmark import (
    ASKED_BY,
    Benchmark,
    BenchmarkQuestion,
    Counted,
    asked_by,
)
from counterlens.probes.reference.lines import masked_lines
from counterlens.probes.reference.published import agreement, published_scores, published_table
from counterlens.probes.reference.record import ReferenceAnswer, ReferenceRecord
from counterlens.probes.reference.registry import TITLES, no_score, suiting
from counterlens.probes.sanity import repeats, require_repeatable

PROTOCOL = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceOptions(PromptedOptions):
    """Options of the usual scores."""

    score: Annotated[
        tuple[str, ...],
        option(
            "Only this score (repeatable); default: all that the data has.",
            metavar="ID",
            choices=tuple(TITLES),
        ),
    ] = ()
    max_tokens: Annotated[
        int | None,
        option(
            "Token limit for one answer (default: the published one).", metavar="N", low=1, high=MOST_TOKENS
        ),
    ] = None
    timeout: Timeout = DEFAULT_TIMEOUT
    protocol: Annotated[str | None, protocols(PROTOCOL)] = None


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """An answer by one score."""

    score: str
    right: bool
    cut: bool
    named: str


class ReferenceProbe(Probe[ReferenceOptions, ReferenceRecord]):
    """The usual scores of the model, beside the published ones."""

    id = "reference"
    title = "does it score what is published?"
    source = Source("the authors of each benchmark")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX, Need.BENCHMARK})
    options = ReferenceOptions
    record = ReferenceRecord

    def check_target(self, target: Target, options: ReferenceOptions) -> None:
        """Like `Probe.check_target`: it needs a problem of a benchmark."""
        if not any(suiting(target.problem, by, options.score) for by in ASKED_BY):
            raise no_score(target.problem, options.score)

    def run(self, context: Context, target: Target, options: ReferenceOptions) -> ReferenceRecord:
        """Like `Probe.run`: greedy, one answer to each question."""
        (record,) = self.run_together(context, [target], options)
        return record

    def run_together(
        self, context: Context, targets: Sequence[Target], options: ReferenceOptions
    ) -> list[ReferenceRecord]:
        """The records of several problems, whose questions share the calls of the model.

        Raises:
            SourceError: a problem has no score, asked in this way.
            UnsteadyModelError, ModelError, SandboxError, Cancelled: as `Probe.run`.
        """
        info = context.model.info
        asked = [
            (at, benchmark, question)
            for at, target in enumerate(targets)
            for benchmark, question in _questions(info, target, options)
        ]
        prompts = [question.prompt for _, _, question in asked]
        name = targets[0].name if len(targets) == 1 else f"{len(targets)} problems"
        completions = context.complete_all(f"asking about {name}", prompts)
        require_repeatable(
            context.model,
            "answer the same question",
            completions[0].text,
            lambda: context.uncached.complete_all("asking again", prompts[:1])[0].text,
        )
        answers: list[list[ReferenceAnswer]] = [[] for _ in targets]
        for done, ((at, benchmark, question), completion) in enumerate(zip(asked, completions, strict=True)):
            context.steps.next(f"running {targets[at].name}", done, len(asked))
            counted = benchmark.count(context, question, completion.text, lasting(options.timeout))
            answers[at].append(_answer(question, completion, counted, options.score))
        return [
            ReferenceRecord(named=info.name, asked_by=asked_by(info), answers=tuple(each)) for each in answers
        ]

    def tables(self, records: Sequence[ReferenceRecord], *, seed: int) -> tuple[Table, ...]:
        """The scores, with the published ones."""
        return draw_figures((FIGURE,), records, seed=seed)

    def summary(self, records: Sequence[ReferenceRecord]) -> str:
        """Like `Probe.summary`: each score, and whether it agrees with the published one."""
        scores: dict[str, list[tuple[str, ScoredAnswer]]] = {}
        for function, answer in rows_of(records, scored_answers):
            scores.setdefault(answer.score, []).append((function, answer))
        return " ".join(_sentence(share_of(rows, _is_right), rows[0][1]) for rows in scores.values())

    def measures(self, record: ReferenceRecord) -> Mapping[str, bool]:
        """Like `Probe.measures`: whether all answers are right by a score."""
        by_score: dict[str, bool] = {}
        for answer in scored_answers(record):
            by_score[answer.score] = by_score.get(answer.score, True) and answer.right
        return {TITLES[score]: right for score, right in by_score.items()}

    def estimate(self, target: Target, options: ReferenceOptions, model: Model) -> int:
        """Like `Probe.estimate`: the number of answers of a chat, if the data has any, else of lines."""
        for by in ASKED_BY:
            if benchmarks := suiting(target.problem, by, options.score):
                lines = sum(1 for _ in masked_lines(target.problem)) if by == "fill" and target.problem else 0
                return max(lines, len(benchmarks)) + repeats(model)
        raise no_score(target.problem, options.score)


def _questions(
    info: ModelInfo, target: Target, options: ReferenceOptions
) -> Iterator[tuple[Benchmark, BenchmarkQuestion]]:
    """The questions about a problem, each with its benchmark; an error if there is none."""
    problem, by = target.problem, asked_by(info)
    benchmarks = suiting(problem, by, options.score)
    if problem is None or not benchmarks:
        raise no_score(problem, options.score, by)
    for benchmark in benchmarks:
        for question in benchmark.questions(info, problem, options.max_tokens):
            yield benchmark, question


def _answer(
    question: BenchmarkQuestion, completion: Completion, counted: Counted, scores: Collection[str]
) -> ReferenceAnswer:
    return ReferenceAnswer(
        asked=question.asked,
        scores={score: right for score, right in counted.scores.items() if not scores or score in scores},
        said=completion.text,
        finish=completion.finish,
        tokens=completion.tokens,
        failed=counted.failed,
    )


def scored_answers(record: ReferenceRecord) -> Iterator[ScoredAnswer]:
    """The answers of a record, one for each score that counts them."""
    for answer in record.answers:
        for score, right in answer.scores.items():
            yield ScoredAnswer(score, right, answer.finish == "length", record.named)


def published_of(answer: ScoredAnswer) -> float | None:
    """The published value of the score of an answer, in percent; None if there is none."""
    published = published_scores(answer.named)
    return published.scores.get(answer.score) if published else None


def _is_right(answer: ScoredAnswer) -> bool:
    return answer.right


def _published_cell(answer: ScoredAnswer) -> str | None:
    value = published_of(answer)
    return None if value is None else f"{value:.1f}%"


def _agrees(rows: Rows[ScoredAnswer], _seed: int) -> str | None:
    return agreement(published_of(rows[0][1]), share_of(rows, _is_right)) or None


def _conditions(answer: ScoredAnswer) -> str | None:
    return None if published_of(answer) is None else published_table().conditions.get(answer.score)


FIGURE = GroupedFigure[ReferenceRecord, ScoredAnswer](
    "usual scores",
    of=scored_answers,
    by={"score": lambda answer: TITLES[answer.score]},
    columns={
        "n": count,
        "yours": share(_is_right),
        "published": first(_published_cell),
        "agrees": _agrees,
        "cut off": number(lambda answer: answer.cut),
        "published for": first(_conditions),
    },
    note="agrees: the published value is inside the interval; cut off: the answer reached the token limit",
)


def _sentence(share_right: Proportion, answer: ScoredAnswer) -> str:
    if share_right.value is None or share_right.low is None or share_right.high is None:
        return ""
    shown = f"{share_right.value:.1%} [{share_right.low:.0%}, {share_right.high:.0%}] of {share_right.n}"
    words = f"{TITLES[answer.score]}: {shown}"
    if (value := published_of(answer)) is None:
        return f"{words}."
    agrees = agreement(value, share_right)
    return f"{words}, published {value:.1f}%: {'agrees' if agrees == 'yes' else 'does not agree'}."
