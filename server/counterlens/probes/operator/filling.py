"""Filling in the middle: the operator that a model writes into a gap when it is shown both sides at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from counterlens.errors import Cancelled
from counterlens.metrics.effects import wilson
from counterlens.models.base import Api, Model, Prompt, Stop
from counterlens.probes.operator.pairs import sites_of
from counterlens.probes.operator.scoring import OperatorScorer
from counterlens.probes.task import Cell, Request, Table
from counterlens.syntax.operators import Family

_TOKENS = 4
"""So many may be written: an operator has at most three, and healing may repeat one."""
_LONGER = "<>=!*/&|^%"
"""What an operator that goes on is not a candidate with."""


def fills(model: Model) -> bool:
    """Whether a model is asked to fill in the middle."""
    return model.info.api is Api.FILL


def filled(request: Request) -> list[dict[str, Any]]:
    """What the model writes into the gap of each operator of the targets, as plain data.

    Raises:
        SourceError: there is no such function.
        ModelError, Cancelled: as `Model.complete`.
    """
    found = []
    for number, target in enumerate(request.targets):
        scorer = OperatorScorer(request.model, target.document)
        for site in sites_of(target.document, target.qualname):
            if request.cancel is not None and request.cancel.is_set():
                raise Cancelled
            if request.report:
                request.report(f"filling {target.name}, line {site.line}", number, len(request.targets))
            before, after = scorer.sides(site)
            prompt = Prompt(before, _TOKENS, Stop(texts=("\n",)), suffix=after)
            (said,) = request.model.complete([prompt], cancel=request.cancel)
            found.append(
                {
                    "target": target.name,
                    "line": site.line,
                    "family": str(site.family),
                    "operator": site.operator,
                    "said": said.text,
                    "written": operator_in(said.text, site.candidates),
                }
            )
    return found


def operator_in(text: str, candidates: Sequence[str]) -> str | None:
    """The candidate that a text begins with; None where it begins with anything else."""
    said = " ".join(text.split())
    for name in sorted(candidates, key=len, reverse=True):
        rest = said[len(name) :]
        goes_on = rest[:1].isalnum() or rest[:1] == "_" if name[-1].isalpha() else rest[:1] in _LONGER
        if said.startswith(name) and not (rest and goes_on):
            return name
    return None


def filled_table(found: Sequence[Mapping[str, Any]]) -> Table | None:
    """The share that was filled in right, by family; None where nothing was filled in."""
    rows: list[tuple[Cell, ...]] = []
    for family in (None, *Family):
        asked = [one for one in found if family is None or one["family"] == family]
        if asked:
            right = sum(one["written"] == one["operator"] for one in asked)
            other = sum(one["written"] is None for one in asked)
            rows.append((str(family) if family else "all", len(asked), wilson(right, len(asked)), other))
    columns = ("family", "n", "accuracy", "no candidate")
    note = "what the model writes into the gap, shown both sides, at temperature 0"
    return Table("filled in the middle", columns, tuple(rows), note) if rows else None
