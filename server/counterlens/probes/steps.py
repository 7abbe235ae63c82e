"""The old place of `counterlens.progress`."""

from __future__ import annotations

from counterlens.progress import ProgressCallback, Steps

Report = ProgressCallback

__all__ = ["Report", "Steps"]
