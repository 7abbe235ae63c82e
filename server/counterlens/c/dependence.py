"""The dependence analysis of C: its statements, lowered to a control-flow graph.

Rules, besides those of `braces/lowering.py`:

- `goto` jumps to its label anywhere in the function.
- A macro before a block is a call, and the block runs once: macros are not expanded.

Rules for the effects of an expression, besides those of `braces/reading.py`:

- `p[i]`, `*p`, `*(p + i)`, `s.x` and `p->x` are places: a store to one changes the object that the variable
  holds or points to, and kills nothing. `*p` is `p[0]`.
- `scanf("%d", &x)` binds `x`, and does not read it; `scanf("%s", s)` changes `s`. Any other function with the
  argument `&x` may bind `x`.
- The operand of `sizeof` is not read.
- A macro is read as it is written: as a name or a call.

Approximations: pointers are not followed; after `p = &x`, a store through `p` does not define `x`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tree_sitter import Node

from counterlens.dependence.braces.lowering import COMMON as COMMON_LOWERINGS
from counterlens.dependence.braces.lowering import BraceLayout, LowerStatement
from counterlens.dependence.braces.program import BraceLanguage
from counterlens.dependence.braces.reading import (
    COMMON,
    BraceReading,
    Calls,
    Inner,
    Part,
    Syntax,
    conditional,
    nothing,
    read_selection,
    selector,
    without_brackets,
)
from counterlens.dependence.braces.statements import statement_after_label
from counterlens.dependence.cfg import Arc, ControlFlowGraph, Loose
from counterlens.dependence.effects import Effects
from counterlens.syntax.definitions import FunctionDefinition, text_of

SCANNING = {"scanf": 1, "fscanf": 2, "sscanf": 2, "scanf_s": 1, "wscanf": 1}
"""Functions that write through all arguments from the given position on."""

CALLS = Calls(
    functions={
        **dict.fromkeys(("gets", "fgets", "fgetws", "fread", "sprintf", "snprintf", "vsprintf"), (0,)),
        **dict.fromkeys(("memset", "memcpy", "memmove", "strcpy", "strncpy", "strcat", "strncat"), (0,)),
        **dict.fromkeys(("bzero", "qsort", "strtok", "getline", "wcscpy", "wcscat", "gets_s"), (0,)),
        "bcopy": (1,),
        "read": (1,),
    },
    terminators=frozenset({"exit", "_exit", "abort", "_Exit", "quick_exit"}),
)

PARTIAL = frozenset({"memcpy", "memmove", "strncpy", "fread", "read", "bcopy"})
"""The functions that may change only a part of the object."""


def within(node: Node) -> Node | None:
    """The declarator nested in a declarator."""
    inner = node.child_by_field_name("declarator")
    if inner is None and node.type == "parenthesized_declarator" and node.named_child_count:
        return node.named_children[-1]
    return inner


def declared_identifier(node: Node | None) -> Node | None:
    """The identifier that a declarator declares."""
    while node is not None and node.type != "identifier":
        node = within(node)
    return node


def _declaration(reading: BraceReading, node: Node) -> None:
    each = node.children_by_field_name("declarator")
    reading.then(
        *[
            partial(_plain, reading, declarator) if declarator.type == "identifier" else declarator
            for declarator in each
        ]
    )


def _plain(reading: BraceReading, name: Node) -> None:
    reading.blocks.declare(name)


def _init(reading: BraceReading, node: Node) -> None:
    name, value = declared_identifier(node), node.child_by_field_name("value")
    sizes = _sizes(node.child_by_field_name("declarator"))
    if name is None:
        reading.then(*sizes, value)
        return
    begun, ended = reading.flowing(lambda: reading.blocks.declare(name))
    reading.then(begun, *sizes, value, ended, lambda: reading.bind(reading.blocks.declare(name)))


def _read_declarator(reading: BraceReading, node: Node) -> None:
    """Read a declarator without a value: it reads the sizes of an array."""
    name = declared_identifier(node)
    sizes = _sizes(node)
    reading.then(*sizes)
    if name is not None and node.type != "function_declarator":
        reading.blocks.declare(name)


def _sizes(node: Node | None) -> list[Node]:
    sizes = []
    while node is not None and node.type not in {"identifier", "function_declarator"}:
        size = node.child_by_field_name("size")
        if size is not None:
            sizes.append(size)
        node = node.child_by_field_name("declarator")
    return sizes[::-1]


def _pointer(reading: BraceReading, node: Node) -> None:
    value = node.child_by_field_name("argument")
    if value is None:
        return
    if text_of(node.child_by_field_name("operator")) == "&":
        reading.then(value)
        return
    variable = reading.root(without_brackets(value))
    if variable is None:
        reading.then(value)
    else:
        reading.see(variable, "[0]")


def _call(reading: BraceReading, node: Node) -> None:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    given = (
        [argument for argument in arguments.named_children if argument.type != "comment"]
        if arguments is not None
        else []
    )
    name = text_of(function)
    calls = reading.syntax.calls
    if name in SCANNING:
        first = SCANNING[name]
        scanned: set[str] = set()
        begun, ended = reading.reads(scanned)
        scans = [partial(_scan, reading, argument, scanned) for argument in given[first:]]
        reading.then(begun, *given[:first], ended, *scans)
        return
    changed = [given[which] for which in calls.functions.get(name, ()) if which < len(given)]
    change = reading.change if name in PARTIAL else reading.renew
    pointed = [] if changed else [target for target in map(_address_operand, given) if target is not None]
    reading.then(
        function if function is not None and function.type != "identifier" else None,
        *given,
        *[partial(change, argument) for argument in changed],
        *[partial(_bind_perhaps, reading, target) for target in pointed],
    )


def _address_operand(node: Node) -> Node | None:
    """The operand of `&`; None for other expressions."""
    node = without_brackets(node)
    if node.type != "pointer_expression" or text_of(node.child_by_field_name("operator")) != "&":
        return None
    value = node.child_by_field_name("argument")
    return None if value is None else without_brackets(value)


def _bind_perhaps(reading: BraceReading, node: Node) -> None:
    variable = reading.root(node)
    if variable is None:
        reading.change(node)
    else:
        reading.bind(variable, perhaps=True)


def _scan(reading: BraceReading, node: Node, scanned: set[str]) -> None:
    """Write through a pointer: the target's location is evaluated, its value is not read."""
    pointed = _address_operand(node)
    target = pointed or node

    def stored() -> None:
        stored_in = reading.target(target)
        if stored_in is not None:
            reading.effects.into[stored_in] |= scanned
        variable = None if pointed is None else reading.root(pointed)
        if variable is None:
            reading.renew(target)
        else:
            reading.bind(variable)

    begun, ended = reading.flowing(lambda: reading.target(target))
    reading.then(begun, *reading.selecting(target), ended, stored)


