"""`Transformation`: an operator of EMPICA (Nguyen et al. 2024, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from counterlens.mutations.mutation import AnyMutation


@dataclass(frozen=True, slots=True)
class Transformation:
    """One transformation operator.

    Attributes:
        title: Its name in Table 6.
        dependence: The kind of dependence that it changes.
        mutation: The operator.
    """

    title: str
    dependence: Literal["control", "data"]
    mutation: AnyMutation

    @property
    def preserving(self) -> bool:
        """Whether it preserves the meaning."""
        return self.mutation.preserving
