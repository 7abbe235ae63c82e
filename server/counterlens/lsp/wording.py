"""Texts that several features of the server share."""

from __future__ import annotations

import math


def about(seconds: float) -> str:
    """A duration in words, no more exact than an estimate."""
    if seconds < 90:
        return f"about {max(5, 5 * round(seconds / 5))} s"
    return f"about {math.ceil(seconds / 60)} min"
