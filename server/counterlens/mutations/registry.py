"""All mutations, by id. To add one: write its file, and name it here."""

from __future__ import annotations

from types import MappingProxyType

from counterlens.mutations.if_else_flip import IfElseFlip
from counterlens.mutations.mutation import Mutation

_ALL: tuple[Mutation, ...] = (IfElseFlip(),)

MUTATIONS = MappingProxyType({mutation.id: mutation for mutation in _ALL})
