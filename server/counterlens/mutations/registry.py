"""All mutations, by id. To add one: write its file, and name it here."""

from __future__ import annotations

from types import MappingProxyType

from counterlens.mutations.def_use_break import DefUseBreak
from counterlens.mutations.if_else_flip import IfElseFlip
from counterlens.mutations.independent_swap import IndependentSwap
from counterlens.mutations.mutation import Mutation
from counterlens.mutations.operand_swap import OperandSwap
from counterlens.mutations.refactor_condition import RefactorCondition
from counterlens.mutations.rename_generic import RenameGeneric
from counterlens.mutations.rename_random import RenameRandom
from counterlens.mutations.rename_shuffle import RenameShuffle

_ALL: tuple[Mutation, ...] = (
    IfElseFlip(),
    IndependentSwap(),
    RefactorCondition(),
    DefUseBreak(),
    OperandSwap(),
    RenameRandom(),
    RenameShuffle(),
    RenameGeneric(),
)

MUTATIONS = MappingProxyType({mutation.id: mutation for mutation in _ALL})
