"""`annotate-strip`: removes the annotations of a function's parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from counterlens.mutations.base import ANNOTATIONS_UNREAD, Concept
from counterlens.mutations.edits import replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.annotations import annotation_span, annotations_of, read_at_run_time
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.occurrences import parameters


class AnnotateStrip(PythonMutation):
    """Remove the annotations of a function's parameters.

    The behaviour stays the same, and a type checker loses information.
    """

    id = "annotate-strip"
    concept = Concept.TYPES
    source = "Hooda et al. 2024, section 3.3, which name the concept and leave it out"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="def f(a: int, b : str = '', *c: 'x', d=1) -> int:\n    pass\n",
            after="def f(a, b = '', *c, d=1) -> int:\n    pass\n",
        ),
        Example(before="@task\ndef f(a: int): pass\n", refused="decorator"),
        Example(before="def f(a): pass\n", refused="no annotations"),
    )

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for function in module.functions:
            if not annotations_of(function.node):
                yield SiteRefused(function.start, "its parameters have no annotations")
                continue
            reason = read_at_run_time(module, function.node)
            if reason is not None:
                yield SiteRefused(function.start, reason)
                continue
            edits = [
                replace(module.end(param.name), annotation_span(module, param.annotation)[1], "")
                for param in parameters(function.node.params)
                if param.annotation is not None
            ]
            yield Site(
                span=(function.start, function.end),
                description=f"removed the annotations of {len(edits)} parameters",
                edits=tuple(edits),
                assumptions=(ANNOTATIONS_UNREAD,),
            )
