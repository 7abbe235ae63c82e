"""How far confidences can be taken at their word, before and after a map: terminal, JSON, page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from counterlens.calibration.fitting import LEAST_FUNCTIONS, CalibrationResult
from counterlens.calibration.measuring import NodeTruth
from counterlens.confidence import Confidence
from counterlens.confidence.calibrated import calibrated, fits
from counterlens.confidence.calibration import Calibration
from counterlens.counting import plural
from counterlens.metrics.bootstrap import IntervalEstimate
from counterlens.metrics.calibration import Bin, Quality

_BAR = 24
_SIZE, _MARGIN = 360, 44
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:left}"
    "td+td,th+th{text-align:right}figure{display:inline-block;margin:1rem 1rem 1rem 0}"
    "svg text{font-size:11px;fill:currentColor}"
)


def calibration_report(result: CalibrationResult, kept: Path | None) -> Group:
    """For a person at a terminal; `kept` is where the map is, if anywhere."""
    parts: list[RenderableType] = [Text(_title(result), style="bold"), Text()]
    figures = Table("", "raw", "calibrated", box=None, pad_edge=False)
    figures.add_row("Brier score", _shown(result.before.brier), _shown(result.after.brier))
    figures.add_row("expected calibration error", _shown(result.before.ece), _shown(result.after.ece))
    parts += [figures, Text(), Text("Reliability: the share predicted right (bar) by confidence shown")]
    diagram = Table(
        "shown", "nodes", "raw: right", "", "nodes", "calibrated: right", "", box=None, pad_edge=False
    )
    for raw, mapped in zip(result.before.bins, result.after.bins, strict=True):
        diagram.add_row(
            f"{raw.low:.1f} to {raw.high:.1f}", str(raw.n), *_bar(raw), str(mapped.n), *_bar(mapped)
        )
    parts += [diagram, Text()]
    table = Table("category", "nodes", "right", "Brier raw", "calibrated", "ECE raw", "calibrated", box=None)
    for name, (before, after) in result.categories.items():
        figures_of = (before.brier, after.brier, before.ece, after.ece)
        table.add_row(name, str(before.n), f"{before.right:.2f}", *(f"{one.value:.3f}" for one in figures_of))
    parts += [table, Text(), *(Text(line) for line in _notes(result, kept))]
    return Group(*parts)


def calibration_json(result: CalibrationResult, kept: Path | None) -> dict[str, Any]:
    """As JSON."""
    return {
        "kind": "calibration",
        "model": {"name": result.calibration.name, "identity": result.calibration.model},
        "aggregation": result.calibration.aggregation.value,
        "truth": result.truth.value,
        "method": result.method.value,
        "documents": result.documents,
        "units": result.units,
        "raw": _quality(result.before),
        "calibrated": _quality(result.after),
        "categories": {
            name: {"raw": _quality(before), "calibrated": _quality(after)}
            for name, (before, after) in result.categories.items()
        },
        "difference": {"brier": _interval(result.difference), "functions": result.units},
        "curves": len(result.calibration.curves),
        "better": result.better,
        "agreement_with_first_choice": result.agreement,
        "left_out": dict(result.left_out),
        "map": str(kept) if kept else None,
    }


def calibration_page(result: CalibrationResult, kept: Path | None) -> str:
    """One self-contained HTML page with the reliability diagrams in SVG."""
    rows = [("", "raw", "calibrated")]
    rows += [("Brier score", _shown(result.before.brier), _shown(result.after.brier))]
    rows += [("expected calibration error", _shown(result.before.ece), _shown(result.after.ece))]
    rows += [("nodes predicted right", f"{result.before.right:.2f}", "")]
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(_title(result))}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(_title(result))}</h1>\n{_rows(rows)}\n"
        + diagram("raw", result.before)
        + diagram("calibrated", result.after)
        + "\n<h2>By concept category</h2>\n"
        + _rows(
            [
                ("category", "nodes", "right", "Brier raw", "calibrated", "ECE raw", "calibrated"),
                *(
                    (
                        name,
                        str(one.n),
                        f"{one.right:.2f}",
                        *(f"{q.value:.3f}" for q in (one.brier, two.brier, one.ece, two.ece)),
                    )
                    for name, (one, two) in result.categories.items()
                ),
            ]
        )
        + "".join(f"\n<p>{escape(line)}</p>" for line in _notes(result, kept))
        + "\n</body>\n</html>\n"
    )


def raw_or_calibrated(scored: Confidence, known: Calibration | None) -> Text:
    """What a document's confidences are, and what they mean where that has been measured."""
    if known is None or not fits(scored, known):
        return Text("Confidence is raw, not calibrated; counterlens calibrate measures what it means.", "dim")
    shares = [
        f"{name} {100 * value:.0f} %" for name, (value, _) in calibrated(scored, known).concepts.items()
    ]
    return Text.assemble(
        (f"Confidence is raw. Calibrated on {known.created}: of nodes like these it predicts right ", "dim"),
        ", ".join(shares),
    )


