"""All mutations by id. A new mutation is one file and one line here, or a `counterlens.mutations` plug-in."""

from __future__ import annotations

from counterlens.mutations.annotate_shuffle import AnnotateShuffle
from counterlens.mutations.annotate_strip import AnnotateStrip
from counterlens.mutations.block_swap_plain import BlockSwapPlain
from counterlens.mutations.def_use_break import DefUseBreak
from counterlens.mutations.for_while_convert import ForWhileConvert
from counterlens.mutations.if_else_flip import IfElseFlip
from counterlens.mutations.independent_swap import IndependentSwap
from counterlens.mutations.loop_unroll import LoopUnroll
from counterlens.mutations.mutation import Mutation
from counterlens.mutations.negate_condition import NegateCondition
from counterlens.mutations.operand_swap import OperandSwap
from counterlens.mutations.refactor_condition import RefactorCondition
from counterlens.mutations.remove_conditional import RemoveConditional
from counterlens.mutations.remove_definition import RemoveDefinition
from counterlens.mutations.rename_generic import RenameGeneric
from counterlens.mutations.rename_random import RenameRandom
from counterlens.mutations.rename_shuffle import RenameShuffle
from counterlens.mutations.reorder_parameters import ReorderParameters
from counterlens.mutations.replace_arithmetic import ReplaceArithmetic
from counterlens.plugins import Registry

_OWN: tuple[Mutation, ...] = (
    # control flow
    IfElseFlip(),
    IndependentSwap(),
    ForWhileConvert(),
    RefactorCondition(),
    LoopUnroll(),
    NegateCondition(),
    RemoveConditional(),
    BlockSwapPlain(),
    # data flow
    DefUseBreak(),
    OperandSwap(),
    ReorderParameters(),
    ReplaceArithmetic(),
    RemoveDefinition(),
    # naming
    RenameRandom(),
    RenameShuffle(),
    RenameGeneric(),
    # types
    AnnotateStrip(),
    AnnotateShuffle(),
)

MUTATIONS = Registry("counterlens.mutations", _OWN, name=lambda mutation: mutation.id, kind=Mutation)