def _element(node: Node) -> tuple[Node, str | None] | None:
    value = node.child_by_field_name("argument")
    return None if value is None else (value, selector(node.child_by_field_name("index")))


def _field(node: Node) -> tuple[Node, str | None] | None:
    value = node.child_by_field_name("argument")
    return None if value is None else (value, f".{text_of(node.child_by_field_name('field'))}")


def _pointed_at(node: Node) -> tuple[Node, str | None] | None:
    value = node.child_by_field_name("argument")
    if value is None:
        return None
    return value, None if text_of(node.child_by_field_name("operator")) == "&" else "[0]"


def _offset(node: Node) -> tuple[Node, str | None] | None:
    left = node.child_by_field_name("left")
    return None if left is None else (left, "")


def _within(node: Node) -> tuple[Node, str | None] | None:
    value = node.child_by_field_name("value") or node.child_by_field_name("argument")
    value = value or (node.named_children[-1] if node.named_child_count else None)
    return None if value is None else (value, None)


_INNER: dict[str, Inner] = {
    "subscript_expression": _element,
    "field_expression": _field,
    "pointer_expression": _pointed_at,
    "binary_expression": _offset,
    "parenthesized_expression": _within,
    "cast_expression": _within,
    "update_expression": _within,
}

_PARTS: dict[str, Part] = {
    **COMMON,
    "conditional_expression": conditional,
    "subscript_expression": read_selection,
    "field_expression": read_selection,
    "pointer_expression": _pointer,
    "call_expression": _call,
    "declaration": _declaration,
    "init_declarator": _init,
    "array_declarator": _read_declarator,
    "pointer_declarator": _read_declarator,
    "function_declarator": _read_declarator,
    "sizeof_expression": nothing,
    "type_descriptor": nothing,
    "field_designator": nothing,
    "ERROR": nothing,
}

