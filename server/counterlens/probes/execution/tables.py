"""The tables of execution reasoning, for any number of answers (Liu et al. 2024, section IV)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from counterlens.metrics.agreement import few_points, spearman
from counterlens.metrics.effects import Proportion, pooled_share
from counterlens.metrics.significance import PairedShares, paired_shares
from counterlens.metrics.table import Cell, Table
from counterlens.probes.execution.language import TAGS, USES
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.execution.record import ExecutionAnswer, Form
from counterlens.probes.prompts.baselines import ChanceComparison, baseline_table, share_right
from counterlens.probes.prompts.literals import ABSOLUTE, RELATIVE, AnswerOutcome, short

SHOWN = 12
"""Maximum number of questions in a list."""
MOST_APIS = 12
"""Maximum number of callees in a table; the most frequent ones are shown."""
Answers = Sequence[ExecutionAnswer]
_NOT_RIGHT = (
    AnswerOutcome.OTHER_NUMBER,
    AnswerOutcome.UNPARSABLE,
    AnswerOutcome.REFUSED,
    AnswerOutcome.TRUNCATED,
)
_NOTE = (
    f"answers are read as literals and compared as values, floats within {RELATIVE:g} relative or "
    f"{ABSOLUTE:g}; n counts finished answers: one truncated at the token limit is neither right nor wrong. "
    f"An unparsable answer, a refusal, and a float for an int (or the reverse) count as wrong"
)
_PAIRED = ("difference", "only second right", "only first right", "McNemar p")


@dataclass(frozen=True, slots=True)
class AnswerBin:
    """The answers about functions whose measure is in a range.

    Attributes:
        low: The minimum.
        high: The maximum.
    """

    low: int
    high: int
    answers: tuple[ExecutionAnswer, ...]

    @property
    def title(self) -> str:
        """The range, such as `3 to 4`."""
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


def rounds_of(answer: ExecutionAnswer) -> int | None:
    """The number of rounds of the loops; None if there is no loop."""
    return answer.rounds if {"for", "while"} & set(answer.tags or ()) else None


MEASURES: Mapping[str, Callable[[ExecutionAnswer], int | None]] = {
    "cyclomatic complexity": lambda answer: answer.complexity,
    "lines": lambda answer: answer.lines,
    "rounds": rounds_of,
}
"""The counted quantities, by name."""


def doubling(value: int) -> tuple[int, int]:
    """The bin of a value: 0, 1, 2, 3 to 4, 5 to 8, 9 to 16, and so on."""
    if value < 2:
        return value, value
    high = 1 << (value - 1).bit_length()
    return high // 2 + 1, high


def alone(value: int) -> tuple[int, int]:
    """A bin for each value."""
    return value, value


def bins_of(
    answers: Answers,
    measure: Callable[[ExecutionAnswer], int | None],
    edges: Callable[[int], tuple[int, int]] = doubling,
) -> tuple[AnswerBin, ...]:
    """The answers by the bin of their function, in the order of the bins.

    Args:
        answers: The answers; those whose function lacks the measure are in no bin.
        edges: Returns the minimum and maximum of a value's bin.
    """
    bins: dict[tuple[int, int], list[ExecutionAnswer]] = {}
    for answer in answers:
        value = measure(answer)
        if value is not None:
            bins.setdefault(edges(value), []).append(answer)
    return tuple(AnswerBin(*at, tuple(bins[at])) for at in sorted(bins))


def ended_answers(answers: Answers) -> list[ExecutionAnswer]:
    """The answers that the token limit did not truncate."""
    return [answer for answer in answers if not answer.truncated]


def rate(answers: Answers) -> Proportion:
    """The execution reasoning rate (Liu et al. 2024, equation 3): right answers among those not truncated."""
    return pooled_share((answer.target, answer.right) for answer in ended_answers(answers))


def verdicts(answers: Answers, style: str, form: Form) -> dict[str, bool]:
    """Whether the answers in one style about one form are right, by function, without truncated answers."""
    return {name: answer.right for name, answer in pick(ended_answers(answers), style, form).items()}


def pick(answers: Answers, style: str, form: Form) -> dict[str, ExecutionAnswer]:
    """The answers in one style about one form, by function."""
    return {answer.target: answer for answer in answers if (answer.style, answer.form) == (style, form)}


def breakdown(answers: Answers, *, seed: int) -> tuple[Table, ...]:
    """The tables of independent execution reasoning.

    Args:
        answers: The answers; those about unrolled programs have a separate table.
        seed: Random seed of intervals.
    """
    standing = [answer for answer in answers if answer.form is Form.STANDING]
    targets = {answer.target for answer in standing}
    origins = tuple(sorted({answer.input for answer in standing}))
    tables = [
        styles(standing),
        baseline_table(style_baselines(standing)),
        _thinking(standing),
        unread(answers),
        _by_part(standing, "by construct", "construct", lambda answer: answer.tags, TAGS),
        _by_part(standing, "by features used", "operators and calls", lambda answer: answer.uses, USES),
        _by_part(standing, "by functions called", "API", lambda answer: answer.apis, _frequent(standing)),
        _types(standing),
        _by_part(standing, "by source of the inputs", "inputs", lambda answer: (answer.input,), origins),
    ]
    if len(targets) > 2:
        tables.append(_correlations(standing, seed=seed))
    tables += [_curve(standing, name) for name in MEASURES]
    tables.append(_loops(answers))
    if len(targets) <= SHOWN:
        tables.insert(0, _questions(answers))
    return tuple(table for table in tables if table.rows)


def style_baselines(answers: Answers) -> list[ChanceComparison]:
    """The share of right answers in each style among those not truncated, beside answers without a model."""
    drawn = []
    for asked, said in _by_style(answers):
        known = ended_answers(said)
        truths, right = [answer.truth for answer in known], sum(answer.right for answer in known)
        drawn.append(share_right(asked, truths, right, sum(answer.copied for answer in known)))
    return [baseline for baseline in drawn if baseline]


def styles(answers: Answers, title: str = "independent execution reasoning") -> Table:
    """The rate for each style, and the number of answers by outcome other than right and wrong."""
    rows: list[tuple[Cell, ...]] = []
    for name, asked in _by_style(answers):
        counts = Counter(answer.outcome for answer in asked)
        rows.append((name, len(ended_answers(asked)), rate(asked), *(counts[kind] for kind in _NOT_RIGHT)))
    return Table(title, ("asked", "n", "rate", *map(str, _NOT_RIGHT)), tuple(rows), _NOTE)


def _thinking(answers: Answers) -> Table:
    """The effect of reasoning step by step (Liu et al. 2024, Figure 3)."""
    direct, steps = (verdicts(answers, style, Form.STANDING) for style in STYLES)
    shares = paired_shares(direct, steps)
    columns = ("n", *(style.title for style in STYLES.values()), *_PAIRED)
    rows = ((shares.n, shares.first, shares.second, *differing(shares)),) if shares.n else ()
    note = "the same functions and inputs, if both answers finished; first: direct, second: step by step"
    return Table("step by step against direct", columns, rows, note)


def differing(shares: PairedShares) -> tuple[Cell, ...]:
    """The cells of a difference: the difference, the answers that only one side has right, and p."""
    return (shares.difference, shares.gained, shares.lost, shares.p)


def _curve(answers: Answers, name: str) -> Table:
    """Accuracy over a measure, in bins (Liu et al. 2024, Figures 4 and 7)."""
    rows: list[tuple[Cell, ...]] = []
    for part in bins_of(answers, MEASURES[name]):
        n = len({answer.target for answer in part.answers})
        rows.append((part.title, n, *(rate(asked) for _, asked in _by_style(part.answers, every=True))))
    return Table(
        f"accuracy over {name}", (name, "n", *(style.title for style in STYLES.values())), tuple(rows)
    )


def unread(answers: Answers) -> Table:
    """The reasons why answers could not be read."""
    counts = Counter((STYLES[answer.style].title, answer.unread) for answer in answers if answer.unread)
    rows = tuple((style, reason, count) for (style, reason), count in sorted(counts.items()))
    return Table("unreadable answers", ("asked", "why", "n"), rows)


def _by_part(
    answers: Answers,
    title: str,
    head: str,
    parts_of: Callable[[ExecutionAnswer], Sequence[str] | None],
    parts: Sequence[str],
) -> Table:
    """The rates of the functions with each part, such as a construct."""
    rows: list[tuple[Cell, ...]] = []
    for part in parts:
        chosen = [answer for answer in answers if part in (parts_of(answer) or ())]
        if chosen:
            n = len({answer.target for answer in chosen})
            rows.append((str(part), n, *(rate(asked) for _, asked in _by_style(chosen, every=True))))
    return Table(title, (head, "n", *(style.title for style in STYLES.values())), tuple(rows))


def _types(answers: Answers) -> Table:
    """Right type and right value, by the type of the output (Liu et al. 2024, Figure 8)."""
    rows: list[tuple[Cell, ...]] = []
    for name in sorted({answer.type for answer in answers}):
        chosen = ended_answers([answer for answer in answers if answer.type == name])
        for style, asked in _by_style(chosen):
            matched = pooled_share((answer.target, bool(answer.same_type)) for answer in asked)
            rows.append((name, style, len(asked), matched, rate(asked)))
    return Table("by type of result", ("type", "asked", "n", "right type", "right value"), tuple(rows))


def _correlations(answers: Answers, *, seed: int) -> Table:
    """The correlates of difficulty (Liu et al. 2024, Figures 4 and 7)."""
    rows: list[tuple[Cell, ...]] = []
    for name, measure in MEASURES.items():
        for style, asked in _by_style(ended_answers(answers)):
            measured = [(measure(answer), answer.right) for answer in asked]
            pairs = [(float(value), float(right)) for value, right in measured if value is not None]
            rows.append((name, style, len(pairs), spearman(pairs, seed=seed)))
    note = (
        "Spearman's rank correlation with being right; below 0: higher values are wrong more often. "
        "Iterations are counted while the call runs, for functions with loops"
    ) + few_points(n for _, _, n, _ in rows if isinstance(n, int))
    return Table("correlates of difficulty", ("measure", "asked", "n", "rho"), tuple(rows), note)


def _loops(answers: Answers) -> Table:
    """The effect of unrolling loops (Liu et al. 2024, Table IV), on functions with both forms."""
    rows: list[tuple[Cell, ...]] = []
    for name, style in STYLES.items():
        shares = paired_shares(verdicts(answers, name, Form.STANDING), verdicts(answers, name, Form.UNROLLED))
        if shares.n:
            rows.append((style.title, shares.n, shares.first, shares.second, *differing(shares)))
    columns = ("asked", "n", "loops", "unrolled", *_PAIRED)
    note = (
        "the same functions and inputs; loops are unrolled as executed (Liu et al. 2024, Table IV); first: "
        "with its loops, second: unrolled"
    )
    return Table("the effect of unrolling loops", columns, tuple(rows), note)


def _questions(answers: Answers) -> Table:
    """All questions, with their answers."""
    rows = tuple(
        (
            answer.call + (f" ({answer.form})" if answer.form is not Form.STANDING else ""),
            STYLES[answer.style].title,
            str(answer.input),
            short(answer.truth),
            short(answer.answer),
            str(answer.outcome),
        )
        for answer in sorted(answers, key=lambda answer: answer.target)
    )
    return Table("calls", ("call", "asked", "input from", "gives", "answer", ""), rows)


def _by_style(answers: Answers, *, every: bool = False) -> Iterator[tuple[str, list[ExecutionAnswer]]]:
    for name, style in STYLES.items():
        asked = [answer for answer in answers if answer.style == name]
        if asked or every:
            yield style.title, asked


def _frequent(answers: Answers) -> tuple[str, ...]:
    """The most frequent callees, each called by at least two functions."""
    users: dict[str, set[str]] = {}
    for answer in answers:
        for name in answer.apis or ():
            users.setdefault(name, set()).add(answer.target)
    order = sorted(users, key=lambda name: (-len(users[name]), name))
    return tuple(name for name in order if len(users[name]) > 1)[:MOST_APIS]
