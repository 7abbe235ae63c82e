"""The mutations of parameters: `reorder-parameters`, `annotate-strip` and `annotate-shuffle`."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import ANNOTATIONS_UNREAD, WHOLE_PROGRAM, Concept
from counterlens.mutations.edits import Edit, Slice, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.lookups import lookups_in
from counterlens.python.mutations.module import FunctionNode, Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.occurrences import parameters
from counterlens.python.mutations.statements import independent, is_caught
from counterlens.python.mutations.variables import Occurrence, Role, ScopeKind, Variable

_READERS = {"__annotations__", "get_type_hints", "get_annotations", "signature", "getfullargspec"}
_ACTIVE = (cst.Call, cst.NamedExpr, cst.Await, cst.Yield)


@dataclass(eq=False)
class ReorderParameters(PythonMutation):
    """Reverse the parameters of a function that have no defaults, and the arguments of all of its calls.

    The mutation applies only if all calls are known: the function is nested in another one, and is used only
    in calls. Other modules, such as tests, may call a module's functions; for a program in one file,
    `ReorderParameters(whole_program=True)` includes them.
    """

    id = "reorder-parameters"
    concept = Concept.DATA_FLOW
    source = "Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            def f(a):
                def join(left: str, right, sep=","):
                    return left + sep + right
                return join(a, "b") + join(a , "c", sep=";") + join(left=a, right=a)
            """,
            after="""
            def f(a):
                def join(right, left: str, sep=","):
                    return left + sep + right
                return join("b", a) + join("c" , a, sep=";") + join(left=a, right=a)
            """,
            refused="fewer than two",
        ),
        Example(before="def join(a, b):\n    return a + b\n", refused="other modules"),
        Example(
            before="""
            def f(x):
                def join(a, b): return a + b
                return join(x, b=1)
            """,
            refused="by position and some by name",
        ),
        Example(
            before="""
            def f(x):
                def join(a, b): return a + b
                return join(g(), h())
            """,
            refused="both call",
        ),
        Example(
            before="""
            def f(x, y):
                def join(a, b): return a + b
                return map(join, x, y)
            """,
            refused="used without being called",
        ),
    )

    whole_program: bool = field(default=False, kw_only=True)
    """Whether no other module calls anything in this one."""

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        for function in context.module.functions:
            yield self._site(context, function)

    def _site(self, context: PythonContext, function: FunctionNode) -> Site | SiteRefused:
        module = context.module
        moved = [param for param in function.node.params.params if param.default is None]
        if len(moved) < 2:
            return SiteRefused(function.start, "it has fewer than two parameters without defaults")
        variable = module.scopes.variable(function.node.name)
        if variable is None:
            return SiteRefused(function.start, "its name is declared elsewhere")
        reason = self._unresolved(module, function, variable)
        if reason is not None:
            return SiteRefused(function.start, reason)
        edits = list(_reverse([_param_span(module, param) for param in moved]))
        assumed = set() if variable.scope.is_function else {WHOLE_PROGRAM}
        for occurrence in variable.occurrences:
            if occurrence.role is Role.DEFINE:
                continue
            outcome = self._call(context, occurrence, [param.name.value for param in moved], function)
            if isinstance(outcome, str):
                return SiteRefused(
                    function.start, f"line {module.line(module.start(occurrence.node))}: {outcome}"
                )
            edits += outcome[0]
            assumed |= outcome[1]
        names = ", ".join(param.name.value for param in moved)
        return Site(
            span=(function.start, function.end),
            description=f"reversed the parameters {names} of `{function.node.name.value}`",
            edits=tuple(edits),
            assumptions=tuple(sorted(assumed)),
        )

    def _unresolved(self, module: Module, function: FunctionNode, variable: Variable) -> str | None:
        scope = variable.scope
        name = variable.name
        if function.node.decorators:
            return "a decorator may call it"
        if function.node.params.posonly_params:
            return "some parameters are positional-only"
        if scope.kind is ScopeKind.CLASS:
            return "it is a method, and calls of methods cannot be resolved"
        if (
            variable.roles - {Role.DEFINE, Role.USE}
            or sum(o.role is Role.DEFINE for o in variable.occurrences) != 1
        ):
            return f"`{name}` is bound more than once"
        lookups = lookups_in(module)
        if (lookups.anywhere and not scope.is_function) or lookups.within(lookups.outermost(function.start)):
            return "it may be looked up by name"
        if any(
            isinstance(node, cst.Call) and module.scopes.builtin(node.func) == "super" and not node.args
            for node in module.descendants(function.node.body)
        ):
            return "`super()` in it reads its first parameter"
        if scope.kind is ScopeKind.MODULE and not self.whole_program:
            return "other modules may call it"
        return None

    def _call(
        self, context: PythonContext, occurrence: Occurrence, names: Sequence[str], function: FunctionNode
    ) -> tuple[list[Edit], set[str]] | str:
        module = context.module
        call = module.parent(occurrence.node)
        if not isinstance(call, cst.Call) or call.func is not occurrence.node:
            return "it is used without being called"
        if any(argument.star for argument in call.args):
            return "it is called with * or **"
        positional = [argument for argument in call.args if argument.keyword is None]
        by_name = {argument.keyword.value for argument in call.args if argument.keyword is not None}
        if by_name >= set(names) and not positional:
            return [], set()
        if by_name & set(names) or len(positional) < len(names):
            return "it is called with some of them by position and some by name"
        order = [parameter.name.value for parameter in function.node.params.params]
        if order[: len(names)] != list(names):
            return "parameters with defaults come first"
        arguments = positional[: len(names)]
        assumed: set[str] = set()
        caught = is_caught(module, call)
        for index, argument in enumerate(arguments):
            for other in arguments[index + 1 :]:
                verdict = independent(
                    context.effects.of(argument.value), context.effects.of(other.value), caught=caught
                )
                if verdict.reason is not None:
                    return f"the arguments: {verdict.reason}"
                assumed.update(verdict.assumptions)
        return list(_reverse([module.outer(argument.value) for argument in arguments])), assumed


def _param_span(module: Module, param: cst.Param) -> tuple[int, int]:
    last = module.end(param.name)
    if param.annotation is not None:
        last = module.outer(param.annotation.annotation)[1]
    return module.start(param.name), last


def _reverse(spans: Sequence[tuple[int, int]]) -> Iterator[Edit]:
    for target, source in zip(spans, reversed(spans), strict=True):
        if target != source:
            yield Edit(*target, (Slice(*source),))


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
