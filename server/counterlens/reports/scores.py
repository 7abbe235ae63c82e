"""Confidence for a user at a terminal: the code itself, then its concepts, then its weakest places.

Levels are distinguished in three ways: by a colour of a scale for every common form of colour blindness
(orange to blue), by an underline for the two lowest, and by a bar beside each line with its lowest level.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.alignment import align
from counterlens.confidence.granularity import LABELS, Granularity, Span, level_of, spans
from counterlens.confidence.scoring import distinguishable
from counterlens.counting import plural
from counterlens.models.base import ModelInfo
from counterlens.reports.build.confidence import least_certain_spans
from counterlens.reports.build.function_confidence import visible
from counterlens.reports.wording import share, shorten, uncategorised_note
from counterlens.text import printable

BARS = "▁▂▃▅▆█"
"""One bar per level, least certain first."""

_STYLES = tuple(
    Style.parse(style)
    for style in (
        "bold underline #d55e00",
        "underline #e69f00",
        "#b8a06a",
        "#8c8c8c",
        "#56b4e9",
        "#0072b2",
    )
)
_UNSCORED = Style(dim=True)
_WEAKEST = 5
_TAB = 4
_WIDEST = 50
_NAMES = {
    Granularity.TOKEN: "tokens",
    Granularity.LEAF: "leaves",
    Granularity.STATEMENT: "statements",
    Granularity.CONCEPT: "concepts",
}


def score_report(scored: Confidence, info: ModelInfo, by: Granularity = Granularity.STATEMENT) -> Group:
    """A document's code with its levels, its concepts, and the places where the model is least certain."""
    whole = scored.within(0, len(scored.document.data))
    bits = scored.bits_per_byte
    head = Text.assemble(
        (printable(str(scored.document.path or "<text>"), keep=""), "bold"),
        f"   {scored.document.language}, {plural(len(scored.scores), 'token')}   ",
        (printable(f"{info.name}, {info.where}", keep=""), "dim"),
    )
    total = Text.assemble(
        ("confidence ", "bold"),
        f"{whole:.2f}" if whole is not None else "unknown",
        (f"   {scored.aggregation} of token probabilities", "dim"),
        (f"   {bits:.2f} bits per byte" if bits is not None else "", "dim"),
    )
    painted = spans(scored, by)
    note = uncategorised_note(scored.document.language, scored.concepts)
    return Group(
        head,
        Text(),
        _code(scored, painted),
        Text(),
        _legend(by),
        Text(),
        total,
        Text(),
        _concepts(scored),
        *([Text(note, style="dim")] if note else []),
        *_weakest(scored, by, painted),
    )


def _legend(by: Granularity) -> Columns:
    """The legend of bars and colours; it breaks between entries in a narrow terminal."""
    entries = [
        Text.assemble(f"{bar} ", (label, style))
        for bar, label, style in zip(BARS, LABELS, _STYLES, strict=True)
    ]
    return Columns([Text(f"by {by}:"), *entries], padding=(0, 2))


def _code(scored: Confidence, painted: Sequence[Span]) -> Table:
    """The code, each line with its number and the bar of its lowest level."""
    positions, data = scored.document.positions, scored.document.data
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    at = 0
    for line in range(positions.lines):
        start = positions.line_start(line)
        end = positions.line_start(line + 1) if line + 1 < positions.lines else len(data)
        end = start + len(data[start:end].rstrip(b"\r\n"))
        if line + 1 == positions.lines and start == end:
            break
        while at < len(painted) and painted[at].end <= start:
            at += 1
        text, lowest, here, cursor = Text(), None, at, start
        while here < len(painted) and painted[here].start < end:
            span = painted[here]
            low, high = (
                _next_character(data, max(span.start, start)),
                _next_character(data, min(span.end, end)),
            )
            _append(text, data[cursor:low], _UNSCORED)
            _append(text, data[low:high], _STYLES[span.level])
            lowest = span.level if lowest is None else min(lowest, span.level)
            cursor, here = high, here + 1
        _append(text, data[cursor:end], _UNSCORED)
        bar = Text() if lowest is None else Text(BARS[lowest], _STYLES[lowest].without_color + _hue(lowest))
        table.add_row(str(line + 1), bar, text)
    return table


def _next_character(data: bytes, at: int) -> int:
    """The next byte that begins a character: a character split by tokens is shown with the first of them."""
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at += 1
    return at


def _append(text: Text, piece: bytes, style: Style) -> None:
    """Append a piece of a line; tabs become blanks, because a table measures them as one column."""
    for number, part in enumerate(_plain(piece).split("\t")):
        if number:
            text.append(" " * (_TAB - text.cell_len % _TAB))
        text.append(part, style)


def _hue(level: int) -> Style:
    """The colour of a level alone: an underlined bar would be hard to distinguish from the next."""
    return Style(color=_STYLES[level].color, underline=False)


def _concepts(scored: Confidence) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("concept")
    table.add_column("confidence", justify="right")
    table.add_column("")
    table.add_column("nodes", justify="right")
    for category, (value, n) in scored.concepts.items():
        bar = Text("█" * max(1, round(value * 20)), _hue(level_of(value)))
        table.add_row(category, f"{value:.2f}", bar, str(n))
    return table


def _weakest(scored: Confidence, by: Granularity, painted: Sequence[Span]) -> list[RenderableType]:
    """The spans with the lowest values, and the model's expectation at the least likely token of each."""
    worst = least_certain_spans(painted, _WEAKEST)
    if not worst:
        return []
    lines: list[RenderableType] = [Text(), Text(f"least certain {_NAMES[by]}", style="dim")]
    positions, scores = scored.document.positions, scored.scores
    for span in worst:
        text = shorten(_plain(positions.data[span.start : span.end]), _WIDEST)
        line = f"  line {positions.line_of(span.start) + 1}: {text}  {share(span.value)}"
        token = _least_certain_token(scored, span)
        if token is not None:
            options = scores.alternative_text[token]
            seen = _plain(positions.data[int(scores.start[token]) : int(scores.end[token])])
            where = "" if by is Granularity.TOKEN else f" at {visible(seen)}"
            likelier = distinguishable(
                float(scores.alternative_logprob[token][0]) if options else float(scores.logprob[token]),
                float(scores.logprob[token]),
            )
            if likelier and options[0] and options[0].strip() != seen.strip():
                lines.append(Text(f"{line}, it expected {visible(_plain(options[0]))}{where}"))
                continue
        lines.append(Text(line))
    return lines


def _least_certain_token(scored: Confidence, span: Span) -> int | None:
    """The index of the token of a span with the lowest probability."""
    first, last = align(scored.scores, np.array([span.start]), np.array([span.end]), scored.rule)
    part = scored.scores.logprob[first[0] : last[0]]
    return None if not len(part) or np.isnan(part).all() else int(first[0]) + int(np.nanargmin(part))


def _plain(source: bytes | str) -> str:
    return printable(source.decode("utf-8", "replace") if isinstance(source, bytes) else source, keep="\t")
