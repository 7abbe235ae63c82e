"""An estimate with its interval, as the measurements keep and print it."""

from __future__ import annotations

from counterlens.metrics.bootstrap import Estimate


def plain(found: Estimate) -> dict[str, float | None]:
    """As plain data."""
    return {"value": found.value, "low": found.low, "high": found.high}


def text(found: Estimate) -> str:
    """With three digits; a dash where it is undefined."""
    if found.value is None or found.low is None or found.high is None:
        return "-"
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
