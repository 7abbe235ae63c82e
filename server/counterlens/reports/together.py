"""The effects of many functions together, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from counterlens.counting import plural
from counterlens.metrics.summary import summarize
from counterlens.probes.results import CompletionProbe
from counterlens.reports.markdown import average, counts, groups, summary_cells


def together_report(probes: Sequence[CompletionProbe], left_out: Mapping[str, str]) -> Group:
    """The effects by mutation and by concept, and what was left out and why.

    Args:
        probes: Of each function.
        left_out: Why functions could not be probed, by name.
    """
    seen = [one for probe in probes for one in probe.observations]
    found = summarize(seen)
    parts: list[RenderableType] = [Text(), Text(f"{len(probes)} functions together", style="bold")]
    parts.append(Text("; ".join(part for part in (counts(found), average(found)) if part)))
    for title, members in groups(seen):
        if title in {"mutation", "concept"}:
            table = Table(box=None, pad_edge=False, header_style="dim")
            columns = ("pairs", "informative", "changed", "effect", "95 % interval", "signed", "McNemar p")
            for column in (title, *columns):
                table.add_column(column)
            for name, summary in members.items():
                table.add_row(name, *summary_cells(summary))
            parts += [Text(), table]
    refused = sum(len(probe.refusals) for probe in probes)
    dropped = sum(len(probe.dropped) for probe in probes)
    told = f"{plural(refused, 'site')} refused, {plural(dropped, 'counterfactual')} left out"
    parts += [Text(), Text(told, style="dim")]
    parts += [Text(f"{name} was left out: {reason}", style="dim") for name, reason in left_out.items()]
    return Group(*parts)
