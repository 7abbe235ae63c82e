"""The effects of a Java expression (general rules: `braces/reading.py`).

- `this.x` and an undeclared `x` are the same field.
- A lambda, an anonymous class and a nested class read what they capture *later*; a lambda passed to a method
  in `Calls.eager` reads it immediately. They may change what they change at any later time.
- `map.get(k).add(v)` changes `map`, because an accessor returns a part of its receiver.
- A `switch` expression is part of its statement; its cases may be skipped.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

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
)
from counterlens.dependence.effects import Effects
from counterlens.syntax.definitions import text_of

_METHODS = frozenset(
    {
        *(
            "add",
            "addAll",
            "remove",
            "removeAll",
            "removeIf",
            "retainAll",
            "clear",
            "sort",
        ),  # Collection, List
        *("addFirst", "addLast", "removeFirst", "removeLast", "replaceAll"),
        *("put", "putAll", "putIfAbsent", "compute", "computeIfAbsent", "computeIfPresent", "merge"),  # Map
        *("offer", "offerFirst", "offerLast", "poll", "pollFirst", "pollLast", "push", "pop"),  # Queue, Deque
        *("pollFirstEntry", "pollLastEntry"),
        *("append", "insert", "delete", "deleteCharAt", "setCharAt", "setLength", "reverse"),  # StringBuilder
        *("set", "flip", "and", "or", "xor", "andNot"),  # List, BitSet, atomic values
        *("incrementAndGet", "getAndIncrement", "decrementAndGet", "getAndDecrement"),
        *("addAndGet", "getAndAdd", "getAndSet", "compareAndSet", "updateAndGet", "accumulateAndGet"),
        *("next", "nextInt", "nextLong", "nextDouble", "nextLine", "nextToken"),  # Iterator, Scanner, Random
        *("read", "readLine", "nextBoolean", "nextFloat", "nextGaussian"),
        *("write", "newLine"),
    }
)

_OF_ARRAYS = ("sort", "parallelSort", "fill", "setAll", "parallelSetAll", "parallelPrefix")
_OF_COLLECTIONS = ("reverse", "shuffle", "swap", "addAll", "sort", "rotate")

CALLS = Calls(
    methods=_METHODS,
    accessors=frozenset({"get", "getOrDefault", "computeIfAbsent", "getFirst", "getLast", "peek"}),
    functions={
        **{f"Arrays.{name}": (0,) for name in _OF_ARRAYS},
        **{f"Collections.{name}": (0,) for name in _OF_COLLECTIONS},
        "System.arraycopy": (2,),
        **dict.fromkeys((*_OF_ARRAYS, *_OF_COLLECTIONS), (0,)),  # statically imported
    },
    eager=frozenset(
        {
            *("forEach", "forEachOrdered", "sort", "removeIf", "replaceAll", "sorted", "map", "mapToObj"),
            *("mapToInt", "mapToLong", "mapToDouble", "filter", "flatMap", "reduce", "collect", "anyMatch"),
            *(
                "allMatch",
                "noneMatch",
                "min",
                "max",
                "takeWhile",
                "dropWhile",
                "peek",
                "ifPresent",
                "orElseGet",
            ),
            *(
                "compute",
                "computeIfAbsent",
                "computeIfPresent",
                "merge",
                "setAll",
                "updateAndGet",
                "comparing",
            ),
        }
    ),
    terminators=frozenset({"System.exit"}),
)
_DECLARING = frozenset(
    {
        *("variable_declarator", "formal_parameter", "catch_formal_parameter", "resource"),
        *("enhanced_for_statement", "instanceof_expression", "record_pattern_component"),
    }
)
_MANY = 1 << 10
_PART_OF_ARRAY = {"sort": 3, "parallelSort": 3, "fill": 4, "swap": 3, "addAll": 2, "arraycopy": 1}
"""Least number of arguments with which a call changes only a part of the object, by method."""
_FLUENT = frozenset({"append", "insert", "reverse"})


class JavaReading(BraceReading):
    """Collects the effects of parts of a Java statement."""

    def root(self, node: Node) -> str | None:
        if node.type == "field_access" and _of_this(node):
            return self.blocks.outside(text_of(node.child_by_field_name("field")))
        return BraceReading.root(self, node)

    def _captured(self, node: Node) -> Effects:
        with self.blocks.block():
            for name in declared_in(node):
                self.blocks.declare(name)
            own = {self.blocks.variable(text_of(name)) for name in declared_in(node)}
            effects = JavaReading(self.syntax, self.blocks).all(*node.named_children)
        return Effects(
            reads=(effects.reads | effects.own | effects.later) - own,
            whole=effects.whole - own,
            parts={part for part in effects.parts if part[0] not in own},
            weak=(effects.strong | effects.weak | effects.floating) - own,
            changed={place for place in effects.changed | effects.floating_changed if place[0] not in own},
        )

    def capture(self, node: Node) -> None:
        """Record the captures of a lambda or class."""
        captures = self._captured(node)
        effects = self.effects
        if node.id in self.eager:
            effects.reads |= captures.reads
            effects.whole |= captures.whole
            effects.parts |= captures.parts
            effects.weak |= captures.weak
            effects.changed |= captures.changed
            return
        effects.later |= captures.reads
        effects.floating |= captures.weak
        effects.floating_changed |= captures.changed


def _of_this(node: Node) -> bool:
    value = node.child_by_field_name("object")
    return value is not None and value.type == "this"


def declared_in(node: Node) -> Iterator[Node]:
    """The identifiers of all variables that are declared in a node."""
    stack = [node]
    while stack:
        part = stack.pop()
        if part.type in _DECLARING:
            name = part.child_by_field_name("name")
            if name is not None:
                yield name
        elif part.type == "inferred_parameters":
            yield from part.named_children
        elif part.type == "type_pattern":
            yield from (child for child in part.named_children if child.type == "identifier")
        elif part.type == "lambda_expression":
            single = part.child_by_field_name("parameters")
            if single is not None and single.type == "identifier":
                yield single
        stack += part.named_children


def _declarator(reading: BraceReading, node: Node) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is not None and value is not None:
        begun, ended = reading.flowing(lambda: reading.blocks.declare(name))
        reading.then(begun, value, ended, lambda: reading.bind(reading.blocks.declare(name)))
    elif name is not None:
        reading.blocks.declare(name)


def _resource(reading: BraceReading, node: Node) -> None:
    if node.child_by_field_name("name") is not None:
        _declarator(reading, node)
    else:
        reading.then(*node.named_children)


def _type_pattern(reading: BraceReading, node: Node) -> None:
    for child in node.named_children:
        if child.type == "identifier":
            reading.bind(reading.blocks.declare(child))


def _component(reading: BraceReading, node: Node) -> None:
    name = node.named_children[-1]
    if name.type == "identifier":
        reading.bind(reading.blocks.declare(name))


def _instanceof(reading: BraceReading, node: Node) -> None:
    name = node.child_by_field_name("name")
    pattern = node.child_by_field_name("pattern")
    reading.then(
        node.child_by_field_name("left"),
        pattern,
        None if name is None else lambda: reading.bind(reading.blocks.declare(name)),
    )


def _invocation(reading: BraceReading, node: Node) -> None:
    calls = reading.syntax.calls
    receiver, arguments = node.child_by_field_name("object"), node.child_by_field_name("arguments")
    given = arguments.named_children if arguments is not None else []
    name = text_of(node.child_by_field_name("name"))
    full = f"{text_of(receiver)}.{name}"
    if name in calls.eager:
        reading.eager.update(argument.id for argument in given)

    def changes() -> None:
        changed = calls.functions.get(full if receiver is not None else name, ())
        for which in changed:
            if which < len(given):
                part = len(given) >= _PART_OF_ARRAY.get(name, _MANY)
                (reading.change if part else reading.renew)(given[which])
        if receiver is not None and name in calls.methods and not changed:
            reading.renew(receiver)

    into = receiver if receiver is not None and name in calls.methods else None
    begun, ended = reading.flowing(lambda: None if into is None else reading.target(into))
    reading.then(begun, receiver, *given, ended, changes)


def _capturing(reading: BraceReading, node: Node) -> None:
    if isinstance(reading, JavaReading):
        reading.capture(node)


def _creation(reading: BraceReading, node: Node) -> None:
    body = next((child for child in node.named_children if child.type == "class_body"), None)
    outer = node.children[0] if node.children[0].type == "identifier" else None
    reading.then(outer, node.child_by_field_name("arguments"), body)


def _reference(reading: BraceReading, node: Node) -> None:
    reading.then(node.named_children[0] if node.named_children else None)


def _function(reading: BraceReading, node: Node) -> None:
    reading.then(node.child_by_field_name("body"))


def _rule(reading: BraceReading, node: Node) -> None:
    reading.then(lambda: reading.perhaps(*node.named_children))


def _array_of(node: Node) -> tuple[Node, str | None] | None:
    value = node.child_by_field_name("array")
    return None if value is None else (value, selector(node.child_by_field_name("index")))


def _field_of(node: Node) -> tuple[Node, str | None] | None:
    value = node.child_by_field_name("object")
    if value is None or _of_this(node):
        return None
    return value, f".{text_of(node.child_by_field_name('field'))}"


def _accessed_object(node: Node) -> tuple[Node, str | None] | None:
    value, name = node.child_by_field_name("object"), text_of(node.child_by_field_name("name"))
    if value is None:
        return None
    if name in CALLS.accessors:
        return value, ""
    return (value, None) if name in _FLUENT else None


def _inside(node: Node) -> tuple[Node, str | None] | None:
    value = node.child_by_field_name("value") or (node.named_children[-1] if node.named_children else None)
    return None if value is None else (value, None)


_INNER: dict[str, Inner] = {
    "array_access": _array_of,
    "field_access": _field_of,
    "method_invocation": _accessed_object,
    "parenthesized_expression": _inside,
    "cast_expression": _inside,
}

_PARTS: dict[str, Part] = {
    **COMMON,
    "ternary_expression": conditional,
    "field_access": read_selection,
    "array_access": read_selection,
    "method_invocation": _invocation,
    "method_reference": _reference,
    "object_creation_expression": _creation,
    "variable_declarator": _declarator,
    "resource": _resource,
    "instanceof_expression": _instanceof,
    "type_pattern": _type_pattern,
    "record_pattern_component": _component,
    "lambda_expression": _capturing,
    "class_body": _capturing,
    **dict.fromkeys(
        ("class_declaration", "record_declaration", "interface_declaration", "enum_declaration"), _function
    ),
    **dict.fromkeys(("method_declaration", "constructor_declaration"), _function),
    "switch_rule": _rule,
    "switch_block_statement_group": _rule,
    "marker_annotation": nothing,
    "annotation": nothing,
    "break_statement": nothing,
    "continue_statement": nothing,
    "scoped_type_identifier": nothing,
}

SYNTAX = Syntax(_PARTS, _INNER, CALLS)
