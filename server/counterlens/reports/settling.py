"""Counterfactuals with what running them has shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Group
from rich.text import Text

from counterlens.attribution.settlement import Settled, Settlement, counts
from counterlens.counting import plural
from counterlens.mutations.base import Refusal
from counterlens.reports.json import counterfactual
from counterlens.reports.terminal import mutation_report
from counterlens.syntax.document import Document

_COLOURS = {Settlement.HOLDS: "green", Settlement.BREAKS: "green", Settlement.DISCARDED: "red"}


def settled_report(
    document: Document, settled: Sequence[Settled], refused: Iterable[Refusal], *, explain: bool
) -> Group:
    """For a terminal: each difference with its finding, and how many there are of each."""
    parts: list[Any] = []
    for one in settled:
        parts.append(mutation_report(document, [one.counterfactual], (), explain=False))
        style = _COLOURS.get(one.finding, "yellow")
        parts += [Text.assemble(("  " + one.finding.value, style), f"  {one.reason}"), Text()]
    if not settled or explain:
        parts.append(mutation_report(document, (), refused, explain=explain))
    found = counts(settled)
    numbers = ", ".join(f"{number} {finding.value}" for finding, number in found.items() if number)
    return Group(*parts, Text(f"{plural(len(settled), 'counterfactual')}: {numbers or 'none'}."))


def settled_json(one: Settled) -> dict[str, Any]:
    """As plain data: the counterfactual, and `settled` with what was found."""
    verdict = one.verdict
    return {
        **counterfactual(one.counterfactual),
        "settled": {
            "finding": one.finding.value,
            "reason": one.reason,
            "attribution": verdict.evidence.attribution if verdict else None,
            "strength": verdict.evidence.strength if verdict else None,
            "failed": verdict.evidence.failed if verdict else None,
            "message": verdict.evidence.message if verdict else "",
        },
    }
