"""Effects of expressions."""

from __future__ import annotations

import libcst as cst

from counterlens.python.mutations.acting_reads import (
    ARITHMETIC,
    ATTRIBUTE,
    BUILTIN_CALL,
    COMPARISON,
    ITERATION,
    KEYS,
    MEMBERSHIP,
    SUBSCRIPT,
    TEXT,
)
from counterlens.python.mutations.effect_rules import EffectAnalysis, Heap, Rules, SideEffects
from counterlens.python.mutations.kinds import (
    ITERATING,
    MUTATING_METHODS,
    PURE_BUILTINS,
    PURE_MODULES,
    READING_METHODS,
    ValueKind,
)
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.occurrences import parameters
from counterlens.python.mutations.reading import children
from counterlens.python.mutations.variables import Role, Variable

_COUNTED = frozenset({"range", "zip", "enumerate", "reversed"})


def name(analysis: EffectAnalysis, node: cst.Name, to: SideEffects) -> None:
    """Add the effects of reading or binding a name."""
    occurrence = analysis.module.scopes.occurrence.get(node)
    if occurrence is None or occurrence.variable is None:
        to.raises |= analysis.module.scopes.builtin(node) not in PURE_BUILTINS
        return
    variable = occurrence.variable
    if variable.scope is analysis.module.scopes.module and analysis.exposes_module:
        to.touches(Heap.READ if occurrence.role is Role.USE else Heap.WRITE)
    if occurrence.role not in {Role.BIND, Role.IMPORT, Role.DEFINE}:
        to.reads.add(variable)
        to.raises |= not analysis.bound.at(occurrence)
    if occurrence.role is not Role.USE:
        to.writes.add(variable)


def make_function(analysis: EffectAnalysis, node: cst.Lambda | cst.FunctionDef, to: SideEffects) -> None:
    """Add the effects of creating a function: it reads what it captures, so later writes must stay later."""
    inner = analysis.module.scopes.of_node[node]
    for scope in inner.inside():
        for occurrence in scope.occurrences:
            if occurrence.variable is not None and occurrence.variable.scope is not scope:
                to.reads.add(occurrence.variable)
    analysis.parts(node.params, to)
    for variable in inner.variables.values():
        to.writes.discard(variable)


def _nothing(analysis: EffectAnalysis, node: cst.CSTNode, to: SideEffects) -> None:
    """A literal or `pass`: no effects."""


def operator(analysis: EffectAnalysis, node: cst.CSTNode, to: SideEffects) -> None:
    """Add the effects of an operator, subscript or format, which the operands' classes implement."""
    analysis.parts(node, to)
    operands = [child for child in children(node) if isinstance(child, cst.BaseExpression)]
    kinds = {*map(analysis.kinds.of, operands)}
    if not isinstance(node, cst.Subscript) and kinds <= {ValueKind.NUMBER, ValueKind.ATOM}:
        never = kinds <= {ValueKind.NUMBER} and _never_raises(node)
        to.raises |= not isinstance(node, cst.FormattedStringExpression) and not never
        return
    if isinstance(node, cst.Subscript):
        analysis.operate(to, SUBSCRIPT, [node.value])
        if analysis.acting.inserts and analysis.kinds.of(node.value) is ValueKind.UNKNOWN:
            to.opaque = True  # what makes a missing item is unknown
            to.touches(Heap.WRITE)
    elif isinstance(node, cst.Assert):
        analysis.test(node.test, to)
        to.raises = True
    else:
        analysis.operate(
            to, TEXT if isinstance(node, cst.FormattedStringExpression) else ARITHMETIC, operands
        )


def _attribute(analysis: EffectAnalysis, node: cst.Attribute, to: SideEffects) -> None:
    analysis.add(node.value, to)
    analysis.operate(to, ATTRIBUTE)
    if node.attr.value in analysis.acting.properties:
        to.opaque = True
        to.touches(Heap.WRITE)


def _is(analysis: EffectAnalysis, node: cst.Comparison, to: SideEffects) -> None:
    analysis.parts(node, to)
    sides = [node.left, *(target.comparator for target in node.comparisons)]
    if {*map(analysis.kinds.of, sides)} == {ValueKind.NUMBER}:
        return
    left = node.left
    for target in node.comparisons:
        right = target.comparator
        if isinstance(target.operator, cst.In | cst.NotIn):
            analysis.operate(to, MEMBERSHIP, [right, left])
            if analysis.acting.consumes(right):
                to.touches(Heap.WRITE)
        elif not isinstance(target.operator, cst.Is | cst.IsNot):
            analysis.operate(to, COMPARISON, [left, right])
        left = right


