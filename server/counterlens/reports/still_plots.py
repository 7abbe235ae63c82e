"""Plots of shares, counts, spreads, densities and correlations as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterlens.text import escape

_LABEL, _PLOT, _ROW, _TOP, _AXIS, _LINE = 230, 480, 26, 8, 30, 20
_WIDTH = _LABEL + _PLOT + 30
_LONGEST = 34  # characters of a label
_SHAPES = 4
_PER_LINE, _INDENT = 2, 90  # entries of a legend
_CELL, _SLANT = 46, 110  # size of a matrix's cell, and space for names above it
_LOW, _HIGH = "#E66100", "#1A5FB4"  # for a correlation of -1 and of 1
_TICKS = 4
_DENSITY = 200  # height of the curves
_DASHES = ("none", "6 3", "2 2", "8 3 2 3")  # which also tell series apart


@dataclass(frozen=True, slots=True)
class SharePoint:
    """A share with its interval.

    Attributes:
        row: Name of its row.
        series: The series, which has its own colour and shape.
        low: Lower end of its interval.
        high: Its upper end.
    """

    row: str
    series: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of some values.

    Attributes:
        row: Name of its row.
        series: The series, which has its own colour.
        ends: Minimum, lower quartile, median, upper quartile, maximum.
    """

    row: str
    series: str
    ends: tuple[float, float, float, float, float]


def shares(points: Sequence[SharePoint], colours: Sequence[str], *, threshold: float | None = None) -> str:
    """An SVG with a point and its interval for each share, from 0 % on the left to 100 %.

    Args:
        points: The points, row by row.
        colours: Colours of the series, in order.
        threshold: Where a dashed line crosses all rows.
    """
    rows = list(dict.fromkeys(point.row for point in points))
    series = list(dict.fromkeys(point.series for point in points))
    high = max(_ROW, 16 * len(series) + 6)
    parts, bottom = list[str](), _TOP + high * len(rows)
    parts += [_grid(_LABEL + _PLOT * percent / 100, bottom, f"{percent} %") for percent in range(0, 101, 25)]
    parts += [_label(row, _TOP + high * (number + 0.5)) for number, row in enumerate(rows)]
    for point in points:
        at = series.index(point.series)
        y = _TOP + high * (rows.index(point.row) + (at + 1) / (len(series) + 1))
        parts.append(_interval(point, y, colours[at % len(colours)], at % _SHAPES))
    parts += _dashed_line(_LABEL + _PLOT * threshold, bottom) if threshold is not None else []
    legend = [(name, colours[at % len(colours)], at % _SHAPES) for at, name in enumerate(series)]
    return _chart(parts, bottom, legend if len(series) > 1 else [])


