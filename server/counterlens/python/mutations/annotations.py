"""`annotate-strip` and `annotate-shuffle`; whether any code could read the annotations of a function."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import ANNOTATIONS_UNREAD, Concept
from counterlens.mutations.edits import Edit, Slice, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.module import FunctionNode, Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.occurrences import parameters

_READERS = {"__annotations__", "get_type_hints", "get_annotations", "signature", "getfullargspec"}
_ACTIVE = (cst.Call, cst.NamedExpr, cst.Await, cst.Yield)


def annotations_of(node: cst.FunctionDef) -> list[cst.Annotation]:
    """The annotations of a function's parameters, in source order."""
    return [param.annotation for param in parameters(node.params) if param.annotation is not None]


def read_at_run_time(module: Module, node: cst.FunctionDef) -> str | None:
    """The reason why code may read a function's annotations or notice their evaluation; None if it cannot."""
    if node.decorators:
        return "a decorator may read the annotations"
    if _READERS & module.words:
        return "the module reads annotations or signatures"
    if node.name.value == "__init__":
        return "frameworks build objects from the annotations of `__init__`"
    if any(isinstance(part, _ACTIVE) for note in annotations_of(node) for part in module.descendants(note)):
        return "an annotation does more than name a type"
    return None


def annotation_span(module: Module, note: cst.Annotation) -> tuple[int, int]:
    """The byte range of an annotation's type, with its parentheses."""
    return module.outer(note.annotation)


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
