"""Python's mutations, placebos and parser."""

from __future__ import annotations

from counterlens.mutations.languages import MutatedLanguage
from counterlens.mutations.mutation import AnyMutation
from counterlens.python.mutations.empica import TRANSFORMATIONS
from counterlens.python.mutations.if_else_flip import IfElseFlip
from counterlens.python.mutations.independent_swap import IndependentSwap
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.placebos import PLACEBOS, python_meaning
from counterlens.python.mutations.registry import MUTATIONS
from counterlens.python.mutations.rename_random import RenameRandom
from counterlens.python.mutations.rename_shuffle import RenameShuffle
from counterlens.python.mutations.reorder_parameters import ReorderParameters
from counterlens.python.mutations.site_check import check

_PUBLISHED: tuple[AnyMutation, ...] = (
    IfElseFlip(published=True),
    RenameRandom(published=True),
    RenameShuffle(published=True),
)

PYTHON = MutatedLanguage(
    own=MUTATIONS,
    kind=PythonMutation,
    parse=Module,
    context=PythonContext,
    checked=check,
    placebos=PLACEBOS,
    meaning=python_meaning,
    transformations=TRANSFORMATIONS,
    published={mutation.id: mutation for mutation in _PUBLISHED},
    shown={ReorderParameters.id: ReorderParameters(whole_program=True)},
    reaching=IndependentSwap,
)
