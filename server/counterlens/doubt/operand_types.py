"""The type of an operand as far as its form, or that of all that its variable is bound to, shows it.

Nothing is guessed: a parameter has the type of its annotation, a variable one that all of its assignments
share, and anything else, such as the result of an unknown call, has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

import tree_sitter

from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_DEEPEST = 4
"""Maximum number of variables that are followed."""


class OperandType(StrEnum):
    """A group of types with the same operators."""

    NUMBER = "number"
    TRUTH = "truth value"
    TEXT = "text"
    SEQUENCE = "sequence"
    SET = "set"
    MAPPING = "mapping"


def _table(**names: str) -> dict[str, OperandType]:
    return {name: OperandType[kind] for kind, listed in names.items() for name in listed.split()}


_FORMS = _table(
    NUMBER="integer float",
    TRUTH="true false comparison_operator not_operator",
    TEXT="string concatenated_string",
    SEQUENCE="list tuple list_comprehension",
    SET="set set_comprehension",
    MAPPING="dictionary dictionary_comprehension",
)
_CALLS = _table(
    NUMBER="int float len abs round ord hash id",
    TRUTH="bool isinstance issubclass callable hasattr any all",
    TEXT="str repr chr bytes ascii format hex",
    SEQUENCE="list tuple sorted",
    SET="set frozenset",
    MAPPING="dict",
)
_METHODS = _table(
    NUMBER="count find rfind bit_length",
    TRUTH="startswith endswith isdigit isalpha isalnum isspace isupper islower issubset issuperset",
    TEXT="strip lstrip rstrip lower upper join format title capitalize casefold decode zfill",
    SEQUENCE="split rsplit splitlines",
    SET="keys union intersection difference symmetric_difference",
)
_ANNOTATIONS = _CALLS | _table(
    SEQUENCE="List Tuple Sequence", SET="Set FrozenSet AbstractSet", MAPPING="Dict Mapping"
)


def operand_type(scope: DoubtScope, node: tree_sitter.Node | None, depth: int = 0) -> OperandType | None:
    """The type of an expression; None if it is unknown."""
    if node is None or depth > _DEEPEST:
        return None
    if node.type in _FORMS:
        return _FORMS[node.type]
    match node.type:
        case "parenthesized_expression" | "unary_operator":
            return operand_type(scope, node.named_children[0] if node.named_children else None, depth)
        case "conditional_expression":
            values = [part for part in node.named_children if part.type != "comment"]
            return _common(operand_type(scope, value, depth) for value in (values[0], values[-1]))
        case "binary_operator" | "boolean_operator":
            return _common(
                operand_type(scope, node.child_by_field_name(side), depth) for side in ("left", "right")
            )
        case "call":
            called = node.child_by_field_name("function")
            if called is not None and called.type == "attribute":
                return _METHODS.get(text_of(called.child_by_field_name("attribute")))
            name = text_of(called)
            return None if name in scope.variables else _CALLS.get(name)
        case "identifier":
            return _common(
                value if isinstance(value, OperandType) else operand_type(scope, value, depth + 1)
                for value in _bindings(scope, text_of(node))
            )
    return None


def _common(types: Iterable[OperandType | None]) -> OperandType | None:
    """The one type of all; None if there is none."""
    distinct = set(types)
    return distinct.pop() if len(distinct) == 1 else None


def _bindings(scope: DoubtScope, name: str) -> Iterator[tree_sitter.Node | OperandType | None]:
    """All that is bound to a variable of a function: values, types by annotations, None if it is unknown."""
    listed = scope.root.child_by_field_name("parameters")
    for parameter in listed.named_children if listed is not None else ():
        if parameter.type in {"typed_parameter", "typed_default_parameter"}:
            named = parameter.child_by_field_name("name") or parameter.named_children[0]
            if text_of(named) == name:
                written = text_of(parameter.child_by_field_name("type"))
                yield _ANNOTATIONS.get(written.partition("[")[0].rpartition(".")[2])
        elif name in scope.parameters and text_of(parameter.child_by_field_name("name") or parameter) == name:
            yield None
    for binding in scope.bindings:
        parent = binding.parent
        if text_of(binding) != name or parent is None:
            continue
        if parent.type == "augmented_assignment":
            continue  # it keeps the type
        yield parent.child_by_field_name("right") if parent.type == "assignment" else None
