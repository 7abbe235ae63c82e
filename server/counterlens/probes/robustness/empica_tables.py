"""The tables of EMPICA (Nguyen et al. 2024): 2 to 6 and Figure 7, by equations 1 and 2.

The figure of an operator is the mean similarity over all functions in which it has a site (equation 1), or 1
minus it if the operator breaks the meaning (equation 2); for output prediction each test is a case (section
6.1.3). Robustness is the mean of the figures of the four operators that keep the meaning, sensitivity that of
the other four (section 5.1, RQ1): all operators have equal weight, however many functions have a site. The
intervals, bootstrapped over functions, and the tests of Figure 7 are not in the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from counterlens.metrics.bootstrap import Estimate, bootstrap, mean
from counterlens.metrics.effects import wilson
from counterlens.metrics.significance import holm, p_text, rank_sum
from counterlens.metrics.similarity import cosine, lexical_vectors
from counterlens.metrics.table import Cell, Table
from counterlens.mutations.languages import every_transformation
from counterlens.probes.robustness.questions import AnswerPair, RobustnessRecord
from counterlens.probes.robustness.tables import Records, listing, measures_of

LEXICAL = "lexical"
"""The similarity by words; the frequency of words is counted over the answers of a whole run."""
_KINDS = {True: "robustness to SP transform.", False: "sensitivity to SNP transform."}
_NOTE = (
    "equations 1 and 2; all operators have equal weight. Not published: the intervals, bootstrapped over "
    "functions"
)


@dataclass(frozen=True, slots=True)
class FunctionFigures:
    """The figures of one function, for one similarity and one kind of operators.

    Attributes:
        correct: Whether it passes its tests; None if unknown.
        sums: By operator with a site, the sum of the figures of its cases, and their number.
    """

    correct: bool | None
    sums: Mapping[str, tuple[float, int]]

    @property
    def mean(self) -> float:
        """The mean over the cases of all operators."""
        cases = sum(count for _, count in self.sums.values())
        return sum(total for total, _ in self.sums.values()) / cases


def empica_tables(records: Records, heading: str, seed: int) -> tuple[Table, ...]:
    """The figures and tables of some records of one model.

    Raises:
        CounterlensError: scikit-learn or SciPy is not installed.
    """
    asked = _fitted_once([record for record in records if record.pairs])
    shown: list[Table | None] = [pass_table(records)]
    if asked:
        shown += [overall(asked, heading, seed), by_operator(asked, heading, seed)]
        shown += [by_correctness(asked, heading, seed), listing(asked)]
    return tuple(table for table in shown if table is not None)


def pass_table(records: Records) -> Table | None:
    """Table 2: how often the model's code passes the tests; text without a function counts as failing."""
    tested = [record for record in records if record.passed is not None]
    if not tested:
        return None
    passed = sum(bool(record.passed) for record in tested)
    asked = sum(bool(record.pairs) for record in records)
    row = (len(tested), passed, wilson(passed, len(tested)), asked)
    return Table("code written by the model", ("n", "passed", "Pass@1", "functions asked about"), (row,))


def overall(records: Records, heading: str, seed: int) -> Table:
    """Tables 3, 4 and 5: a row for each similarity and kind of operators."""
    rows: list[tuple[Cell, ...]] = []
    for measure in measures_of(records):
        for preserving, title in _KINDS.items():
            figures = snippets(records, measure, preserving=preserving)
            if figures:
                operators = len({operator for function in figures for operator in function.sums})
                cases = sum(count for function in figures for _, count in function.sums.values())
                figure = mean_of_operators(figures, seed)
                rows.append((measure, title, operators, cases, len(figures), figure))
    columns = ("similarity", "", "operators", "n", "functions", "mean")
    lexical = (
        f". {LEXICAL}: TF-IDF vectors, fitted over all answers" if LEXICAL in measures_of(records) else ""
    )
    return Table(heading, columns, tuple(rows), _NOTE + lexical)


def by_operator(records: Records, heading: str, seed: int) -> Table:
    """Table 6: a row for each operator, in the paper's order; a dash if it has no site anywhere."""
    measures = measures_of(records)
    counted = Counter(pair.mutation for record in records for pair in record.pairs)
    rows: list[tuple[Cell, ...]] = []
    for name, transformation in every_transformation().items():
        figures = (_of_operator(records, measure, name, seed) for measure in measures)
        kind = _KINDS[transformation.preserving]
        rows.append(
            (kind, f"{transformation.dependence} dependence", transformation.title, counted[name], *figures)
        )
    return Table(f"{heading}, by operator", ("", "", "operator", "n", *measures), tuple(rows), _NOTE)


