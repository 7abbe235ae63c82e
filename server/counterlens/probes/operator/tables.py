"""The tables of the operator probe: those of Ahmed et al. 2024, with n and intervals, and of guessing.

Guessing by frequency: sections 4.2.1 and 4.3, and Tables 8 and 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from counterlens.metrics import figures
from counterlens.metrics.agreement import Agreement
from counterlens.metrics.effects import pooled_share
from counterlens.metrics.figures import GroupedFigure, Key, RowT, count, in_order, number
from counterlens.metrics.guessing import SIMULATIONS
from counterlens.metrics.table import Cell, Table
from counterlens.probes.operator.cells import (
    MEASURES,
    PAIR_COLUMNS,
    SIDES,
    Answers,
    Pairs,
    Records,
    compare,
    groups,
    mean_entropy,
    mean_nll,
    pair_cells,
    pairs_of,
    place_of,
    row_of,
    share,
    side_of,
)
from counterlens.probes.operator.memorisation import Substitution, complementary
from counterlens.probes.operator.pairs import CHANGES
from counterlens.probes.operator.questions import WINDOW_CHANGES
from counterlens.probes.operator.record import (
    COMPLETE,
    FilledGap,
    OperatorAnswer,
    OperatorPair,
    OperatorRecord,
)
from counterlens.syntax.operators import Family

NOTE = (
    f"chance: mean accuracy of {SIMULATIONS} guessing rounds by frequency; p: the share of rounds that were "
    "at least as good"
)
OVERALL = "overall"
OPERATOR_COLUMNS = ("operator", "n", "TP", "FP", "FN", "precision", "recall", "F1", "p")
_SWAPS = ("operand-swap", "block-swap")
FEW = 20
"""Minimum number of operators for a table operator by operator."""
SHOWN = 40
"""Maximum number of operators in a list."""
PREFERRED = 0.9
"""Minimum share of another operator that the model strongly prefers."""
FAMILIAR_CHANGES = ("operand-swap", "block-swap", "renamed operand-swap", "renamed block-swap")
FAMILIAR_COLUMNS = (
    "original found", "transformed found", "n", "share", "original", "transformed", "both",
)  # fmt: skip
"""The columns of `familiar_cells`."""
_BOTH = (
    f"both: the operator was known before and after; {MEASURES}. Ahmed et al. 2024 have the swaps in Table "
    "2, renamed in Table 4, refactored in Table 5: those of the branches only of if-else, and of comparisons"
)


def sides(records: Records, frequency: Mapping[str, float], seed: int) -> Table | None:
    """Chance before and after each change that may change the operator; None without pairs."""
    rows: list[tuple[Cell, ...]] = []
    for name, change in CHANGES.items():
        if not change.can_swap:
            continue
        for title, pairs in groups(pairs_of(records, name)).items():
            for side in SIDES:
                asked = side_of(pairs, side)
                comparison = compare(asked, frequency, seed)
                if comparison:
                    chance = comparison[0]
                    row = share(asked), chance.mean, chance.highest, chance.p_value
                    rows.append((title, side, len(asked), *row))
    columns = ("change", "side", "n", "accuracy", "chance", "best round", "p")
    title = "guessing by frequency, before and after a swap"
    return Table(title, columns, tuple(rows), NOTE) if rows else None


def operators(records: Records, frequency: Mapping[str, float], seed: int) -> Table:
    """Precision, recall and F1 of every operator, before and after (Ahmed et al. 2024, Tables 8 and 9)."""
    standing = [(record.target, answer) for record in records for answer in record.operators]
    rows = [("as it stands", *cells) for cells in per_operator(standing, frequency, seed)]
    for name in _SWAPS:
        for title, pairs in groups(pairs_of(records, name)).items():
            for side in SIDES:
                cells = per_operator(side_of(pairs, side), frequency, seed)
                rows += [(f"{side} {title}", *row) for row in cells]
    note = f"p: of the F1, against guessing by frequency; {OVERALL}: of the summed counts"
    return Table("operator by operator", ("version", *OPERATOR_COLUMNS), tuple(rows), note)


def per_operator(asked: Answers, frequency: Mapping[str, float], seed: int) -> Iterator[tuple[Cell, ...]]:
    """A row for each existing or expected operator, and an overall row."""
    comparison = compare(asked, frequency, seed)
    if comparison is None:
        return
    chance, by_operator = comparison
    shown = {name: candidate for name, candidate in by_operator.items() if candidate.counts != Agreement()}
    for name, candidate in shown.items():
        yield (name, *count_cells(candidate.counts), candidate.p_value)
    yield (
        OVERALL,
        *count_cells(sum((candidate.counts for candidate in shown.values()), Agreement())),
        chance.p_value,
    )


def count_cells(counts: Agreement) -> tuple[Cell, ...]:
    """The number of answers, and the figures of counts."""
    return (
        counts.true_positives + counts.false_negatives,
        counts.true_positives,
        counts.false_positives,
        counts.false_negatives,
        counts.precision,
        counts.recall,
        counts.f1,
    )


def frequencies(records: Records) -> Mapping[str, float]:
    """The count of each operator in the corpus, or in all the functions if none was named."""
    named = next((record.frequency for record in records if record.corpus is not None), None)
    pooled: dict[str, float] = {}
    for record in records:
        pooled |= {name: pooled.get(name, 0) + times for name, times in record.frequency.items()}
    return named or pooled


def listing(records: Records) -> Table | None:
    """Single operators: all of a single function, or those of several functions that the model doubts."""
    several = len(records) > 1
    asked = [(record.target, answer) for record in records for answer in record.operators]
    if several:
        doubted = [(target, answer) for target, answer in asked if not answer.correct]
        asked = sorted(doubted, key=lambda pair: pair[1].expected)
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
    return Table("operators that the model did not predict" if several else "operators", columns, rows, note)


def by_family(of: Callable[[RowT], Family]) -> Mapping[str, Key[RowT]]:
    """All rows, and those of each family."""
    return {"family": in_order(lambda row: ("all", of(row)), ["all", *Family], several=True)}


def families(frequency: Mapping[str, float]) -> GroupedFigure[OperatorRecord, OperatorAnswer]:
    """Accuracy by family in the original functions, beside guessing by frequency."""

    def cells(asked: Answers, seed: int) -> tuple[Cell, ...]:
        comparison = compare(asked, frequency, seed)
        chance = (comparison[0].mean, comparison[0].p_value) if comparison else (None, None)
        return len(asked), share(asked), mean_nll(asked), mean_entropy(asked), *chance

    return GroupedFigure(
        "original functions",
        of=lambda record: record.operators,
        by=by_family(lambda answer: answer.family),
        columns={("n", "accuracy", "NLL", "entropy", "chance", "p"): cells},
        note=f"{MEASURES}; {NOTE}",
    )


CHANGED = GroupedFigure[OperatorRecord, OperatorPair](
    "before and after changes that keep the meaning",
    of=lambda record: (pair for pair in record.pairs if pair.complete),
    by={"change": row_of},
    columns={PAIR_COLUMNS: pair_cells},
    order=place_of,
    note=_BOTH,
)
"""Accuracy before and after each change (Ahmed et al. 2024, Tables 2, 4 and 5)."""
SWAPPED = GroupedFigure[OperatorRecord, OperatorPair](
    "pairs whose operator stays the same, and pairs whose operator changes",
    of=lambda record: (pair for pair in record.pairs if pair.complete and CHANGES[pair.change].can_swap),
    by={"change": row_of, "operator": lambda pair: "becomes another" if pair.changes_operator else "stays"},
    columns={PAIR_COLUMNS: pair_cells},
    order=lambda pair: (place_of(pair), pair.changes_operator),
    note="the swaps of the table above, separately for pairs with the same right operator before and after",
)
"""`a == b` with its operands swapped is `b == a`: a model that only knows frequent code knows both."""
FILLED = GroupedFigure[OperatorRecord, FilledGap](
    "filled in the middle",
    of=lambda record: record.filled,
    by=by_family(lambda gap: gap.family),
    columns={
        "n": count,
        "accuracy": figures.share(lambda gap: gap.written == gap.operator),
        "no candidate": number(lambda gap: gap.written is None),
    },
    note="the model's text for the gap, given both sides, at temperature 0",
)
"""The share of gaps filled in correctly, by family."""


def complementary_table(records: Records, frequency: Mapping[str, float]) -> Table | None:
    """The loss if a swap of branches inserts the complementary operator; None without one."""
    substitutions = [
        Substitution(
            target,
            pair.original.operator,
            pair.transformed.operator,
            pair.original.correct,
            pair.transformed.correct,
        )
        for target, pair in pairs_of(records, "block-swap")
    ]
    table = complementary(substitutions, frequency, what="gaps whose operator the model knew")
    return table if table.rows else None


def windows(records: Records) -> Table | None:
    """Accuracy with less context (Ahmed et al. 2024, Table 3); None if it was not requested."""
    narrow = {pair.window for record in records for pair in record.pairs if not pair.complete}
    if not narrow:
        return None
    rows: list[tuple[Cell, ...]] = []
    for name in WINDOW_CHANGES:
        for window in (*sorted(narrow, key=lambda seen: (seen.after or 0, -(seen.before or 0))), COMPLETE):
            for title, pairs in groups(pairs_of(records, name, window)).items():
                rows.append((title, str(window), *pair_cells(pairs)))
    note = "context: lexical tokens on both sides (±) or only after the gap (+)"
    return Table("with less context", ("change", "context", *PAIR_COLUMNS), tuple(rows), note)


def familiar(records: Records) -> Table | None:
    """Accuracy by presence of the operations in the corpus (Ahmed et al. 2024, Table 7); None without one."""
    rows: list[tuple[Cell, ...]] = []
    for name in FAMILIAR_CHANGES:
        searched = [(target, pair) for target, pair in pairs_of(records, name) if pair.found is not None]
        for title, asked in groups(searched).items():
            rows += [(title, *cells) for cells in familiar_cells(asked)]
    columns = ("change", *FAMILIAR_COLUMNS)
    note = (
        "found: whether the corpus contains the operation, ignoring whitespace (Ahmed et al. 2024, Table 7)"
    )
    return Table("seen before?", columns, tuple(rows), note) if rows else None


def familiar_cells(asked: Pairs) -> Iterator[tuple[Cell, ...]]:
    """A row for each combination of found and missing operations, over the pairs with a search result."""
    for combination in ((False, False), (True, True), (True, False), (False, True)):
        pairs = [(target, pair) for target, pair in asked if pair.found == combination]
        if pairs:
            yield (
                *("yes" if there else "no" for there in combination),
                len(pairs),
                pooled_share((target, pair.found == combination) for target, pair in asked),
                share(side_of(pairs, "before")),
                share(side_of(pairs, "after")),
                pooled_share((target, pair.both) for target, pair in pairs),
            )
