"""The side effects of Java code: the variables and objects that it accesses, and whether it throws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.static_types import UNKNOWN, JavaTypes, head, operands
from counterlens.java.mutations.variables import JavaVariable, compact
from counterlens.mutations.base import NEITHER_RAISES, PURE_OPERATORS, Independence

_COLLECTIONS = {
    "List", "ArrayList", "LinkedList", "Set", "HashSet", "TreeSet", "LinkedHashSet", "Map", "HashMap",
    "TreeMap", "LinkedHashMap", "Deque", "ArrayDeque", "Queue", "PriorityQueue", "Stack", "Vector",
    "Collection", "StringBuilder", "StringBuffer",
}  # fmt: skip
MAY_JUMP = "one of them may jump"
_READING = {
    "size", "isEmpty", "get", "contains", "containsKey", "containsValue", "containsAll", "indexOf",
    "lastIndexOf", "getOrDefault", "peek", "peekFirst", "peekLast", "getFirst", "getLast", "first", "last",
    "element", "toString", "equals", "hashCode", "length", "charAt", "keySet", "values", "entrySet",
    "toArray", "subList", "substring", "firstKey", "lastKey", "search",
}  # fmt: skip
_MUTATING = {
    "add", "addAll", "put", "putAll", "putIfAbsent", "remove", "clear", "push", "pop", "poll", "pollFirst",
    "pollLast", "offer", "offerFirst", "offerLast", "set", "append", "insert", "reverse", "setLength",
    "setCharAt", "deleteCharAt", "delete", "addFirst", "addLast", "removeFirst", "removeLast", "removeAll",
    "retainAll",
}  # fmt: skip
_PURE_CLASSES = {"Character", "Integer", "Long", "Double", "Float", "Boolean", "Short", "Byte", "String"}
_PURE_STATIC = {
    ("Arrays", "asList"), ("Arrays", "toString"), ("Arrays", "equals"), ("Arrays", "hashCode"),
    ("Arrays", "copyOf"), ("Arrays", "copyOfRange"), ("Objects", "equals"), ("Objects", "hash"),
    ("Objects", "isNull"), ("Objects", "nonNull"), ("Collections", "max"), ("Collections", "min"),
    ("Collections", "emptyList"), ("List", "of"), ("Set", "of"), ("Map", "of"),
}  # fmt: skip
_MUTATING_STATIC = {
    ("Arrays", "sort"), ("Arrays", "fill"), ("Collections", "sort"), ("Collections", "reverse"),
    ("Collections", "swap"), ("Collections", "addAll"),
}  # fmt: skip
_PURE_NEW = (_COLLECTIONS | {"Object", "String"}) - {"List", "Set", "Map", "Deque", "Queue", "Collection"}
_CALLED = {
    "equals", "hashCode", "toString", "compareTo", "compare", "iterator", "next", "hasNext", "get", "size",
    "contains", "isEmpty", "charAt", "length",
}  # fmt: skip
_JUMPS = {"return_statement", "throw_statement", "yield_statement"}
_OPAQUE = {
    "lambda_expression", "method_reference", "switch_expression", "synchronized_statement", "class_body",
    "class_declaration", "record_declaration", "interface_declaration", "enum_declaration",
    "explicit_constructor_invocation", "assert_statement", "try_with_resources_statement",
}  # fmt: skip
_LOOPS = {"for_statement", "enhanced_for_statement", "while_statement", "do_statement"}


@dataclass(slots=True)
class JavaEffects:
    """The possible effects of a piece of code; over-approximated.

    Attributes:
        reads: The local variables that it reads.
        writes: The local variables that it assigns or declares.
        reads_objects: It may read a field, or an element of an array or collection.
        writes_objects: It may change one.
        unknown: It may run unknown code, which can do anything except access local variables.
        raises: It may throw, or not terminate.
        jumps: It may jump out of the piece of code.
        assumes: The assumptions that this needs.
    """

    reads: set[JavaVariable]
    writes: set[JavaVariable]
    reads_objects: bool = False
    writes_objects: bool = False
    unknown: bool = False
    raises: bool = False
    jumps: bool = False
    assumes: frozenset[str] = frozenset()

    @property
    def acts(self) -> bool:
        """Whether running it has an effect beyond its value."""
        return bool(self.writes) or self.writes_objects or self.unknown or self.jumps


class JavaEffectAnalysis:
    """The side-effect analysis of one file's code."""

    def __init__(self, module: JavaModule, types: JavaTypes) -> None:
        self._module = module
        self._types = types

    def of(self, node: Node) -> JavaEffects:
        """The effects of a statement or expression, with everything nested in it."""
        effects = JavaEffects(set(), set())
        self._add(node, node, effects)
        return effects

    def _operate(self, effects: JavaEffects) -> None:
        """Add an operation that methods of objects implement: those of the file show whether they act."""
        if self._acting:
            effects.unknown = True
        else:
            effects.assumes |= {PURE_OPERATORS}

    @cached_property
    def _acting(self) -> bool:
        """Whether the file has a method that operators or collections call and that changes an object."""
        bodies = (
            method.child_by_field_name("body")
            for method in self._module.nodes("method_declaration")
            if (name := method.child_by_field_name("name")) is not None and self._module.text(name) in _CALLED
        )
        return any(body is not None and self._changes_field(body) for body in bodies)

    def _changes_field(self, node: Node) -> bool:
        target: Node | None = None
        if node.type == "assignment_expression":
            target = node.child_by_field_name("left")
        elif node.type == "update_expression":
            target = node.named_children[0]
        elif node.type == "method_invocation":
            name = node.child_by_field_name("name")
            changes = name is not None and self._module.text(name) in _MUTATING
            target = node.child_by_field_name("object") if changes else None
        while target is not None and target.type == "array_access":
            target = target.named_children[0]
        if target is not None and self._module.scopes.may_mean(target) is None:
            return True
        return any(map(self._changes_field, node.named_children))

    @cached_property
    def _ordered_by_access(self) -> bool:
        """Whether reading an element may reorder a map: the file has a `LinkedHashMap` of three arguments."""
        made = self._module.nodes("object_creation_expression")
        maps = (new for new in made if "LinkedHashMap" in self._module.text(new))
        given = (new.child_by_field_name("arguments") for new in maps)
        return any(arguments is not None and len(arguments.named_children) == 3 for arguments in given)

    def _add(self, node: Node, top: Node, effects: JavaEffects) -> None:
        if node.type in _OPAQUE:
            effects.unknown = effects.raises = True
        handler = _HANDLERS.get(node.type)
        if handler is not None:
            handler(self, node, effects)
        if node.type in _JUMPS or (
            node.type in {"break_statement", "continue_statement"} and not self._stays(node, top)
        ):
            effects.jumps = True
        for child in node.named_children:
            self._add(child, top, effects)

    def _stays(self, jump: Node, top: Node) -> bool:
        """Whether the target of a `break` or `continue` is inside a piece of code."""
        if jump.named_children:
            return False
        for above in self._module.ancestors(jump):
            if above.start_byte < top.start_byte or above.end_byte > top.end_byte:
                return False
            if above.type in _LOOPS or (above.type == "switch_expression" and jump.type == "break_statement"):
                return True
        return False

    def _name(self, node: Node, effects: JavaEffects) -> None:
        variable = self._module.scopes.may_mean(node)
        above = self._module.parent(node)
        if variable is None:
            if not self._is_label_or_name(node, above):
                effects.reads_objects = True
        elif variable.declared.id == node.id:
            effects.writes.add(variable)
        else:
            effects.reads.add(variable)

    def _is_label_or_name(self, node: Node, above: Node) -> bool:
        parts = (above.child_by_field_name(name) for name in ("name", "field"))
        if any(part is not None and part.id == node.id for part in parts):
            return True
        item = above.child_by_field_name("object")
        return item is not None and item.id == node.id and self._types.static(node) != UNKNOWN

    def _write(self, target: Node | None, effects: JavaEffects) -> None:
        while target is not None and target.type == "parenthesized_expression":
            target = target.named_children[0]
        variable = self._module.scopes.may_mean(target) if target is not None else None
        if variable is not None:
            effects.writes.add(variable)
        else:
            effects.writes_objects = True

    def _assign(self, node: Node, effects: JavaEffects) -> None:
        left, operator, right = operands(node)
        self._write(left, effects)
        text = self._module.text(operator)
        if text in {"/=", "%="}:
            self._divide(left, right, effects)
        if not self._types.plain(left) and unboxes(self._types, left, right):
            effects.raises = True
        if left.type == "array_access":
            effects.raises = True
        if text == "+=" and not (self._types.plain(right) or self._types.of(right) == "String"):
            self._operate(effects)  # it may convert an object to text

    def _update(self, node: Node, effects: JavaEffects) -> None:
        target = node.named_children[0]
        self._write(target, effects)
        effects.raises = effects.raises or not self._types.plain(target)

    def _binary(self, node: Node, effects: JavaEffects) -> None:
        left, operator, right = operands(node)
        text = self._module.text(operator)
        if text in {"/", "%"}:
            self._divide(left, right, effects)
        kinds = {self._types.of(left), self._types.of(right)}
        if text == "+" and not all(self._types.plain(side) for side in (left, right)):
            if kinds - {"String", "char", "int", "long", "double", "boolean", "float", "null"}:
                self._operate(effects)
                effects.raises = True
        elif text not in {"==", "!="} or any(self._types.plain(side) for side in (left, right)):
            unboxing = not all(self._types.plain(side) for side in (left, right))
            effects.raises = effects.raises or unboxing  # unboxing a null throws

    def _divide(self, left: Node, right: Node, effects: JavaEffects) -> None:
        literal = right.type == "decimal_integer_literal" and self._module.text(right).rstrip("lL") != "0"
        floating = {self._types.of(left), self._types.of(right)} & {"double", "float"}
        if not literal and not floating:
            effects.raises = True

    def _may_raise(self, _node: Node, effects: JavaEffects) -> None:
        effects.raises = True

    def _initialised(self, node: Node, effects: JavaEffects) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None and unboxes(self._types, name, value):
            effects.raises = True

    def _element(self, _node: Node, effects: JavaEffects) -> None:
        effects.reads_objects = effects.raises = True

    def _field(self, node: Node, effects: JavaEffects) -> None:
        item = node.child_by_field_name("object")
        if item is None or self._types.static(item) == UNKNOWN:
            if item is None or item.type != "this":
                effects.raises = True
            if not (item is not None and self._types.of(item).endswith("[]")):
                effects.reads_objects = True  # except an array's length, which cannot change
        elif not self._module.text(node).rpartition(".")[2].isupper() and "_" not in self._module.text(node):
            effects.reads_objects = True

    def _new(self, node: Node, effects: JavaEffects) -> None:
        kind = node.child_by_field_name("type")
        name = head(compact(self._module.text(kind))) if kind is not None else ""
        effects.raises = effects.reads_objects = True
        if name not in _PURE_NEW or name in self._module.declared_types:
            effects.unknown = True

    def _call(self, node: Node, effects: JavaEffects) -> None:
        item, name = node.child_by_field_name("object"), node.child_by_field_name("name")
        method = self._module.text(name) if name is not None else ""
        effects.raises = True
        if item is None:
            effects.unknown = True
            return
        kind, static = self._types.of(item), self._types.static(item)
        if static == "Math" and method != "random":
            given = node.child_by_field_name("arguments")
            plain = given is not None and all(
                self._types.plain(argument) for argument in given.named_children
            )
            effects.raises = not plain or method.endswith("Exact") or method.startswith("floor")
            return
        if static in _PURE_CLASSES or kind == "String" or (static, method) in _PURE_STATIC:
            effects.reads_objects = True
            if static in {"String", "Objects", "Arrays", ""}:
                self._operate(effects)
            effects.unknown = effects.unknown or method in {"getInteger", "getLong", "getBoolean", "intern"}
        elif (static, method) in _MUTATING_STATIC:
            effects.reads_objects = effects.writes_objects = True
            self._operate(effects)
        elif head(kind) in _COLLECTIONS and method in _READING | _MUTATING:
            effects.reads_objects = True
            moves = method in {"get", "getOrDefault"} and self._ordered_by_access
            effects.writes_objects = effects.writes_objects or method in _MUTATING or moves
            self._operate(effects)
        else:
            effects.unknown = True

    def _opened(self, node: Node, effects: JavaEffects) -> None:
        effects.raises = True
        if node.type == "enhanced_for_statement":
            value = node.child_by_field_name("value")
            kind = self._types.of(value) if value is not None else UNKNOWN
            effects.reads_objects = True
            if not kind.endswith("[]"):
                self._operate(effects)
                effects.unknown = effects.unknown or head(kind) not in _COLLECTIONS


