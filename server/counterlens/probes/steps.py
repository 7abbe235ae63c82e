"""Progress and cancellation of a probe; see `counterlens.progress`."""

from counterlens.progress import ProgressCallback as Report
from counterlens.progress import Steps

__all__ = ["Report", "Steps"]
