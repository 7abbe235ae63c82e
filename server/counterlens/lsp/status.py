"""The status of the server: the model's activity, or the reason for none.

Custom notification `counterlens/status`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

NOTIFICATION = "counterlens/status"


@dataclass(frozen=True, slots=True)
class StepCount:
    """Progress: `done` of `total`, counted in `unit`, such as `%` or `functions`."""

    done: int
    total: int
    unit: str = "%"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One state of the server.

    `advice` is what the user can do about a lack, such as margins that are not fitted.
    """

    model: str
    state: str
    detail: str
    reason: str = ""
    steps: StepCount | None = None
    advice: str = ""


class Announce(Protocol):
    """Sends the server's status to the client; called on the event loop."""

    def __call__(self, state: str, detail: str, reason: str = "", steps: StepCount | None = None) -> None:
        """As the attributes of `ServerStatus`."""
