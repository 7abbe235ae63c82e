"""`Transformation`: an operator of EMPICA (Nguyen et al. 2024, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from counterlens.mutations.mutation import AnyMutation


@dataclass(frozen=True, slots=True)
class Transformation:
    """One transformation operator.

    Attributes:
        title: As Table 6 calls it.
        dependence: The relation that it is of.
        mutation: The operator.
    """

    title: str
    dependence: Literal["control", "data"]
    mutation: AnyMutation

    @property
    def preserving(self) -> bool:
        """Whether it keeps the meaning."""
        return self.mutation.preserving
