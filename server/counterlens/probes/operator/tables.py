"""What a study of operators shows: the tables of Ahmed et al. 2024, with n and intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.effects import Effect, Proportion, pooled_share
from counterlens.metrics.guessing import SIMULATIONS, Guess, by_chance
from counterlens.probes.complementary import Substitution, complementary
from counterlens.probes.operator.pairs import ROWS
from counterlens.probes.operator.scoring import OperatorDistribution
from counterlens.probes.operator.study import COMPLETE, WINDOW_ROWS, AskedPair, Study
from counterlens.probes.task import Cell, Table
from counterlens.syntax.operators import Family

FEW = 20
"""Of fewer operators a table operator by operator says no more than the list of them."""
SHOWN = 40
"""So many operators are listed one by one."""
PREFERRED = 0.9
"""The model strongly prefers another operator when it gives it at least so much."""

FAMILIAR_ROWS = ("operand-swap", "block-swap", "renamed operand-swap", "renamed block-swap")

_CHANCE = (
    f"chance: mean accuracy of {SIMULATIONS} guessing rounds by frequency; p: the share of rounds that were "
    "at least as good"
)


def guess(asked: OperatorDistribution) -> Guess:
    """The likeliest candidate as a guess."""
    return Guess(asked.site.operator, asked.predicted, asked.site.candidates)


def share(asked: Sequence[tuple[str, OperatorDistribution]]) -> Proportion:
    """The share of gaps where the likeliest candidate is right."""
    return pooled_share((target, distribution.correct) for target, distribution in asked)


def mean_entropy(asked: Sequence[tuple[str, OperatorDistribution]], seed: int) -> Estimate:
    """The mean entropy in nats, with an interval over functions."""
    return pooled_mean(((target, one.entropy) for target, one in asked), seed=seed)


def listing(study: Study) -> Table | None:
    """Operators one by one: those of a single function all, of several those that the model doubts."""
    asked = list(study.operators)
    if len(study.targets) > 1:
        asked = [one for one in asked if not one.distribution.correct]
    asked.sort(key=lambda one: one.distribution.expected if len(study.targets) > 1 else 0)
    if not asked:
        return None
    several = len(study.targets) > 1
    rows = tuple(
        (
            *((one.target,) if several else ()),
            one.distribution.site.line,
            one.distribution.site.text,
            one.distribution.site.operator,
            one.distribution.expected,
            "" if one.distribution.correct else one.distribution.predicted,
            None if one.distribution.correct else float(one.distribution.probability.max()),
        )
        for one in asked[:SHOWN]
    )
    note = "p: its share of the probability of all candidates" + (
        f"; the first {SHOWN} of {len(asked)}" if len(asked) > SHOWN else ""
    )
    columns = (*(("function",) if several else ()), "line", "operation", "stands", "p", "preferred", "its p")
    return Table(
        "operators that the model would not have written" if several else "operators", columns, rows, note
    )


def families(study: Study, frequency: Mapping[str, float], seed: int) -> Table:
    """Accuracy by family, as the functions stand, beside guessing by frequency."""
    rows: list[tuple[Cell, ...]] = []
    for family in (None, *Family):
        asked = [
            (one.target, one.distribution)
            for one in study.operators
            if family in (None, one.distribution.site.family)
        ]
        if asked:
            distributions = [one for _, one in asked]
            chance = by_chance([guess(one) for one in distributions], frequency, seed=seed)
            rows.append(
                (
                    str(family) if family else "all",
                    len(asked),
                    share(asked),
                    mean_entropy(asked, seed),
                    chance[0].mean if chance else None,
                    chance[0].p_value if chance else None,
                )
            )
    columns = ("family", "n", "accuracy", "entropy (nats)", "chance", "p")
    return Table("as the functions stand", columns, tuple(rows), _CHANCE)


def changes(study: Study, seed: int) -> Table:
    """Accuracy before and after each change (Ahmed et al. 2024, Tables 2, 4 and 5)."""
    rows = [
        (row.title, *_pair_cells([one for one in study.pairs if _is(one, name)], seed))
        for name, row in ROWS.items()
        if any(_is(one, name) for one in study.pairs)
    ]
    columns = ("change", *_PAIR_COLUMNS)
    return Table("before and after changes that keep the meaning", columns, tuple(rows), _BOTH)


def stays_or_changes(study: Study, seed: int) -> Table | None:
    """The swaps again, apart for pairs whose operator stays; None where no change can make it another one.

    `a == b` with its operands swapped is `b == a`: who only knows what is usual knows both.
    """
    rows: list[tuple[Cell, ...]] = []
    for name, row in ROWS.items():
        pairs = [one for one in study.pairs if _is(one, name)] if row.exchanges else []
        for said, chosen in (
            ("stays", [one for one in pairs if not one.exchanged]),
            ("becomes another", [one for one in pairs if one.exchanged]),
        ):
            if chosen:
                rows.append((row.title, said, *_pair_cells(chosen, seed)))
    columns = ("change", "operator", *_PAIR_COLUMNS)
    note = (
        "the swaps of the table before, apart for pairs in which the same operator is right before and after"
    )
    return Table(_EXCHANGES, columns, tuple(rows), note) if rows else None


def exchanged(study: Study, frequency: Mapping[str, float], seed: int) -> Table | None:
    """What is lost where a swap of branches puts in the complementary operator; None without one."""
    found = [
        Substitution(
            pair.target,
            pair.original.site.operator,
            pair.transformed.site.operator,
            Effect(pair.original.correct, pair.transformed.correct),
        )
        for pair in study.pairs
        if _is(pair, "block-swap")
    ]
    table = complementary(found, frequency, what="gaps whose operator the model knew", seed=seed)
    return table if table.rows else None


def windows(study: Study, seed: int) -> Table | None:
    """Accuracy with less context (Ahmed et al. 2024, Table 3); None where it was not asked for."""
    asked = [pair.window for pair in study.pairs if pair.window != COMPLETE]
    if not asked:
        return None
    seen = sorted(set(asked), key=lambda window: (window.after or 0, -(window.before or 0)))
    rows = []
    for name in WINDOW_ROWS:
        for window in (*seen, COMPLETE):
            pairs = [one for one in study.pairs if one.row == name and one.window == window]
            if pairs:
                rows.append((ROWS[name].title, str(window), *_pair_cells(pairs, seed)))
    note = "context: lexical tokens on both sides (±) or only after the gap (+)"
    return Table("with less context", ("change", "context", *_PAIR_COLUMNS), tuple(rows), note)


def familiar(study: Study) -> Table | None:
    """Accuracy by whether the corpus has the operations (Ahmed et al. 2024, Table 7); None without one."""
    rows: list[tuple[Cell, ...]] = []
    for name in FAMILIAR_ROWS:
        asked = [one for one in study.pairs if _is(one, name) and one.found is not None]
        for found in ((False, False), (True, True), (True, False), (False, True)):
            pairs = [one for one in asked if one.found == found]
            if pairs:
                rows.append(
                    (
                        ROWS[name].title,
                        *("yes" if there else "no" for there in found),
                        pooled_share((pair.target, pair.found == found) for pair in asked),
                        share([(pair.target, pair.original) for pair in pairs]),
                        share([(pair.target, pair.transformed) for pair in pairs]),
                        pooled_share((pair.target, pair.both) for pair in pairs),
                    )
                )
    columns = ("change", "original found", "transformed found", "share", "original", "transformed", "both")
    note = "found: whether the operation stands in the corpus, blanks aside (Ahmed et al. 2024, Table 7)"
    return Table("seen before?", columns, tuple(rows), note) if rows else None


def operators(study: Study, frequency: Mapping[str, float], seed: int) -> Table:
    """Precision, recall and F1 of every operator, before and after (Ahmed et al. 2024, Tables 8 and 9)."""
    rows: list[tuple[Cell, ...]] = [
        ("as it stands", *cells)
        for cells in _per_operator([one.distribution for one in study.operators], frequency, seed)
    ]
    for name in WINDOW_ROWS:
        pairs = [one for one in study.pairs if _is(one, name)]
        for title, pick in _SIDES.items():
            found = _per_operator([pick(pair) for pair in pairs], frequency, seed)
            rows += [(title.format(ROWS[name].title), *cells) for cells in found]
    columns = ("version", "operator", "n", "TP", "FP", "FN", "precision", "recall", "F1", "p")
    return Table("operator by operator", columns, tuple(rows), "p: of the F1, against guessing by frequency")


def frequencies(study: Study) -> dict[str, float]:
    """How often each operator stands in the functions themselves."""
    return dict(Counter(one.distribution.site.operator for one in study.operators))


_EXCHANGES = "where the operator stays, and where it becomes another"
_PAIR_COLUMNS = ("n", "original", "transformed", "both", "entropy", "entropy after")
_BOTH = (
    "both: the operator was known before and after; entropy in nats, over the candidates. "
    "Ahmed et al. 2024 have the swaps in Table 2, renamed in Table 4, refactored in Table 5"
)
_SIDES: dict[str, Callable[[AskedPair], OperatorDistribution]] = {
    "before {}": lambda pair: pair.original,
    "after {}": lambda pair: pair.transformed,
}


def _is(pair: AskedPair, row: str) -> bool:
    return pair.row == row and pair.window == COMPLETE


def _pair_cells(pairs: Sequence[AskedPair], seed: int) -> tuple[Cell, ...]:
    return (
        len(pairs),
        share([(pair.target, pair.original) for pair in pairs]),
        share([(pair.target, pair.transformed) for pair in pairs]),
        pooled_share((pair.target, pair.both) for pair in pairs),
        mean_entropy([(pair.target, pair.original) for pair in pairs], seed),
        mean_entropy([(pair.target, pair.transformed) for pair in pairs], seed),
    )


def _per_operator(
    distributions: Sequence[OperatorDistribution], frequency: Mapping[str, float], seed: int
) -> list[tuple[Cell, ...]]:
    found = by_chance([guess(one) for one in distributions], frequency, seed=seed)
    if found is None:
        return []
    rows: list[tuple[Cell, ...]] = []
    for name, one in found[1].items():
        counts = one.counts
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
                    one.p_value,
                )
            )
    return rows
