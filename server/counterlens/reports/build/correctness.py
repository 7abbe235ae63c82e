"""The report on a model's confidence in code that it wrote, beside the verdicts of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from counterlens.calibration.correctness import CorrectnessResult
from counterlens.confidence.correctness import ChanceMap, RightShare
from counterlens.counting import plural
from counterlens.metrics.calibration import Bin
from counterlens.reports.build.calibration import reliability_svg, show_figure
from counterlens.reports.document import Block, Figure, Heading, Paragraph, Report, TableBlock

_FIXES = {
    "sample": "another completion of the same function that passes",
    "reference": "the reference, because no completion of the function passed",
}


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
                ("fitted on", *(_description_of_fit(part) for *_, part in parts)),
                ("tells right from wrong", *("yes" if part.holds else "no" for *_, part in parts)),
            ),
        ),
    ]
    for name, unit, axis, part in parts:
        table = TableBlock(
            f"reliability of {name}: the share that was right by the chance shown",
            ("chance shown", name, "right"),
            tuple(_row(share) for share in part.shares),
        )
        svg = reliability_svg([_bin(share) for share in part.shares], unit, axis)
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
    blocks += map(Paragraph, _notes(result, kept))
    return Report(title, tuple(blocks))


def _description_of_fit(part: ChanceMap) -> str:
    summaries = " and ".join(f"{name} ({weight:+.2g})" for name, weight in part.weights.items())
    return summaries or "nothing: all were alike"


def _row(share: RightShare) -> tuple[str, int, str | None]:
    shown = f"{share.right / share.n:.2f}" if share.n else None
    return f"{share.low:.1f} to {share.high:.1f}", share.n, shown


def _bin(share: RightShare) -> Bin:
    return Bin(share.low, share.high, share.n, share.chance, share.right / share.n if share.n else 0.0)


def _notes(result: CorrectnessResult, kept: Path | None) -> Iterator[str]:
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
