"""Effects of calls and iteration: the code that runs, and the iterators that it consumes."""

from __future__ import annotations

import libcst as cst

from counterlens.python.mutations.acting_reads import BUILTIN_CALL, ITERATION
from counterlens.python.mutations.effect_rules import EffectAnalysis, Heap, Rules, SideEffects
from counterlens.python.mutations.kinds import ValueKind
from counterlens.python.mutations.known_code import (
    ITERATING,
    MUTATING_METHODS,
    PURE_BUILTINS,
    PURE_MODULES,
    READING_METHODS,
)
from counterlens.python.mutations.named_in_text import imported_from
from counterlens.python.mutations.variables import Role

_COUNTED = frozenset({"range", "zip", "enumerate", "reversed"})


def iterates(analysis: EffectAnalysis, node: cst.BaseExpression, to: SideEffects) -> None:
    """Add the effects of iterating over all values of an expression, without those of evaluating it."""
    analysis.operate(to, ITERATION, [node])
    if isinstance(node, cst.Call) and _builtin_of(analysis, node) in _COUNTED:
        return  # the iteration over their arguments was added with their calls
    if isinstance(node, cst.Call) and _method_of(node) in {"items", "keys", "values", "split", "splitlines"}:
        return
    if isinstance(node, cst.GeneratorExp) or analysis.kinds.of(node) is not ValueKind.UNKNOWN:
        return
    to.touches(Heap.WRITE)


def _comprehension(analysis: EffectAnalysis, node: cst.BaseComp, to: SideEffects) -> None:
    analysis.parts(node, to)
    loop: cst.CompFor | None = node.for_in
    while loop is not None:
        to.yields |= loop.asynchronous is not None
        iterates(analysis, loop.iter, to)
        for condition in loop.ifs:
            analysis.test(condition.test, to)
        loop = loop.inner_for_in


def _generator(analysis: EffectAnalysis, node: cst.GeneratorExp, to: SideEffects) -> None:
    above = analysis.module.parent(analysis.module.parent(node))
    at_once = isinstance(above, cst.Call) and _builtin_of(analysis, above) in ITERATING - {"enumerate", "zip"}
    at_once |= isinstance(above, cst.Call) and _method_of(above) == "join"
    _comprehension(analysis, node, to)
    if not at_once:
        to.opaque = True  # it runs later, when its values are requested


def _call(analysis: EffectAnalysis, node: cst.Call, to: SideEffects) -> None:
    for argument in node.args:
        analysis.add(argument.value, to)
    name = _builtin_of(analysis, node)
    method = _method_of(node)
    values = [argument.value for argument in node.args]
    if isinstance(node.func, cst.Attribute):
        values.append(node.func.value)
    analysis.operate(to, BUILTIN_CALL, values or [node.func])
    if name in PURE_BUILTINS:
        to.opaque |= not _pure_keys(analysis, node)
        if name in ITERATING:
            for argument in node.args:
                if argument.keyword is None:
                    iterates(analysis, argument.value, to)
        if any(argument.star for argument in node.args):
            to.opaque = True
    elif method is not None and isinstance(node.func, cst.Attribute):
        _method_call(analysis, node, node.func, to)
    else:
        analysis.add(node.func, to)
        to.opaque = True


def _method_call(analysis: EffectAnalysis, node: cst.Call, func: cst.Attribute, to: SideEffects) -> None:
    analysis.add(func.value, to)
    method = func.attr.value
    kind = analysis.kinds.of(func.value)
    if _is_pure_module(analysis, func.value):
        return
    if method in MUTATING_METHODS and kind is not ValueKind.UNKNOWN:
        to.touches(Heap.WRITE)
    elif method in READING_METHODS - analysis.acting.functions:
        if method == "join" and node.args:
            iterates(analysis, node.args[0].value, to)
    else:
        to.opaque = True


def _pure_keys(analysis: EffectAnalysis, node: cst.Call) -> bool:
    """Whether the functions given as `key=` run only known code."""
    keys = [a.value for a in node.args if a.keyword is not None and a.keyword.value == "key"]
    return all(
        analysis.module.scopes.builtin(key) in PURE_BUILTINS
        or (isinstance(key, cst.Lambda) and analysis.of(key.body).inert)
        for key in keys
    )


def _is_pure_module(analysis: EffectAnalysis, node: cst.BaseExpression) -> bool:
    variable = analysis.module.scopes.variable(node)
    if variable is None or not variable.roles <= {Role.IMPORT, Role.USE}:
        return False
    return all(
        imported_from(analysis.module, occurrence.node) in PURE_MODULES
        for occurrence in variable.occurrences
        if occurrence.role is Role.IMPORT
    )


def _builtin_of(analysis: EffectAnalysis, node: cst.Call) -> str | None:
    return analysis.module.scopes.builtin(node.func)


def _method_of(node: cst.Call) -> str | None:
    return node.func.attr.value if isinstance(node.func, cst.Attribute) else None


RULES: Rules = {
    **dict.fromkeys((cst.ListComp, cst.SetComp, cst.DictComp), _comprehension),
    cst.GeneratorExp: _generator,
    cst.Call: _call,
}
