"""`reorder-parameters`: reverses a function's parameters, in its definition and in every call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import WHOLE_PROGRAM, Concept
from counterlens.mutations.edits import Edit, Slice
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.module import FunctionNode, Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.statements import independent, is_caught
from counterlens.python.mutations.unseen_uses import unseen_uses
from counterlens.python.mutations.variables import Occurrence, Role, ScopeKind, Variable


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

    def __init__(self, *, whole_program: bool = False) -> None:
        """`whole_program`: whether no other module calls anything in this one."""
        self.whole_program = whole_program

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
        if unseen_uses(module).by_name(scope):
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
