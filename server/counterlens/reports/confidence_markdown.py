"""Confidence as Markdown: by concept, the least certain statements, and what surprised the model."""

from __future__ import annotations

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.granularity import Granularity, Span, spans
from counterlens.confidence.surprising import surprising
from counterlens.models.base import ModelInfo
from counterlens.reports.expected import code
from counterlens.reports.surprises import surprise_sentence
from counterlens.reports.wording import share

_LEAST = 5
_WIDEST = 60

CAUTION = (
    "Confidence says how expected code is to this model, not whether the code is right: unusual code that is "
    "right scores low, and common mistakes score high."
)


def confidence_markdown(
    found: Confidence, info: ModelInfo, *, span: tuple[int, int] | None = None, places: int = _LEAST
) -> str:
    """What a model expects of code.

    Args:
        found: The scores of a document.
        info: Who gave them.
        span: Only this part of it, in bytes.
        places: How many statements and how many surprises to name, at most.
    """
    first, last = span or (0, len(found.document.data))
    lines = found.document.positions
    painted = [one for one in spans(found, Granularity.STATEMENT) if first <= one.start and one.end <= last]
    parts = [
        f"Confidence of {info.name} ({info.where}). {CAUTION}",
        "\n".join(
            [
                "| concept | mean probability | nodes |",
                "|:--|--:|--:|",
                *(
                    f"| {name} | {share(value)} | {n} |"
                    for name, (value, n) in found.concepts_in(first, last).items()
                ),
            ]
        ),
    ]
    weakest = _weakest(painted, places)
    if weakest:
        rows = [
            f"- line {lines.line_of(one.start) + 1}: {share(one.value)} {code(_cut(found, one))}"
            for one in weakest
        ]
        parts.append("Least certain statements:\n\n" + "\n".join(rows))
    surprises = surprising(found, limit=places, span=span)
    if surprises:
        rows = [
            f"- line {lines.line_of(one.start) + 1}: {surprise_sentence(found, one, info.name)}"
            for one in surprises
        ]
        parts.append("Most surprising places:\n\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _weakest(painted: list[Span], places: int) -> list[Span]:
    first = {span.index: span for span in reversed(painted)}.values()  # of a node in several pieces one
    return sorted(first, key=lambda one: (one.value, one.start))[:places]


def _cut(found: Confidence, span: Span) -> str:
    text = " ".join(found.document.data[span.start : span.end].decode("utf-8", "replace").split())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