def by_correctness(records: Records, heading: str, seed: int) -> Table | None:
    """Figure 7: correct and incorrect code, and whether they differ; None if one of them is missing.

    The test is the two-sided Mann-Whitney test of the functions' means.
    """
    if {True, False} - {pair.correct for record in records for pair in record.pairs}:
        return None
    rows: list[tuple[Cell, ...]] = []
    tested: list[float | None] = []
    for measure in measures_of(records):
        for preserving, title in _KINDS.items():
            functions = snippets(records, measure, preserving=preserving)
            right, wrong = (
                [function for function in functions if function.correct is correct]
                for correct in (True, False)
            )
            figures = (mean_of_operators(side, seed) for side in (right, wrong))
            tested.append(
                rank_sum([function.mean for function in right], [function.mean for function in wrong])
            )
            rows.append((measure, title, len(right), len(wrong), *figures))
    tests = zip(map(p_text, tested), map(p_text, holm(tested)), strict=True)
    columns = ("similarity", "", "n correct", "n incorrect", "correct", "incorrect", "p", "p (Holm)")
    note = "p: Mann-Whitney test of the means of the functions, two-sided; not in the paper"
    whole = tuple((*row, *both) for row, both in zip(rows, tests, strict=True))
    return Table(f"{heading}, by correctness of the code", columns, whole, note)


def snippets(records: Records, measure: str, *, preserving: bool) -> list[FunctionFigures]:
    """The figures of each function that has a site of an operator of this kind."""
    functions = []
    for record in records:
        sums: dict[str, tuple[float, int]] = {}
        for pair in record.pairs:
            if pair.preserving is preserving:
                total, count = sums.get(pair.mutation, (0.0, 0))
                sums[pair.mutation] = total + _value(pair, measure), count + 1
        if sums:
            functions.append(FunctionFigures(record.pairs[0].correct, sums))
    return functions


def mean_of_operators(functions: Sequence[FunctionFigures], seed: int) -> Estimate:
    """The mean over operators of the mean of each operator's cases."""
    operators = [*every_transformation()]  # once, since there are many resamples

    def figure(some: Sequence[FunctionFigures]) -> float | None:
        totals: dict[str, float] = {}
        counts = Counter[str]()
        for function in some:
            for operator, (total, count) in function.sums.items():
                totals[operator] = totals.get(operator, 0.0) + total
                counts[operator] += count
        return mean(totals[operator] / counts[operator] for operator in operators if operator in totals)

    return bootstrap(functions, figure, seed=seed)


def _of_operator(records: Records, measure: str, operator: str, seed: int) -> Estimate | None:
    functions = snippets(records, measure, preserving=every_transformation()[operator].preserving)
    own = [
        FunctionFigures(function.correct, {operator: function.sums[operator]})
        for function in functions
        if operator in function.sums
    ]
    return mean_of_operators(own, seed) if own else None


def _fitted_once(records: Records) -> list[RobustnessRecord]:
    """The records with the similarity by words computed again, with TF-IDF fitted once over all answers.

    Each answer is one text: about the unchanged function, and about each of its versions.
    """
    if not records or not all(LEXICAL in record.measures for record in records):
        return list(records)
    texts = [text for record in records for text in (record.pairs[0].original, *_answers(record))]
    vectors = lexical_vectors(texts)
    at = {text: index for index, text in enumerate(texts)}

    def again(pair: AnswerPair) -> AnswerPair:
        same = pair.original == pair.answer
        alike = 1.0 if same else cosine(vectors[at[pair.original]], vectors[at[pair.answer]])
        return replace(pair, similarity={**pair.similarity, LEXICAL: alike})

    return [replace(record, pairs=tuple(map(again, record.pairs))) for record in records]


def _answers(record: RobustnessRecord) -> list[str]:
    return [pair.answer for pair in record.pairs]


def _value(pair: AnswerPair, measure: str) -> float:
    return pair.similarity[measure] if pair.preserving else 1 - pair.similarity[measure]
