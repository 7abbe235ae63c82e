"""`annotate-shuffle`: permutes the annotations of a function's parameters."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import ClassVar

from counterlens.mutations.base import ANNOTATIONS_UNREAD, Concept
from counterlens.mutations.edits import Edit, Slice
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.annotations import annotation_span, annotations_of, read_at_run_time
from counterlens.python.mutations.module import FunctionNode
from counterlens.python.mutations.mutation import PythonContext, PythonMutation


class AnnotateShuffle(PythonMutation):
    """Permute the annotations of a function's parameters.

    The behaviour stays the same, and type checkers and readers are misled.
    """

    id = "annotate-shuffle"
    concept = Concept.TYPES
    source = "Hooda et al. 2024, section 3.3, which name the concept and leave it out"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="def f(a: int, b: list[str] = ()): pass\n",
            after="def f(a: list[str], b: int = ()): pass\n",
        ),
        Example(before="def f(a: int, b: int): pass\n", refused="different annotations"),
        Example(before="def f(a: int, b: int): return f.__annotations__\n", refused="reads annotations"),
    )

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        for function in context.module.functions:
            yield self._site(context, function)

    def _site(self, context: PythonContext, function: FunctionNode) -> Site | SiteRefused:
        module = context.module
        reason = read_at_run_time(module, function.node)
        if reason is not None:
            return SiteRefused(function.start, reason)
        spans = [annotation_span(module, note) for note in annotations_of(function.node)]
        texts = {module.text(span) for span in spans}
        if len(texts) < 2:
            return SiteRefused(function.start, "its parameters do not have two different annotations")
        chance = random.Random(repr((context.seed, self.id, function.qualname)))  # noqa: S311
        order = list(spans)
        while all(module.text(a) == module.text(b) for a, b in zip(spans, order, strict=True)):
            chance.shuffle(order)
        edits = tuple(
            Edit(*target, (Slice(*source),))
            for target, source in zip(spans, order, strict=True)
            if module.text(target) != module.text(source)
        )
        return Site(
            span=(function.start, function.end),
            description=f"permuted the annotations of {len(edits)} parameters",
            edits=edits,
            assumptions=(ANNOTATIONS_UNREAD,),
        )
