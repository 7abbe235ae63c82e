"""All mutations of Java by id; those that Python has, too, have the same ids."""

from __future__ import annotations

from counterlens.mutations.java.def_use_break import JavaDefUseBreak
from counterlens.mutations.java.if_else_flip import JavaIfElseFlip
from counterlens.mutations.java.loops import JavaForWhileConvert
from counterlens.mutations.java.mutation import JavaMutation
from counterlens.mutations.java.operators import JavaOperandSwap, JavaReplaceArithmetic
from counterlens.mutations.java.refactor_condition import JavaRefactorCondition
from counterlens.mutations.java.rename import JavaRenameGeneric, JavaRenameRandom, JavaRenameShuffle
from counterlens.mutations.java.reorder_parameters import JavaReorderParameters
from counterlens.mutations.java.simple_conditionals import (
    JavaBlockSwapPlain,
    JavaNegateCondition,
    JavaRemoveConditional,
)
from counterlens.mutations.java.statements import JavaIndependentSwap, JavaRemoveDefinition
from counterlens.mutations.java.var_types import JavaVarTypes

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

JAVA_MUTATIONS = {mutation.id: mutation for mutation in _OWN}