def stacks(rows: Sequence[tuple[str, Sequence[int]]], words: Sequence[str], colours: Sequence[str]) -> str:
    """An SVG with a stacked bar per row, with one part per word.

    Args:
        rows: Names, with the count of each part.
        words: Names of the parts.
    """
    most = max((sum(counts) for _, counts in rows), default=0) or 1
    step = max(1, -(-most // 5))
    parts, bottom = list[str](), _TOP + _ROW * len(rows)
    parts += [_grid(_LABEL + _PLOT * tick / most, bottom, str(tick)) for tick in range(0, most + 1, step)]
    for number, (name, counts) in enumerate(rows):
        parts.append(_label(name, _TOP + _ROW * (number + 0.5)))
        x = float(_LABEL)
        for count, colour, word in zip(counts, colours, words, strict=True):
            width = _PLOT * count / most
            if count:
                parts.append(
                    f'<rect x="{x:.1f}" y="{_TOP + _ROW * number + 4}" width="{width:.1f}" '
                    f'height="{_ROW - 8}" fill="{colour}" stroke="white" stroke-width="0.5">'
                    f"<title>{escape(f'{name}: {count} {word}')}</title></rect>"
                )
            x += width
    return _chart(parts, bottom, [(word, colour, 1) for word, colour in zip(words, colours, strict=True)])


def box_plots(
    spreads: Sequence[Spread],
    colours: Sequence[str],
    *,
    most: float | None = None,
    threshold: float | None = None,
) -> str:
    """An SVG with a box plot for each spread: a line between the ends, a bar between the quartiles, a tick.

    Args:
        spreads: The spreads, row by row.
        colours: Colours of the series, in order.
        most: The right end of the axis, which then begins at 0; None to fit the spreads.
        threshold: Where a dashed line crosses all rows.
    """
    rows = list(dict.fromkeys(box.row for box in spreads))
    series = list(dict.fromkeys(box.series for box in spreads))
    high = max(_ROW, 18 * len(series) + 6)
    low = 0.0 if most is not None else min(box.ends[0] for box in spreads)
    top = most if most is not None else max(box.ends[-1] for box in spreads)
    ticks = _ticks(low, top)
    low, top = min(low, ticks[0]), max(top, ticks[-1])

    def at(value: float) -> float:
        return _LABEL + _PLOT * (value - low) / ((top - low) or 1)

    parts, bottom = list[str](), _TOP + high * len(rows)
    parts += [_grid(at(tick), bottom, f"{tick:g}") for tick in ticks]
    parts += [_label(row, _TOP + high * (number + 0.5)) for number, row in enumerate(rows)]
    for spread in spreads:
        number = series.index(spread.series)
        y = _TOP + high * (rows.index(spread.row) + (number + 1) / (len(series) + 1))
        colour = colours[number % len(colours)]
        ends = ", ".join(f"{value:.2f}" for value in spread.ends)
        left, lower, median, upper, right = (at(value) for value in spread.ends)
        parts.append(
            f"<g><title>{escape(f'{spread.row}, {spread.series}: {ends}')}</title>"
            f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" '
            f'stroke-width="1.5"/><rect x="{lower:.1f}" y="{y - 5:.1f}" width="{upper - lower:.1f}" '
            f'height="10" fill="{colour}" opacity="0.6"/><rect x="{median - 1.5:.1f}" y="{y - 7:.1f}" '
            f'width="3" height="14" fill="{colour}"/></g>'
        )
    parts += _dashed_line(at(threshold), bottom) if threshold is not None else []
    legend = [(name, colours[at % len(colours)], 1) for at, name in enumerate(series)]
    return _chart(parts, bottom, legend if len(series) > 1 else [])


def densities(
    values: Mapping[str, Sequence[float]], colours: Sequence[str], *, threshold: float | None = None
) -> str:
    """An SVG with the density of some values per series, from 0 to 1: Gaussian kernels, Scott's bandwidth.

    Args:
        colours: Colours of the series, in order.
        threshold: Where a dashed line crosses the curves.
    """
    grid = np.linspace(0, 1, 101)
    curves = {name: _density(np.asarray(own, dtype=float), grid) for name, own in values.items()}
    most = max((float(curve.max()) for curve in curves.values()), default=0.0) or 1.0
    bottom = _TOP + _DENSITY
    parts = [
        _grid(_LABEL + _PLOT * percent / 100, bottom, f"{percent / 100:g}") for percent in range(0, 101, 25)
    ]
    parts.append(_label("density", _TOP + _DENSITY / 2))
    for number, (name, curve) in enumerate(curves.items()):
        heights = bottom - _DENSITY * curve / most
        line = " ".join(f"{_LABEL + _PLOT * x:.1f},{y:.1f}" for x, y in zip(grid, heights, strict=True))
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colours[number % len(colours)]}" '
            f'stroke-width="2" stroke-dasharray="{_DASHES[number % len(_DASHES)]}">'
            f"<title>{escape(name)}</title></polyline>"
        )
    parts += _dashed_line(_LABEL + _PLOT * threshold, bottom) if threshold is not None else []
    legend = [(name, colours[at % len(colours)], 1) for at, name in enumerate(curves)]
    return _chart(parts, bottom, legend if len(curves) > 1 else [])


