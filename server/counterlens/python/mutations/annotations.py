"""Annotations of parameters: which functions have them, and whether any code could read them."""

from __future__ import annotations

import libcst as cst

from counterlens.python.mutations.module import Module
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
