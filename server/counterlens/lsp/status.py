"""Status: what the model is doing, and why nothing happens when nothing does.

Custom notification `counterlens/status`.
"""

from __future__ import annotations

from dataclasses import dataclass

NOTIFICATION = "counterlens/status"


@dataclass(frozen=True, slots=True)
class Status:
    """One state of the server.

    Attributes:
        model: The model's name.
        state: `idle`, `loading`, `ready`, `scoring`, `probing`, `error` or `disabled`.
        detail: One sentence for a tooltip.
    """

    model: str
    state: str
    detail: str
