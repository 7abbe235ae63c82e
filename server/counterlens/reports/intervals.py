"""Shares with their intervals on one scale, drawn: the answer of a report as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from counterlens.metrics.effects import Proportion

_LEFT, _SCALE, _ROW, _TOP = 230, 360, 30, 28
_LONGEST = 32  # characters of a name


def drawn(shares: Sequence[tuple[str, Proportion, bool]]) -> str:
    """An SVG with a line for each share, from 0 % to 100 %.

    Args:
        shares: Names, shares, and whether each is conclusive; one that is not is grey.
    """
    height = _TOP + _ROW * len(shares) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _SCALE + 60} {height}" '
        f'width="{_LEFT + _SCALE + 60}" height="{height}" font-family="system-ui, sans-serif" font-size="13" '
        'fill="currentColor">'
    ]
    for tenth in range(0, 101, 25):
        x = _at(tenth / 100)
        parts.append(
            f'<line x1="{x}" x2="{x}" y1="{_TOP - 8}" y2="{height - 8}" stroke="currentColor" opacity="0.2"/>'
            f'<text x="{x}" y="{_TOP - 14}" text-anchor="middle" opacity="0.75">{tenth} %</text>'
        )
    for row, (name, share, informative) in enumerate(shares):
        parts.append(_row(_TOP + _ROW * row + _ROW // 2, name, share, informative=informative))
    return "".join([*parts, "</svg>"])


def _row(y: int, name: str, share: Proportion, *, informative: bool) -> str:
    shown = name if len(name) <= _LONGEST else "…" + name[1 - _LONGEST :]
    label = f'<text x="{_LEFT - 14}" y="{y + 4}" text-anchor="end">{escape(shown)}</text>'
    if share.value is None or share.low is None or share.high is None:
        return f'{label}<text x="{_LEFT + 4}" y="{y + 4}" opacity="0.75">no right verdict</text>'
    colour = "var(--blue)" if informative else "currentColor"
    faint = "" if informative else ' opacity="0.5"'
    low, value, high = _at(share.low), _at(share.value), _at(share.high)
    return (
        f'{label}<g{faint}><line x1="{low}" x2="{high}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="4" '
        f'stroke-linecap="round" opacity="0.5"/><circle cx="{value}" cy="{y}" r="6" fill="{colour}"/></g>'
        f'<text x="{_LEFT + _SCALE + 12}" y="{y + 4}">{share.value:.0%}</text>'
    )


def _at(share: float) -> int:
    return _LEFT + round(_SCALE * share)
