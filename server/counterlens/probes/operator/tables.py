"""The tables of the operator probe: those of Ahmed et al. 2024, with n and intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.effects import Proportion, pooled_share
from counterlens.metrics.guessing import SIMULATIONS, Guess, by_chance
from counterlens.metrics.table import Cell, Table
from counterlens.probes.operator.asking import WINDOW_CHANGES
from counterlens.probes.operator.complementary import Substitution, complementary
from counterlens.probes.operator.pairs import CHANGES
from counterlens.probes.operator.record import COMPLETE, OperatorAnswer, OperatorPair, OperatorRecord
from counterlens.syntax.operators import Family

FEW = 20
"""Of fewer operators a table operator by operator says no more than the list of them."""
SHOWN = 40
"""So many operators are listed one by one."""
PREFERRED = 0.9
"""The model strongly prefers another operator when it gives it at least so much."""
FAMILIAR_CHANGES = ("operand-swap", "block-swap", "renamed operand-swap", "renamed block-swap")
Records = Sequence[OperatorRecord]
Pairs = Sequence[tuple[str, OperatorPair]]
"""Pairs, each with the function that it is of."""

_CHANCE = (
    f"chance: mean accuracy of {SIMULATIONS} guessing rounds by frequency; p: the share of rounds that were "
    "at least as good"
)


def frequencies(records: Records) -> Mapping[str, float]:
    """How often each operator stands in the corpus, or in all the functions where none was named."""
    named = next((record.frequency for record in records if record.corpus is not None), None)
    return named or Counter(answer.operator for record in records for answer in record.operators)


def share(asked: Sequence[tuple[str, OperatorAnswer]]) -> Proportion:
    """The share of gaps where the likeliest candidate is right; gaps of one function hang together."""
    return pooled_share((target, answer.correct) for target, answer in asked)


def listing(records: Records) -> Table | None:
    """Operators one by one: those of a single function all, of several those that the model doubts."""
    several = len(records) > 1
    asked = [(record.target, answer) for record in records for answer in record.operators]
    if several:
        doubted = [(target, answer) for target, answer in asked if not answer.correct]
        asked = sorted(doubted, key=lambda known: known[1].expected)
    if not asked:
        return None
    rows = tuple(
        (
            *((target,) if several else ()),
            answer.line,
            answer.text,
            answer.operator,
            answer.expected,
            "" if answer.correct else answer.predicted,
            None if answer.correct else answer.highest,
        )
        for target, answer in asked[:SHOWN]
    )
    note = "p: its share of the probability of all candidates" + (
        f"; the first {SHOWN} of {len(asked)}" if len(asked) > SHOWN else ""
    )
    columns = (*(("function",) if several else ()), "line", "operation", "stands", "p", "preferred", "its p")
    return Table(
        "operators that the model would not have written" if several else "operators", columns, rows, note
    )


def families(records: Records, frequency: Mapping[str, float], seed: int) -> Table:
    """Accuracy by family, as the functions stand, beside guessing by frequency."""
    rows: list[tuple[Cell, ...]] = []
    for family in (None, *Family):
        asked = [
            (record.target, answer)
            for record in records
            for answer in record.operators
            if family in (None, answer.family)
        ]
        if asked:
            chance = by_chance([_guess(answer) for _, answer in asked], frequency, seed=seed)
            rows.append(
                (
                    str(family) if family else "all",
                    len(asked),
                    share(asked),
                    _mean_entropy(asked, seed),
                    chance[0].mean if chance else None,
                    chance[0].p_value if chance else None,
                )
            )
    columns = ("family", "n", "accuracy", "entropy (nats)", "chance", "p")
    return Table("as the functions stand", columns, tuple(rows), _CHANCE)


def changes(records: Records, seed: int) -> Table | None:
    """Accuracy before and after each change (Ahmed et al. 2024, Tables 2, 4 and 5); None without pairs."""
    rows: list[tuple[Cell, ...]] = [
        (change.title, *_pair_cells(pairs, seed))
        for name, change in CHANGES.items()
        if (pairs := _pairs(records, name))
    ]
    columns = ("change", *_PAIR_COLUMNS)
    return (
        Table("before and after changes that keep the meaning", columns, tuple(rows), _BOTH) if rows else None
    )


def stays_or_changes(records: Records, seed: int) -> Table | None:
    """The swaps again, apart for pairs whose operator stays; None where no change can make it another one.

    `a == b` with its operands swapped is `b == a`: who only knows what is usual knows both.
    """
    rows: list[tuple[Cell, ...]] = []
    for name, change in CHANGES.items():
        pairs = _pairs(records, name) if change.exchanges else []
        for title, exchanges in (("stays", False), ("becomes another", True)):
            chosen = [(target, pair) for target, pair in pairs if pair.exchanged is exchanges]
            if chosen:
                rows.append((change.title, title, *_pair_cells(chosen, seed)))
    columns = ("change", "operator", *_PAIR_COLUMNS)
    note = (
        "the swaps of the table before, apart for pairs in which the same operator is right before and after"
    )
    return Table(_EXCHANGES, columns, tuple(rows), note) if rows else None


def exchanged(records: Records, frequency: Mapping[str, float], seed: int) -> Table | None:
    """What is lost where a swap of branches puts in the complementary operator; None without one."""
    substitutions = [
        Substitution(
            target,
            pair.original.operator,
            pair.transformed.operator,
            pair.original.correct,
            pair.transformed.correct,
        )
        for target, pair in _pairs(records, "block-swap")
    ]
    table = complementary(substitutions, frequency, what="gaps whose operator the model knew", seed=seed)
    return table if table.rows else None


def windows(records: Records, seed: int) -> Table | None:
    """Accuracy with less context (Ahmed et al. 2024, Table 3); None where it was not asked for."""
    narrow = {pair.window for record in records for pair in record.pairs if not pair.complete}
    if not narrow:
        return None
    rows: list[tuple[Cell, ...]] = []
    for name in WINDOW_CHANGES:
        for window in (*sorted(narrow, key=lambda seen: (seen.after or 0, -(seen.before or 0))), COMPLETE):
            pairs = [
                (record.target, pair)
                for record in records
                for pair in record.pairs
                if pair.change == name and pair.window == window
            ]
            if pairs:
                rows.append((CHANGES[name].title, str(window), *_pair_cells(pairs, seed)))
    note = "context: lexical tokens on both sides (±) or only after the gap (+)"
    return Table("with less context", ("change", "context", *_PAIR_COLUMNS), tuple(rows), note)


def familiar(records: Records) -> Table | None:
    """Accuracy by whether the corpus has the operations (Ahmed et al. 2024, Table 7); None without one."""
    rows: list[tuple[Cell, ...]] = []
    for name in FAMILIAR_CHANGES:
        asked = [(target, pair) for target, pair in _pairs(records, name) if pair.found is not None]
        for found in ((False, False), (True, True), (True, False), (False, True)):
            pairs = [(target, pair) for target, pair in asked if pair.found == found]
            if pairs:
                rows.append(
                    (
                        CHANGES[name].title,
                        *("yes" if there else "no" for there in found),
                        pooled_share((target, pair.found == found) for target, pair in asked),
                        share([(target, pair.original) for target, pair in pairs]),
                        share([(target, pair.transformed) for target, pair in pairs]),
                        pooled_share((target, pair.both) for target, pair in pairs),
                    )
                )
    columns = ("change", "original found", "transformed found", "share", "original", "transformed", "both")
    note = "found: whether the operation stands in the corpus, blanks aside (Ahmed et al. 2024, Table 7)"
    return Table("seen before?", columns, tuple(rows), note) if rows else None


def operators(records: Records, frequency: Mapping[str, float], seed: int) -> Table:
    """Precision, recall and F1 of every operator, before and after (Ahmed et al. 2024, Tables 8 and 9)."""
    asked = list(chain.from_iterable(record.operators for record in records))
    rows = [("as it stands", *cells) for cells in _per_operator(asked, frequency, seed)]
    for name in WINDOW_CHANGES:
        pairs = [pair for _, pair in _pairs(records, name)]
        for title, side in _SIDES.items():
            cells = _per_operator([side(pair) for pair in pairs], frequency, seed)
            rows += [(title.format(CHANGES[name].title), *row) for row in cells]
    columns = ("version", "operator", "n", "TP", "FP", "FN", "precision", "recall", "F1", "p")
    return Table("operator by operator", columns, tuple(rows), "p: of the F1, against guessing by frequency")


_EXCHANGES = "where the operator stays, and where it becomes another"
_PAIR_COLUMNS = ("n", "original", "transformed", "both", "entropy", "entropy after")
_BOTH = (
    "both: the operator was known before and after; entropy in nats, over the candidates. "
    "Ahmed et al. 2024 have the swaps in Table 2, renamed in Table 4, refactored in Table 5"
)
_SIDES: dict[str, Callable[[OperatorPair], OperatorAnswer]] = {
    "before {}": lambda pair: pair.original,
    "after {}": lambda pair: pair.transformed,
}


def _pairs(records: Records, change: str) -> list[tuple[str, OperatorPair]]:
    """The pairs of one change that were asked with everything around the gap."""
    return [
        (record.target, pair)
        for record in records
        for pair in record.pairs
        if pair.change == change and pair.complete
    ]


def _guess(answer: OperatorAnswer) -> Guess:
    """The likeliest candidate as a guess."""
    return Guess(answer.operator, answer.predicted, answer.candidates)


def _mean_entropy(asked: Sequence[tuple[str, OperatorAnswer]], seed: int) -> Estimate:
    """The mean entropy in nats, with an interval over functions."""
    return pooled_mean(((target, answer.entropy) for target, answer in asked), seed=seed)


def _pair_cells(pairs: Pairs, seed: int) -> tuple[Cell, ...]:
    before = [(target, pair.original) for target, pair in pairs]
    after = [(target, pair.transformed) for target, pair in pairs]
    return (
        len(pairs),
        share(before),
        share(after),
        pooled_share((target, pair.both) for target, pair in pairs),
        _mean_entropy(before, seed),
        _mean_entropy(after, seed),
    )


def _per_operator(
    answers: Sequence[OperatorAnswer], frequency: Mapping[str, float], seed: int
) -> list[tuple[Cell, ...]]:
    compared = by_chance([_guess(answer) for answer in answers], frequency, seed=seed)
    if compared is None:
        return []
    rows: list[tuple[Cell, ...]] = []
    for name, figures in compared[1].items():
        counts = figures.counts
        n = counts.true_positives + counts.false_negatives
        if n or counts.false_positives:
            rows.append(
                (
                    name,
                    n,
                    counts.true_positives,
                    counts.false_positives,
                    counts.false_negatives,
                    counts.precision,
                    counts.recall,
                    counts.f1,
                    figures.p_value,
                )
            )
    return rows
