"""All mutations of Java by id; those that Python has, too, have the same ids."""

from __future__ import annotations

from counterlens.java.mutations.def_use_break import JavaDefUseBreak
from counterlens.java.mutations.if_else_flip import JavaIfElseFlip
from counterlens.java.mutations.loops import JavaForWhileConvert
from counterlens.java.mutations.mutation import JavaMutation
from counterlens.java.mutations.operators import JavaOperandSwap, JavaReplaceArithmetic
from counterlens.java.mutations.refactor_condition import JavaRefactorCondition
from counterlens.java.mutations.rename import JavaRenameGeneric, JavaRenameRandom, JavaRenameShuffle
from counterlens.java.mutations.reorder_parameters import JavaReorderParameters
from counterlens.java.mutations.simple_conditionals import (
    JavaBlockSwapPlain,
    JavaNegateCondition,
    JavaRemoveConditional,
)
from counterlens.java.mutations.statements import JavaIndependentSwap, JavaRemoveDefinition
from counterlens.java.mutations.var_types import JavaVarTypes

_OWN: tuple[JavaMutation, ...] = (
    # control flow
    JavaIfElseFlip(),
    JavaIndependentSwap(),
    JavaForWhileConvert(),
    JavaRefactorCondition(),
    JavaNegateCondition(),
    JavaRemoveConditional(),
    JavaBlockSwapPlain(),
    # data flow
    JavaDefUseBreak(),
    JavaOperandSwap(),
    JavaReorderParameters(),
    JavaReplaceArithmetic(),
    JavaRemoveDefinition(),
    # naming
    JavaRenameRandom(),
    JavaRenameShuffle(),
    JavaRenameGeneric(),
    # types
    JavaVarTypes(),
)

MUTATIONS = {mutation.id: mutation for mutation in _OWN}
