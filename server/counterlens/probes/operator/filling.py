"""Fill-in-the-middle: the operator that a model writes into a gap, given the code on both sides."""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.metrics.effects import pooled_share
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Api, Model, Prompt, Stop
from counterlens.probes.operator.pairs import sites_of
from counterlens.probes.operator.record import FilledGap
from counterlens.probes.operator.scoring import OperatorScorer
from counterlens.probes.probe import Context, Target
from counterlens.syntax.operators import Family

_TOKENS = 4
"""Token limit: an operator has at most three, and healing may repeat one."""
_LONGER = "<>=!*/&|^%"
"""Characters that continue a longer operator."""


def fills(model: Model) -> bool:
    """Whether a model's prompt format is fill-in-the-middle."""
    return model.info.api is Api.FILL


def filled(context: Context, target: Target) -> tuple[FilledGap, ...]:
    """The model's operator in each gap of a function.

    Raises:
        SourceError: there is no such function.
        ModelError, Cancelled: as `Model.complete`.
    """
    scorer = OperatorScorer(context.model, target.document)
    sites, gaps = sites_of(target.document, target.qualname), []
    for number, site in enumerate(sites):
        context.steps.next(f"filling {target.name}, line {site.line}", number, len(sites))
        before, after = scorer.sides(site)
        said = context.complete(Prompt(before, _TOKENS, Stop(texts=("\n",)), suffix=after)).text
        written = operator_in(said, site.candidates)
        gaps.append(
            FilledGap(line=site.line, family=site.family, operator=site.operator, said=said, written=written)
        )
    return tuple(gaps)


def operator_in(text: str, candidates: Sequence[str]) -> str | None:
    """The candidate that a text begins with; None if it begins with none."""
    said = " ".join(text.split())
    for name in sorted(candidates, key=len, reverse=True):
        rest = said[len(name) :]
        goes_on = rest[:1].isalnum() or rest[:1] == "_" if name[-1].isalpha() else rest[:1] in _LONGER
        if said.startswith(name) and not (rest and goes_on):
            return name
    return None


def filled_table(gaps: Sequence[tuple[str, FilledGap]]) -> Table | None:
    """The share of gaps filled in correctly, by family; None if nothing was filled in.

    Args:
        gaps: The gaps, each with its function.
    """
    rows: list[tuple[Cell, ...]] = []
    for family in (None, *Family):
        asked = [(target, gap) for target, gap in gaps if family in (None, gap.family)]
        if asked:
            right = pooled_share((target, gap.written == gap.operator) for target, gap in asked)
            other = sum(gap.written is None for _, gap in asked)
            rows.append((str(family) if family else "all", len(asked), right, other))
    columns = ("family", "n", "accuracy", "no candidate")
    note = "the model's text for the gap, given both sides, at temperature 0"
    return Table("filled in the middle", columns, tuple(rows), note) if rows else None
