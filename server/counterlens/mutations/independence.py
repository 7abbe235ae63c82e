"""`Independence`: whether two pieces of code can be swapped."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Independence:
    """Whether two pieces of code can be swapped: the reason if not, and the assumptions if so."""

    reason: str | None
    assumptions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.reason is None
