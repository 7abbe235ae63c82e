"""The types of a Java method's parameters for which values can be generated."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tree_sitter import Node

from counterlens.syntax.definitions import text_of

PRIMITIVES = {
    "boolean": "Z", "byte": "B", "short": "S", "char": "C", "int": "I", "long": "J", "float": "F",
    "double": "D",
}  # fmt: skip
"""The primitive types, with the letter of their arrays."""
BOXES = {
    "Boolean": "boolean", "Byte": "byte", "Short": "short", "Character": "char", "Integer": "int",
    "Long": "long", "Float": "float", "Double": "double",
}  # fmt: skip
TEXTS = {"String": "String", "CharSequence": "String", "StringBuilder": "StringBuilder"}
NUMBERS = {"BigInteger": "BigInteger", "BigDecimal": "BigDecimal", "Number": "Integer"}
COLLECTIONS = {
    "Iterable": "ArrayList", "Collection": "ArrayList", "List": "ArrayList", "ArrayList": "ArrayList",
    "LinkedList": "LinkedList", "Vector": "Vector", "Stack": "Stack", "Queue": "ArrayDeque",
    "Deque": "ArrayDeque", "ArrayDeque": "ArrayDeque", "PriorityQueue": "PriorityQueue", "Set": "HashSet",
    "HashSet": "HashSet", "LinkedHashSet": "LinkedHashSet", "TreeSet": "TreeSet", "SortedSet": "TreeSet",
    "NavigableSet": "TreeSet",
}  # fmt: skip
"""Collections, with the class that is instantiated for each."""
MAPS = {
    "Map": "HashMap", "HashMap": "HashMap", "LinkedHashMap": "LinkedHashMap", "TreeMap": "TreeMap",
    "SortedMap": "TreeMap", "NavigableMap": "TreeMap", "Hashtable": "Hashtable",
}  # fmt: skip
ARRAY, ANYTHING, OPTIONAL = "[]", "Object", "Optional"
_ANY = {"Object", "Comparable"}
_PACKAGES = {"java.lang", "java.util", "java.math"}


class UnknownTypeError(Exception):
    """A type for which no values can be generated; the message names it."""


@dataclass(frozen=True, slots=True)
class JavaType:
    """A type.

    Attributes:
        name: Its simple name; `[]` for an array.
        arguments: Its type arguments; for an array, its component type.
    """

    name: str
    arguments: tuple[JavaType, ...] = ()

    @property
    def class_name(self) -> str:
        """The name of its class within the name of an array's class."""
        if self.name == ARRAY:
            inner = self.arguments[0]
            if inner.name in PRIMITIVES:
                return "[" + PRIMITIVES[inner.name]
            return f"[{inner.class_name}" if inner.name == ARRAY else f"[L{inner.class_name};"
        if self.name in PRIMITIVES:
            return self.name
        lang = self.name in {*BOXES, "String", "CharSequence", "StringBuilder", "Number", "Iterable", *_ANY}
        package = "lang" if lang else "math" if self.name.startswith("Big") else "util"
        return f"java.{package}.{self.name}"


def read_type(node: Node | None, variables: dict[str, JavaType], own: Collection[str]) -> JavaType:
    """The type that a node names.

    Args:
        variables: The type that replaces each visible type variable.
        own: The types that the file declares, which hide the library's.

    Raises:
        UnknownTypeError: no values of it can be generated.
    """
    if node is None:
        raise UnknownTypeError("a type that is not written out")
    text = "".join(text_of(node).split())
    kind = node.type
    if kind in {"integral_type", "floating_point_type", "boolean_type"}:
        return JavaType(text)
    if kind == "array_type":
        element = read_type(node.child_by_field_name("element"), variables, own)
        dimensions = node.child_by_field_name("dimensions")
        return arrays_of(element, text_of(dimensions).count("[") if dimensions is not None else 1)
    if kind == "annotated_type":
        return read_type(node.named_children[-1], variables, own)
    if kind == "wildcard":
        bounds = [child for child in node.named_children if child.type != "annotation"]
        return read_type(bounds[-1], variables, own) if bounds else JavaType(ANYTHING)
    if kind == "generic_type":
        base, listed = node.named_children[0], node.named_children[-1]
        arguments = tuple(read_type(child, variables, own) for child in listed.named_children)
        return _named_type(text_of(base), arguments, own)
    if kind in {"type_identifier", "scoped_type_identifier"}:
        return variables[text] if text in variables else _named_type(text, (), own)
    raise UnknownTypeError(text)


def arrays_of(element: JavaType, dimensions: int) -> JavaType:
    """An array type."""
    for _ in range(dimensions):
        element = JavaType(ARRAY, (element,))
    return element


def read_variables(
    node: Node | None, variables: dict[str, JavaType], own: Collection[str]
) -> dict[str, JavaType]:
    """The type that stands for each type variable of some `type_parameters`: its bound, or an `Integer`."""
    bounds = dict(variables)
    for child in node.named_children if node is not None else ():
        names = [inner for inner in child.named_children if inner.type == "type_identifier"]
        if child.type != "type_parameter" or not names:
            continue
        name = text_of(names[0])
        bounds[name] = JavaType("Integer")
        bound = next((inner for inner in child.named_children if inner.type == "type_bound"), None)
        if bound is not None:
            first = read_type(bound.named_children[0], bounds, own)
            bounds[name] = JavaType("Integer") if first.name in {*_ANY, "Number"} else first
    return bounds


def _named_type(name: str, arguments: tuple[JavaType, ...], own: Collection[str]) -> JavaType:
    package, _, simple = "".join(name.split()).rpartition(".")
    if (package and package not in _PACKAGES) or (not package and simple in own):
        raise UnknownTypeError(name)
    for known, count in ((COLLECTIONS, 1), (MAPS, 2), ({OPTIONAL: OPTIONAL}, 1)):
        if simple in known:
            return JavaType(simple, arguments or (JavaType(ANYTHING),) * count)
    if simple in {*BOXES, *TEXTS, *NUMBERS, *_ANY}:
        return JavaType(simple)
    raise UnknownTypeError(name)
