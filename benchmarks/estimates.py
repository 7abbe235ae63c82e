"""The stored and printed forms of an estimate with its interval."""

from __future__ import annotations

from counterlens.metrics.bootstrap import Estimate


def plain(found: Estimate) -> dict[str, float | None]:
    """As plain data."""
    return {"value": found.value, "low": found.low, "high": found.high}


def text(found: Estimate) -> str:
    """The estimate with three digits; dashes for unknown values."""
    value, low, high = (
        "-" if figure is None else f"{figure:.3f}" for figure in (found.value, found.low, found.high)
    )
    return "-" if found.value is None else f"{value} ({low} to {high})"