def _unary(analysis: EffectAnalysis, node: cst.UnaryOperation, to: SideEffects) -> None:
    analysis.add(node.expression, to)
    if isinstance(node.operator, cst.Not):
        analysis.test(node.expression, to)
    elif analysis.kinds.of(node.expression) is not ValueKind.NUMBER:
        analysis.operate(to, ARITHMETIC, [node.expression])


def _boolean(analysis: EffectAnalysis, node: cst.BooleanOperation, to: SideEffects) -> None:
    analysis.parts(node, to)
    analysis.test(node.left, to)


def _conditional(analysis: EffectAnalysis, node: cst.IfExp, to: SideEffects) -> None:
    analysis.parts(node, to)
    analysis.test(node.test, to)


def _display(
    analysis: EffectAnalysis, node: cst.List | cst.Tuple | cst.Set | cst.Dict, to: SideEffects
) -> None:
    analysis.parts(node, to)
    if isinstance(node, cst.Set | cst.Dict):
        literal = all(
            isinstance(getattr(e, "key", getattr(e, "value", None)), cst.Integer | cst.SimpleString)
            for e in node.elements
        )
        if not literal:
            touched = to.heap
            analysis.operate(to, KEYS)
            to.heap = max(touched, Heap.WRITE if to.opaque else touched)


def _starred_element(
    analysis: EffectAnalysis, node: cst.StarredElement | cst.StarredDictElement, to: SideEffects
) -> None:
    analysis.add(node.value, to)
    iterates(analysis, node.value, to)


def _never_raises(node: cst.CSTNode) -> bool:
    """Whether an operation on numbers never raises."""
    quiet = (cst.Add, cst.Subtract, cst.Multiply)
    return isinstance(node, cst.BinaryOperation) and isinstance(node.operator, quiet)


RULES: Rules = {
    **dict.fromkeys(
        (cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.Ellipsis, cst.FormattedStringText,
         cst.ParamStar, cst.ParamSlash),
        _nothing,
    ),
    **dict.fromkeys(
        (cst.ConcatenatedString, cst.FormattedString, cst.Element,
         cst.DictElement, cst.NamedExpr, cst.Slice, cst.Parameters),
        EffectAnalysis.parts,
    ),
    **dict.fromkeys((cst.BinaryOperation, cst.Subscript, cst.FormattedStringExpression), operator),
    **dict.fromkeys((cst.List, cst.Tuple, cst.Set, cst.Dict), _display),
    **dict.fromkeys((cst.StarredElement, cst.StarredDictElement), _starred_element),
    cst.Name: name,
    cst.Attribute: _attribute,
    cst.Comparison: _is,
    cst.UnaryOperation: _unary,
    cst.BooleanOperation: _boolean,
    cst.IfExp: _conditional,
    cst.Lambda: make_function,
}  # fmt: skip


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
        if name == "super" and not node.args:
            to.reads |= _first_parameters(analysis, node)


def _first_parameters(analysis: EffectAnalysis, node: cst.Call) -> set[Variable]:
    """The first parameters of the functions around a call: `super()` reads what one is bound to now."""
    functions = (above for above in analysis.module.ancestors(node) if isinstance(above, cst.FunctionDef))
    names = [given.name for function in functions for given in parameters(function.params)[:1]]
    return {v for name in names if (v := analysis.module.scopes.variable(name)) is not None}


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
        _imported_from(analysis.module, occurrence.node) in PURE_MODULES
        for occurrence in variable.occurrences
        if occurrence.role is Role.IMPORT
    )


def _imported_from(module: Module, name: cst.CSTNode) -> str | None:
    """The first part of the name of the module that an import binds to a name, or takes it from."""
    for above in module.ancestors(name):
        if isinstance(above, cst.ImportFrom):
            if above.relative or above.module is None:
                return None
            return module.text(module.span(above.module)).partition(".")[0]
        if isinstance(above, cst.ImportAlias) and not isinstance(module.parent(above), cst.ImportFrom):
            return module.text(module.span(above.name)).partition(".")[0]
    return None


def _builtin_of(analysis: EffectAnalysis, node: cst.Call) -> str | None:
    return analysis.module.scopes.builtin(node.func)


def _method_of(node: cst.Call) -> str | None:
    return node.func.attr.value if isinstance(node.func, cst.Attribute) else None


CALL_RULES: Rules = {
    **dict.fromkeys((cst.ListComp, cst.SetComp, cst.DictComp), _comprehension),
    cst.GeneratorExp: _generator,
    cst.Call: _call,
}