_HANDLERS = {
    "identifier": JavaEffectAnalysis._name,
    "assignment_expression": JavaEffectAnalysis._assign,
    "update_expression": JavaEffectAnalysis._update,
    "binary_expression": JavaEffectAnalysis._binary,
    "array_access": JavaEffectAnalysis._element,
    "field_access": JavaEffectAnalysis._field,
    "object_creation_expression": JavaEffectAnalysis._new,
    "variable_declarator": JavaEffectAnalysis._initialised,
    "array_creation_expression": JavaEffectAnalysis._may_raise,
    "cast_expression": JavaEffectAnalysis._may_raise,
    "method_invocation": JavaEffectAnalysis._call,
    **dict.fromkeys(_LOOPS, JavaEffectAnalysis._opened),
}


def unboxes(types: JavaTypes, left: Node, right: Node) -> bool:
    """Whether an assignment may unbox a null, which throws."""
    return not (types.plain(right) or types.of(left) == types.of(right) != UNKNOWN)


def independent_in_java(first: JavaEffects, second: JavaEffects, *, caught: bool) -> Independence:
    """Decide whether the order of two adjacent pieces of code is unobservable.

    Args:
        caught: Whether code of the same method may observe the state after an exception.
    """
    reason = _conflict(first, second) or _conflict(second, first)
    if reason is not None:
        return Independence(reason)
    assumed = set(first.assumes | second.assumes)
    if (first.raises and (second.raises or second.acts)) or (second.raises and first.acts):
        if caught:
            return Independence(
                "one of them may throw, and a handler of the exception could observe the order"
            )
        assumed.add(NEITHER_RAISES)
    return Independence(None, tuple(sorted(assumed)))


def _conflict(effects: JavaEffects, other: JavaEffects) -> str | None:
    if effects.jumps:
        return MAY_JUMP
    if effects.unknown and other.unknown:
        return "both call unknown code"
    touched = effects.writes & (other.reads | other.writes)
    if touched:
        return f"both touch `{min(variable.name for variable in touched)}`"
    if (effects.writes_objects or effects.unknown) and (other.reads_objects or other.writes_objects):
        return "one changes an object that the other may use"
    return None