def calibrated_json(scored: Confidence, known: Calibration | None) -> dict[str, Any] | None:
    """The calibrated confidences of a document's nodes and concepts; None where there is no map."""
    if known is None or not fits(scored, known):
        return None
    mapped = calibrated(scored, known)
    return {
        "created": known.created,
        "facts": dict(known.facts),
        "concepts": {category: value for category, (value, _) in mapped.concepts.items()},
        "nodes": [node.confidence for node in mapped.nodes],
    }


def diagram(title: str, found: Quality) -> str:
    """A reliability diagram as a figure with an SVG: bars of the share that is right, and the diagonal."""
    span = _SIZE - 2 * _MARGIN
    parts = [
        f'<figure><svg width="{_SIZE}" height="{_SIZE}" role="img" '
        f'aria-label="Reliability diagram, {escape(title)}">'
    ]
    for one in found.bins:
        if one.n:
            left, height = _MARGIN + one.low * span, one.right * span
            parts.append(
                f'<rect x="{left + 1:.1f}" y="{_SIZE - _MARGIN - height:.1f}" '
                f'width="{(one.high - one.low) * span - 2:.1f}" height="{height:.1f}" fill="#3b82c4" '
                f'fill-opacity="{0.35 + 0.65 * math.sqrt(one.n / found.n):.2f}">'
                f"<title>{plural(one.n, 'node')} shown at {one.confidence:.2f}, "
                f"{one.right:.2f} right</title></rect>"
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
    parts.append(f'<text x="{low}" y="{low - 10}">share of nodes predicted right</text>')
    return "".join(parts) + f"</svg><figcaption>{escape(title)}</figcaption></figure>"


def _title(result: CalibrationResult) -> str:
    seen = f"{plural(result.before.n, 'node')} of {plural(result.units, 'function')} in "
    seen += plural(result.documents, "file")
    return f"Calibration of {result.calibration.name}: {seen}"


def _notes(result: CalibrationResult, kept: Path | None) -> Iterator[str]:
    wrote = {
        NodeTruth.FILLS: "the model, asked to go on where it begins, writes it",
        NodeTruth.FIRST_CHOICE: "each of its tokens is the model's first choice",
    }
    yield f"A node is predicted right when {wrote[result.truth]}."
    yield "Calibrated figures are of functions that the curves have not seen; intervals are over functions."
    if result.agreement is not None:
        yield f"First choices alone would have said the same of {result.agreement:.1%} of the nodes."
    for reason, count in result.left_out.items():
        yield f"Left out: {count}, {reason}."
    curves = f"{plural(len(result.calibration.curves), 'curve')}, {result.method.value}"
    yield (
        f"The map changes the Brier score by {_shown(result.difference, '+')}, paired over "
        f"{plural(result.units, 'function')}."
    )
    if not result.better:
        few = f" (it takes {LEAST_FUNCTIONS} functions to say so)" if result.units < LEAST_FUNCTIONS else ""
        yield (
            f"Beyond chance, the map does no better than raw confidences{few}, so it is not kept: look at "
            "more --nodes."
        )
    else:
        yield f"The map ({curves}) is kept in {kept}." if kept else f"The map ({curves}) is not kept."


def _shown(estimate: IntervalEstimate, sign: str = "") -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:{sign}.3f} (-- to --)"
    return f"{estimate.value:{sign}.3f} ({estimate.low:{sign}.3f} to {estimate.high:{sign}.3f})"


def _bar(one: Bin) -> tuple[str, str]:
    if not one.n:
        return "", ""
    return f"{one.right:.2f}", "█" * round(one.right * _BAR) or "▏"


def _rows(rows: Sequence[Sequence[str]]) -> str:
    shown = [
        "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>"
        for tag, row in zip(["th", *["td"] * len(rows)], rows, strict=False)
    ]
    return "<table>" + "".join(shown) + "</table>"


def _interval(figure: IntervalEstimate) -> dict[str, float | None]:
    return {"value": figure.value, "low": figure.low, "high": figure.high}


def _quality(found: Quality) -> dict[str, Any]:
    return {
        "nodes": found.n,
        "right": found.right,
        "brier": _interval(found.brier),
        "ece": _interval(found.ece),
        "bins": [
            {
                "low": one.low,
                "high": one.high,
                "nodes": one.n,
                "confidence": one.confidence if one.n else None,
                "right": one.right if one.n else None,
            }
            for one in found.bins
        ],
    }
