"""Starlark's mutations: one of its own, and three of Python's."""

from __future__ import annotations

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import exchange
from counterlens.mutations.languages import MutatedLanguage
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.language import MUTATIONS
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.language import PLACEBOS, python_meaning


class StarlarkModule(Module):
    """A file, read as Python is."""

    language = "starlark"


class LoadReorder(PythonMutation):
    """Exchange the first and the last name of a `load`."""

    id = "load-reorder"
    concept = Concept.DATA_FLOW
    source = "an example"
    EXAMPLES = (
        Example(before='load(":a.bzl", "b", "c")\n', after='load(":a.bzl", "c", "b")\n'),
        Example(before='load(":a.bzl", "b")\n', refused="fewer than two"),
    )

    def sites(self, context):
        module = context.module
        for call in module.nodes(cst.Call):
            if not isinstance(call.func, cst.Name) or call.func.value != "load":
                continue
            names = [module.span(argument.value) for argument in call.args[1:] if argument.keyword is None]
            if len(names) < 2:
                yield SiteRefused(module.start(call), "it loads fewer than two names")
            else:
                edits = exchange(names[0], names[-1])
                yield Site(module.span(call), "exchanged two loaded names", tuple(edits))


_OWN = (LoadReorder(), *(MUTATIONS[name] for name in ("if-else-flip", "operand-swap", "rename-random")))

STARLARK = MutatedLanguage(
    own={mutation.id: mutation for mutation in _OWN},
    parse=StarlarkModule,
    context=PythonContext,
    placebos=PLACEBOS,
    meaning=python_meaning,
)
