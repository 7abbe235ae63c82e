"""The report on a trend: the changes from run to run, and the gaps between runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from counterlens.counting import plural
from counterlens.evaluation.trend import Trend, TrendLine, TrendPoint, TrendRun
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion
from counterlens.reports.document import Block, Bullets, Figure, Heading, Paragraph, Report, TableBlock

_LEFT, _TOP, _HEIGHT, _STEP, _RIGHT, _BELOW = 56, 12, 150, 92, 40, 40
_LONGEST = 13  # characters under a point

_RUNS = ("run", "begun (UTC)", "version", "informative pairs", "pairs", "functions", "left to do")
_FIGURES = ("run", "average mutation effect", "effect moved", "originals right", "right moved")
_NOTE = (
    "shares with 95 % intervals; moved: points since the run above, with a 95 % bootstrap interval over the "
    "functions of both; a dash for the first run or one that is not connected"
)


def trend_report(trend: Trend) -> Report:
    """The report on several runs in chronological order."""
    title = f"Trend over {plural(len(trend.runs), 'run')}"
    blocks: list[Block] = [Heading(1, title)]
    if not trend.ordered:
        blocks.append(Paragraph("Some runs have no start time, so they are in the order of the command."))
    if trend.across:
        blocks.append(Paragraph(f"Connected although these may differ: {', '.join(trend.across)}."))
    for line in trend.lines:
        blocks += _line(line, several=len({curve.task for curve in trend.lines}) > 1)
    return Report(title, tuple(blocks))


def _line(line: TrendLine, *, several: bool) -> Iterator[Block]:
    name = f"{line.model}, {line.task}" if several else line.model
    yield Heading(2, name)
    yield Paragraph(_movement(line.points))
    what = "average mutation effect: lower is better"
    drawn = [Share(_day(point.run), point.summary.average, point.connected) for point in line.points]
    table = TableBlock(f"the figures of {name}", _FIGURES, tuple(map(_figures, line.points)), _NOTE)
    yield Figure(
        f"{name}, {what}",
        f"Per run, in order of time, the {what}, as a point from 0 to 100 percent with its 95 percent "
        "interval; a line joins runs of the same circumstances, and a broken vertical line separates others.",
        TableBlock(
            table.title,
            ("run", "average mutation effect", "connected"),
            tuple(
                (point.run.name, point.summary.average, "yes" if point.connected else "no")
                for point in line.points
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
        f"{point.run.name} is not connected with {before.run.name}: {'; '.join(point.apart)}"
        for before, point in zip(line.points, line.points[1:], strict=False)
        if point.apart
    ]
    if breaks:
        yield Bullets(tuple(breaks))


def _movement(points: tuple[TrendPoint, ...]) -> str:
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


def _figures(point: TrendPoint) -> tuple[str | Proportion | None, ...]:
    right = point.summary.original_accuracy
    return point.run.name, point.summary.average, _cell(point.effect), right, _cell(point.right)


def _run(point: TrendPoint) -> tuple[str | int | None, ...]:
    begun = point.run.begun[:16].replace("T", " ") if point.run.begun else None
    counts = (point.informative, point.summary.pairs, point.summary.functions, point.run.unfinished)
    return point.run.name, begun, point.run.version[:12] or None, *counts


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


@dataclass(frozen=True, slots=True)
class Share:
    """A share of one run.

    Attributes:
        name: The text below it.
        joined: Whether it is connected to the one before.
    """

    name: str
    value: Proportion
    joined: bool


def shares_over_runs(shares: Sequence[Share]) -> str:
    """An SVG with the shares from left to right, from 0 % at the bottom to 100 %.

    Args:
        shares: The shares, in chronological order.
    """
    width = _LEFT + _STEP * len(shares) + _RIGHT
    height = _TOP + _HEIGHT + _BELOW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="12" fill="currentColor">'
    ]
    for percent in range(0, 101, 25):
        y = _y(percent / 100)
        parts.append(
            f'<line x1="{_LEFT}" x2="{width - 8}" y1="{y}" y2="{y}" stroke="currentColor" opacity="0.2"/>'
            f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end" opacity="0.75">{percent} %</text>'
        )
    for number, share in enumerate(shares):
        parts += _between(number, shares[number - 1] if number else None, share)
    parts += [_point(number, share) for number, share in enumerate(shares)]
    return "".join([*parts, "</svg>"])


def _between(number: int, before: Share | None, share: Share) -> list[str]:
    """The connection from the previous share: a line, or a broken line across if they are not connected."""
    if before is None:
        return []
    if not share.joined:
        x = _x(number) - _STEP // 2
        return [
            f'<line x1="{x}" x2="{x}" y1="{_TOP}" y2="{_TOP + _HEIGHT}" stroke="currentColor" '
            'stroke-dasharray="4 4" opacity="0.6"/>'
        ]
    if before.value.value is None or share.value.value is None:
        return []
    return [
        f'<line x1="{_x(number - 1)}" y1="{_y(before.value.value)}" x2="{_x(number)}" '
        f'y2="{_y(share.value.value)}" stroke="var(--blue)" stroke-width="2"/>'
    ]


def _point(number: int, share: Share) -> str:
    x, proportion = _x(number), share.value
    short = share.name if len(share.name) <= _LONGEST else share.name[: _LONGEST - 1] + "…"
    label = f'<text x="{x}" y="{_TOP + _HEIGHT + 20}" text-anchor="middle">{escape(short)}</text>'
    if proportion.value is None or proportion.low is None or proportion.high is None:
        none = f'<text x="{x}" y="{_TOP + _HEIGHT - 8}" text-anchor="middle" opacity="0.75">none</text>'
        return label + none
    figure = f'x="{x + 9}" y="{_y(proportion.value) - 6}">{proportion.value:.0%}</text>'
    return (
        f'{label}<line x1="{x}" x2="{x}" y1="{_y(proportion.low)}" y2="{_y(proportion.high)}" '
        'stroke="var(--blue)" '
        'stroke-width="4" stroke-linecap="round" opacity="0.5"/>'
        f'<circle cx="{x}" cy="{_y(proportion.value)}" r="5" fill="var(--blue)"/>'
        f'<text stroke="var(--page)" stroke-width="4" {figure}<text {figure}'  # no line crosses it
    )


def _x(number: int) -> int:
    return _LEFT + _STEP * number + _STEP // 2


def _y(share: float) -> int:
    return _TOP + round(_HEIGHT * (1 - share))