def _density(values: NDArray[np.float64], grid: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    width = (spread or 0.1) * len(values) ** -0.2
    kernels = np.exp(-(((grid[:, None] - values[None, :]) / width) ** 2) / 2)
    density: NDArray[np.float64] = kernels.mean(axis=1) / (width * math.sqrt(2 * math.pi))
    return density


def matrix(names: Sequence[str], values: Mapping[tuple[str, str], float]) -> str:
    """An SVG with a cell for each pair of names, coloured from -1 to 1, with its value as text.

    Args:
        names: Names of rows and columns.
        values: Values by two names, in either order.
    """
    parts, width = list[str](), _LABEL + _CELL * len(names)
    for number, name in enumerate(names):
        middle = _LABEL + _CELL * (number + 0.5)
        parts.append(
            f'<text transform="translate({middle:.0f} {_SLANT - 6}) rotate(-35)">'
            f"{escape(_short(name, 18))}</text>"
        )
        parts.append(_text(_LABEL - 10, _SLANT + _CELL * (number + 0.5) + 4, _short(name, _LONGEST), "end"))
    for (first, second), value in values.items():
        for row, column in {(first, second), (second, first)}:
            x, y = _LABEL + _CELL * names.index(column), _SLANT + _CELL * names.index(row)
            colour = _LOW if value < 0 else _HIGH
            parts.append(
                f"<g><title>{escape(f'{row}, {column}: {value:.2f}')}</title>"
                f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{colour}" '
                f'fill-opacity="{0.8 * abs(value):.2f}"/>'
                f"{_text(x + _CELL / 2, y + _CELL / 2 + 4, f'{value:.2f}', 'middle')}</g>"
            )
    return _frame(parts, width + 60, _SLANT + _CELL * len(names) + 10)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from `low` to about `high`, at least two."""
    rough = ((high - low) or 1.0) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough * 0.999)
    first = math.floor(low / step)
    return [step * number for number in range(first, math.ceil(high / step - 1e-9) + 1)]


def _chart(parts: Sequence[str], bottom: float, legend: Sequence[tuple[str, str, int]]) -> str:
    lines = -(-len(legend) // _PER_LINE)
    height = bottom + _AXIS + lines * _LINE
    drawn = list(parts)
    for number, (name, colour, shape) in enumerate(legend):
        x = _INDENT + (number % _PER_LINE) * (_WIDTH - _INDENT) / _PER_LINE
        y = bottom + _AXIS + (number // _PER_LINE) * _LINE + 6
        drawn.append(f"{_mark(x + 6, y, colour, shape)}{_text(x + 16, y + 4, _short(name, 40), 'start')}")
    return _frame(drawn, _WIDTH, height)


def _frame(parts: Sequence[str], width: float, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="system-ui, sans-serif" font-size="12" fill="currentColor">'
        f"{''.join(parts)}</svg>"
    )


def _grid(x: float, bottom: float, label: str) -> str:
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}" stroke="currentColor" opacity="0.2"/>'
        f"{_text(x, bottom + 16, label, 'middle')}"
    )


def _dashed_line(x: float, bottom: float) -> list[str]:
    return [
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}" stroke="#888888" stroke-dasharray="5 4"/>'
    ]


def _label(name: str, y: float) -> str:
    return _text(_LABEL - 10, y + 4, _short(name, _LONGEST), "end")


def _text(x: float, y: float, label: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(label)}</text>'


def _interval(point: SharePoint, y: float, colour: str, shape: int) -> str:
    left, middle, right = (_LABEL + _PLOT * share for share in (point.low, point.value, point.high))
    tooltip = f"{point.row}, {point.series}: {point.value:.0%} ({point.low:.0%} to {point.high:.0%})"
    return (
        f"<g><title>{escape(tooltip)}</title>"
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" '
        f'stroke-width="2"/>{_mark(middle, y, colour, shape)}</g>'
    )


def _mark(x: float, y: float, colour: str, shape: int) -> str:
    """A circle, a square, a diamond or a triangle."""
    if shape == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
    corners = (
        ((-5, -5), (5, -5), (5, 5), (-5, 5)),
        ((0, -6), (6, 0), (0, 6), (-6, 0)),
        ((0, -6), (6, 5), (-6, 5)),
    )[shape - 1]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{colour}"/>'


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
