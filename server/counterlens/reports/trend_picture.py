"""Shares over runs, drawn: a point with its interval for each, and lines between connected ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from counterlens.metrics.effects import Proportion

_LEFT, _TOP, _HEIGHT, _STEP, _RIGHT, _BELOW = 56, 12, 150, 92, 40, 40
_LONGEST = 13  # characters under a point


@dataclass(frozen=True, slots=True)
class Share:
    """A share of one run.

    Attributes:
        name: The text below it.
        value: The share.
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
    x, found = _x(number), share.value
    short = share.name if len(share.name) <= _LONGEST else share.name[: _LONGEST - 1] + "…"
    label = f'<text x="{x}" y="{_TOP + _HEIGHT + 20}" text-anchor="middle">{escape(short)}</text>'
    if found.value is None or found.low is None or found.high is None:
        none = f'<text x="{x}" y="{_TOP + _HEIGHT - 8}" text-anchor="middle" opacity="0.75">none</text>'
        return label + none
    figure = f'x="{x + 9}" y="{_y(found.value) - 6}">{found.value:.0%}</text>'
    return (
        f'{label}<line x1="{x}" x2="{x}" y1="{_y(found.low)}" y2="{_y(found.high)}" stroke="var(--blue)" '
        'stroke-width="4" stroke-linecap="round" opacity="0.5"/>'
        f'<circle cx="{x}" cy="{_y(found.value)}" r="5" fill="var(--blue)"/>'
        f'<text stroke="var(--page)" stroke-width="4" {figure}<text {figure}'  # no line crosses it
    )


def _x(number: int) -> int:
    return _LEFT + _STEP * number + _STEP // 2


def _y(share: float) -> int:
    return _TOP + round(_HEIGHT * (1 - share))
