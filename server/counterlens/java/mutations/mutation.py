"""The context of a Java mutation, and its base class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from counterlens.java.mutations.effects import JavaEffectAnalysis
from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.static_types import JavaTypes
from counterlens.mutations.mutation import Mutation


@dataclass(frozen=True)
class JavaContext:
    """A Java file and the random seed; its analyses are computed once for all mutations."""

    module: JavaModule
    seed: int = 0

    @cached_property
    def types(self) -> JavaTypes:
        """The static types of its expressions."""
        return JavaTypes(self.module)

    @cached_property
    def effects(self) -> JavaEffectAnalysis:
        """The side-effect analysis of the file."""
        return JavaEffectAnalysis(self.module, self.types)


class JavaMutation(Mutation[JavaContext]):
    """One way to perturb one concept of Java."""
