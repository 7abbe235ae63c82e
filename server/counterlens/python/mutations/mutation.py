"""The context of a Python mutation, and its base class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from counterlens.mutations.mutation import Mutation
from counterlens.python.mutations.effect_analysis import effects_in
from counterlens.python.mutations.effect_rules import EffectAnalysis
from counterlens.python.mutations.module import Module


@dataclass(frozen=True)
class PythonContext:
    """A Python file and the random seed; its analyses are computed once for all mutations."""

    module: Module
    seed: int = 0

    @cached_property
    def effects(self) -> EffectAnalysis:
        """The side-effect analysis of the file."""
        return effects_in(self.module)


class PythonMutation(Mutation[PythonContext]):
    """One way to perturb one concept of Python."""
