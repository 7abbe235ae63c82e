"""The report on a trend: the changes from run to run, and the gaps between runs."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.counting import plural
from counterlens.evaluation.trend import Trend, TrendLine, TrendPoint, TrendRun
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion
from counterlens.reports.document import Block, Bullets, Figure, Heading, Paragraph, Report, TableBlock
from counterlens.reports.trend_picture import Share, shares_over_runs

_RUNS = ("run", "begun (UTC)", "version", "informative pairs", "pairs", "functions", "left to do")
_FIGURES = ("run", "average mutation effect", "effect moved", "originals right", "right moved")
_NOTE = (
    "shares with 95 % intervals; moved: points since the run above, with a 95 % bootstrap interval over the "
    "functions of both; a dash for the first run or one that is not connected"
)


def trend_report(found: Trend) -> Report:
    """The report on several runs in chronological order."""
    title = f"Trend over {plural(len(found.runs), 'run')}"
    blocks: list[Block] = [Heading(1, title)]
    if not found.ordered:
        blocks.append(Paragraph("Some runs have no start time, so they are in the order of the command."))
    if found.across:
        blocks.append(Paragraph(f"Connected although these may differ: {', '.join(found.across)}."))
    for line in found.lines:
        blocks += _line(line, several=len({one.task for one in found.lines}) > 1)
    return Report(title, tuple(blocks))


def _line(line: TrendLine, *, several: bool) -> Iterator[Block]:
    name = f"{line.model}, {line.task}" if several else line.model
    yield Heading(2, name)
    yield Paragraph(_moved(line.points))
    what = "average mutation effect: lower is better"
    drawn = [Share(_day(one.run), one.summary.average, one.connected) for one in line.points]
    table = TableBlock(f"the figures of {name}", _FIGURES, tuple(map(_figures, line.points)), _NOTE)
    yield Figure(
        f"{name}, {what}",
        f"Per run, in order of time, the {what}, as a point from 0 to 100 percent with its 95 percent "
        "interval; a line joins runs of the same circumstances, and a broken vertical line separates others.",
        TableBlock(
            table.title,
            ("run", "average mutation effect", "connected"),
            tuple(
                (one.run.name, one.summary.average, "yes" if one.connected else "no") for one in line.points
            ),
        ),
        svg=shares_over_runs(drawn),
    )
    yield table
    yield TableBlock(
        f"the runs of {name}",
        _RUNS,
        tuple(map(_run, line.points)),
        "functions: those with an informative pair",
    )
    breaks = [
        f"{one.run.name} is not connected with {before.run.name}: {'; '.join(one.apart)}"
        for before, one in zip(line.points, line.points[1:], strict=False)
        if one.apart
    ]
    if breaks:
        yield Bullets(tuple(breaks))


def _moved(points: tuple[TrendPoint, ...]) -> str:
    """Describe the change from the last run but one to the last."""
    last = points[-1]
    if last.apart:
        return (
            f"{last.run.name} was made under different circumstances than the previous run, so their "
            "effects are not compared."
        )
    if last.effect is None:
        return "Only one run has this model."
    if last.effect.value is None:
        return "A run without an informative pair cannot be compared with another."
    said = f"by {_points(last.effect)} since the previous run, over {plural(last.effect.n, 'function')}"
    low, high = last.effect.low, last.effect.high
    if low is None or high is None:
        return f"The average mutation effect moved {said}: too few functions (or no changes) for an interval."
    if low <= 0 <= high:
        return f"The average mutation effect has not clearly moved: {said}."
    better = "fell, which is better," if high < 0 else "rose, which is worse,"
    return f"The average mutation effect {better} {said}."


def _points(moved: Estimate) -> str:
    value, low, high = moved.value, moved.low, moved.high
    interval = "" if low is None or high is None else f" ({100 * low:+.0f} to {100 * high:+.0f})"
    return f"{100 * (value or 0.0):+.0f} points{interval}"


def _figures(one: TrendPoint) -> tuple[str | Proportion | None, ...]:
    right = one.summary.original_accuracy
    return one.run.name, one.summary.average, _cell(one.effect), right, _cell(one.right)


def _run(one: TrendPoint) -> tuple[str | int | None, ...]:
    begun = one.run.begun[:16].replace("T", " ") if one.run.begun else None
    counts = (one.informative, one.summary.pairs, one.summary.functions, one.run.unfinished)
    return one.run.name, begun, one.run.version[:12] or None, *counts


def _cell(moved: Estimate | None) -> str | None:
    """A change in percentage points with its interval; None if there is none."""
    if moved is None or moved.value is None:
        return None
    interval = (
        ""
        if moved.low is None or moved.high is None
        else f" [{100 * moved.low:+.0f}, {100 * moved.high:+.0f}]"
    )
    return f"{100 * moved.value:+.0f}{interval}"


def _day(run: TrendRun) -> str:
    """The text below a point: day and hour, or the name."""
    return run.begun[5:16].replace("T", " ") if run.begun else run.name
