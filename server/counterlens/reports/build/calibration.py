"""Reports on how often code that a model wrote was right, by the confidence in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from counterlens.calibration.correctness import CorrectnessResult
from counterlens.confidence.correctness import RightShare
from counterlens.counting import plural
from counterlens.metrics.bootstrap import IntervalEstimate
from counterlens.metrics.calibration import Bin
from counterlens.reports.document import Block, Figure, Heading, Paragraph, Report, TableBlock

_SIZE, _MARGIN = 360, 44
_FIXES = {
    "sample": "another completion of the same function that passes",
    "reference": "the reference, because no completion of the function passed",
}


def reliability_svg(bins: Sequence[Bin], unit: str, title: str) -> str:
    """A reliability diagram as SVG: bars of the share that is right, and the diagonal.

    Args:
        unit: The noun for a piece in a bin.
        title: What the vertical axis shows.
    """
    n = sum(each.n for each in bins)
    span = _SIZE - 2 * _MARGIN
    parts = [f'<svg width="{_SIZE}" height="{_SIZE}" fill="currentColor">']
    for bucket in bins:
        if bucket.n:
            left, height = _MARGIN + bucket.low * span, bucket.right * span
            parts.append(
                f'<rect x="{left + 1:.1f}" y="{_SIZE - _MARGIN - height:.1f}" '
                f'width="{(bucket.high - bucket.low) * span - 2:.1f}" height="{height:.1f}" fill="#3b82c4" '
                f'fill-opacity="{0.35 + 0.65 * math.sqrt(bucket.n / n):.2f}">'
                f"<title>{plural(bucket.n, unit)} shown at {bucket.confidence:.2f}, "
                f"{bucket.right:.2f} right</title></rect>"
            )
    low, high = _MARGIN, _SIZE - _MARGIN
    parts += [
        f'<path d="M{low} {high}L{high} {low}" stroke="#c2570c" stroke-dasharray="5 4" fill="none"/>',
        f'<path d="M{low} {low}V{high}H{high}" stroke="currentColor" fill="none"/>',
    ]
    for i in range(0, 11, 2):
        at = low + span * i / 10
        parts.append(f'<text x="{at:.0f}" y="{high + 16}" text-anchor="middle">{i / 10:.1f}</text>')
        parts.append(f'<text x="{low - 6}" y="{_SIZE - at + 4:.0f}" text-anchor="end">{i / 10:.1f}</text>')
    parts.append(f'<text x="{_SIZE / 2:.0f}" y="{_SIZE - 8}" text-anchor="middle">confidence shown</text>')
    parts.append(f'<text x="{low}" y="{low - 10}">{title}</text>')
    return "".join(parts) + "</svg>"


def show_figure(estimate: IntervalEstimate) -> str:
    """A figure with its interval."""
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f} (-- to --)"
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


def correctness_report(result: CorrectnessResult, kept: Path | None) -> Report:
    """The report; `kept` is the path of the maps, if they were stored."""
    maps = result.maps
    title = f"Confidence and correctness of {maps.name}: {plural(result.completions, 'completion')} of "
    title += plural(result.functions, "function")
    parts = (
        ("completions", "completion", "share of completions that pass", maps.completion),
        ("statements", "statement", "share of statements that the smallest fix leaves", maps.statement),
    )
    blocks: list[Block] = [
        Heading(1, title),
        TableBlock(
            "figures, on functions that were not fitted",
            ("figure", *(name for name, _, _, _ in parts)),
            (
                ("pieces", *(part.n for *_, part in parts)),
                ("right", *(f"{part.right:.3f}" for *_, part in parts)),
                ("AUROC", *(show_figure(part.auroc) for *_, part in parts)),
                ("Brier skill over the base rate", *(show_figure(part.skill) for *_, part in parts)),
                ("expected calibration error", *(show_figure(part.ece) for *_, part in parts)),
                ("tells right from wrong", *("yes" if part.holds else "no" for *_, part in parts)),
            ),
        ),
    ]
    for name, unit, axis, part in parts:
        table = TableBlock(
            f"reliability of {name}: the share that was right by the chance shown",
            ("chance shown", name, "right"),
            tuple(_share_row(share) for share in part.shares),
        )
        svg = reliability_svg([_share_bin(share) for share in part.shares], unit, axis)
        blocks += [table, Figure(name, f"Reliability diagram of {name}: {axis}.", table, svg=svg)]
    blocks.append(
        TableBlock(
            "statements by kind",
            ("kind", "statements", "right", "share"),
            tuple(
                (kind, n, right, f"{right / n:.2f}")
                for kind, (n, right) in sorted(maps.statement.by_kind.items(), key=lambda each: -each[1][0])
            ),
        )
    )
    blocks += map(Paragraph, _correctness_notes(result, kept))
    return Report(title, tuple(blocks))


def _share_row(share: RightShare) -> tuple[str, int, str | None]:
    shown = f"{share.right / share.n:.2f}" if share.n else None
    return f"{share.low:.1f} to {share.high:.1f}", share.n, shown


def _share_bin(share: RightShare) -> Bin:
    return Bin(share.low, share.high, share.n, share.chance, share.right / share.n if share.n else 0.0)


def _correctness_notes(result: CorrectnessResult, kept: Path | None) -> Iterator[str]:
    yield (
        "A completion is right if it passes the function's tests. A statement is right if the smallest fix "
        "of its completion leaves it as it is."
    )
    for name, count in result.fixed_by.items():
        yield f"The smallest fix of {plural(count, 'failing completion')} is {_FIXES[name]}."
    yield "Every figure is of functions outside the fit; intervals are over functions."
    for reason, count in result.left_out.items():
        yield f"Left out: {count}, {reason}."
    yield f"The result is stored in {kept}." if kept else "The result is not stored."