SYNTAX = Syntax(_PARTS, _INNER, CALLS)


class CLayout(BraceLayout):
    """The lowering of one function to a control-flow graph.

    Attributes:
        places: The nodes of the labels.
        gotos: Loose arcs of the jumps to each label.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.places: dict[str, int] = {}
        self.gotos: dict[str, Loose] = {}

    def function(self, node: Node) -> ControlFlowGraph:
        self.dead_ends = not _jumps(node)
        graph = super().function(node)
        for label, arcs in self.gotos.items():
            if label in self.places:
                graph.connect(arcs, self.places[label])
        return graph

    def parameters(self, function: Node) -> Effects:
        effects = Effects()
        declarator = function.child_by_field_name("declarator")
        while declarator is not None and not _takes_parameters(declarator):
            declarator = within(declarator)
        listed = None if declarator is None else declarator.child_by_field_name("parameters")
        older = [child for child in function.named_children if child.type == "declaration"]  # f(a) int a; {}
        for parameter in [*(listed.named_children if listed is not None else ()), *older]:
            untyped = parameter.child_by_field_name("type") or parameter  # f(a, b)
            for each in parameter.children_by_field_name("declarator") or [untyped]:
                name = each if each.type == "type_identifier" else declared_identifier(each)
                if name is not None:
                    effects.strong.add(self.blocks.declare(name))
        return effects


def _takes_parameters(declarator: Node) -> bool:
    """Whether a declarator is the function's own, not that of its return type."""
    inner = within(declarator)
    return declarator.type == "function_declarator" and inner is not None and inner.type == "identifier"


def _jumps(function: Node) -> bool:
    stack = [function]
    while stack:
        node = stack.pop()
        if node.type == "goto_statement":
            return True
        stack += node.named_children
    return False


def _goto(lower: CLayout, statement: Node, loose: Loose) -> Loose:
    node = lower.node(statement, None, loose)
    label = text_of(statement.child_by_field_name("label"))
    lower.gotos.setdefault(label, []).append((node, Arc.NEXT))
    return []


def _lower_label(lower: CLayout, statement: Node, loose: Loose) -> Loose:
    here = lower.unseen(None, loose)
    lower.places[text_of(statement.child_by_field_name("label"))] = here
    return lower.body(statement_after_label(statement), [(here, Arc.NEXT)])


_LOWERINGS: dict[str, LowerStatement] = {
    **COMMON_LOWERINGS,
    "goto_statement": _goto,
    "labeled_statement": _lower_label,
}
CLayout.lowerings = _LOWERINGS


def functions(root: Node) -> Iterator[FunctionDefinition]:
    """The functions that are defined in a file."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            name = declared_identifier(node.child_by_field_name("declarator"))
            if name is not None:
                yield FunctionDefinition((text_of(name),), None, node)
            continue
        stack += reversed(node.named_children)


C = BraceLanguage("c", functions, CLayout, SYNTAX, tolerant=True).analysed
