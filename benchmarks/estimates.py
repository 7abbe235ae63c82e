"""An estimate with its interval, as the measurements keep and print it."""

from __future__ import annotations

from counterlens.metrics.bootstrap import Estimate


def plain(found: Estimate) -> dict[str, float | None]:
    """As plain data."""
    return {"value": found.value, "low": found.low, "high": found.high}


def text(found: Estimate) -> str:
    """With three digits; dashes for what is not known."""
    value, low, high = (
        "-" if figure is None else f"{figure:.3f}" for figure in (found.value, found.low, found.high)
    )
    return "-" if found.value is None else f"{value} ({low} to {high})"
