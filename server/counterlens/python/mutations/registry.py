"""All mutations of Python by id. A new mutation is one file and one line here, or a plug-in."""

from __future__ import annotations

from counterlens.python.mutations.annotate_shuffle import AnnotateShuffle
from counterlens.python.mutations.annotate_strip import AnnotateStrip
from counterlens.python.mutations.block_swap_plain import BlockSwapPlain
from counterlens.python.mutations.def_use_break import DefUseBreak
from counterlens.python.mutations.for_while_convert import ForWhileConvert
from counterlens.python.mutations.if_else_flip import IfElseFlip
from counterlens.python.mutations.independent_swap import IndependentSwap
from counterlens.python.mutations.loop_unroll import LoopUnroll
from counterlens.python.mutations.mutation import PythonMutation
from counterlens.python.mutations.negate_condition import NegateCondition
from counterlens.python.mutations.operand_swap import OperandSwap
from counterlens.python.mutations.refactor_condition import RefactorCondition
from counterlens.python.mutations.remove_conditional import RemoveConditional
from counterlens.python.mutations.remove_definition import RemoveDefinition
from counterlens.python.mutations.rename_generic import RenameGeneric
from counterlens.python.mutations.rename_random import RenameRandom
from counterlens.python.mutations.rename_shuffle import RenameShuffle
from counterlens.python.mutations.reorder_parameters import ReorderParameters
from counterlens.python.mutations.replace_arithmetic import ReplaceArithmetic

_OWN: tuple[PythonMutation, ...] = (
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

MUTATIONS = {mutation.id: mutation for mutation in _OWN}
