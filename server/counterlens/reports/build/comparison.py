"""The report on the differences between two sides, function by function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from counterlens.counting import plural
from counterlens.evaluation.comparison import (
    Comparison,
    Measure,
    ScoreComparison,
    on_common_functions,
)
from counterlens.evaluation.gate import GateOutcome, GateResult
from counterlens.evaluation.results import RunResults
from counterlens.metrics.significance import Adequacy, p_text
from counterlens.reports.build.choice import choice_block
from counterlens.reports.build.overview import quality_and_speed
from counterlens.reports.document import Block, Heading, Paragraph, Report, ReportCell, TableBlock

_MEASURES = ("functions with", "n", "first", "second", "first only", "second only", "McNemar p", "Holm p")
_FIGURES = ("figure", "functions", "first", "second", "difference", "Wilcoxon p", "Holm p")
_FIGURES_NOTE = (
    "figures: as in the report of each side, over the functions that both probed; functions: those with a "
    "score on both sides, by which the difference is tested"
)


def comparison_report(
    comparisons: Sequence[Comparison], runs: Mapping[str, RunResults] | None = None
) -> Report:
    """The report on several comparisons, one after the other, and on the speed of the models.

    Args:
        runs: The compared runs, by their names.
    """
    common = on_common_functions(runs or {})
    speeds = list(quality_and_speed(common))
    blocks = [block for each in comparisons for block in _comparison(each)]
    if speeds:
        functions = len({item.problem for run in common.values() for item, _ in run.records})
        shared = Paragraph(f"Over the {plural(functions, 'function')} that all of them were probed on.")
        blocks += [Heading(1, "Quality and speed"), shared, *speeds]
    return Report("Comparison", tuple(blocks))


def _comparison(comparison: Comparison) -> Iterator[Block]:
    yield Heading(1, f"{comparison.first} and {comparison.second}")
    if comparison.which is not None:
        yield choice_block(comparison.which)
    if comparison.measures:
        yield TableBlock("verdicts", _MEASURES, tuple(map(_measure, comparison.measures)))
    elif not comparison.scores:
        yield Paragraph("No function was measured on both sides.")
    if comparison.scores:
        yield TableBlock("figures", _FIGURES, tuple(map(_score, comparison.scores)), _FIGURES_NOTE)
    for measure in comparison.measures:
        for which, names in (("first", measure.lost), ("second", measure.gained)):
            if names:
                yield Paragraph(f"{measure.name}, {which} only: {', '.join(names)}")
    if comparison.changed:
        yield Paragraph(f"Not compared, because their source differs: {', '.join(comparison.changed)}")
    if comparison.only:
        were = "was" if comparison.only == 1 else "were"
        yield Paragraph(f"{plural(comparison.only, 'function')} {were} probed on one side only.")
    yield from map(Paragraph, comparison.notes)


def _measure(measure: Measure) -> tuple[ReportCell, ...]:
    counted = (measure.name, measure.n, measure.first, measure.second, len(measure.lost), len(measure.gained))
    return (*counted, p_text(measure.p), p_text(measure.holm))


def _score(score: ScoreComparison) -> tuple[ReportCell, ...]:
    first, second = score.first, score.second
    means: tuple[str | None, ...] = (None,) * 3
    if first is not None and second is not None:
        means = (f"{first:.2f}", f"{second:.2f}", f"{second - first:+.2f}")
    return (score.name, score.n, *means, p_text(score.p), p_text(score.holm))


def gate_lines(results: Sequence[GateResult], least: float) -> Iterator[str]:
    """A line per model, or the reason why the gate applies to none.

    Args:
        least: Minimum share of pairs that must be held.
    """
    if not results:
        yield f"gate {least:.0%}: {GateOutcome.INCONCLUSIVE}, because no pair was judged"
    several = len({outcome.task for outcome in results}) > 1
    for result in results:
        who = f"{result.model}, {result.task}" if several else result.model
        yield f"gate {least:.0%}: {result.outcome}, {who} {_gate_sentence(result)}"


def _gate_sentence(result: GateResult) -> str:
    share, low, high, n = result.kept.value, result.kept.low, result.kept.high, result.kept.n
    if share is None or low is None or high is None:
        return "completed no pair correctly, so it could lose no verdict"
    sentence = f"keeps {share:.0%} ({low:.0%} to {high:.0%}) of {plural(n, 'right verdict')}"
    if result.adequacy is not Adequacy.ADEQUATE:
        return f"{sentence}, but completes too few originals correctly for that to mean something"
    if result.below and result.noise:
        return f"{sentence}; its verdicts also change after meaningless changes, so this may be noise"
    if result.outcome is GateOutcome.INCONCLUSIVE:
        return f"{sentence}: fewer than {result.informative} informative pairs (--min-informative)"
    if share < result.least and not result.below:
        return f"{sentence}: below the limit, but too few pairs to be sure"
    return sentence
