"""Cheats in Java: programs with a body that no test of the method should pass, such as `return true;`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from counterlens.errors import SourceError
from counterlens.java.judging.judge import files_with_tests
from counterlens.java.methods import find_method
from counterlens.syntax.definitions import text_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.grammars import parser_for
from counterlens.syntax.tree import descendants

EMPTIED, THROWN = "an empty body", "throw new UnsupportedOperationException();"
_INTEGERS = ("0", "1", "-1", "42")
_WHOLE = frozenset(["byte", "short", "int", "long", "Byte", "Short", "Integer", "Long"])
_REAL = frozenset(["float", "double", "Float", "Double"])
_CASTS = {
    "byte": "byte", "short": "short", "float": "float", "Byte": "byte", "Short": "short", "Long": "long",
    "Float": "float", "Double": "double",
}  # fmt: skip
_SIMPLE = {
    "boolean": ("true", "false"), "Boolean": ("true", "false", "null"), "char": ("'a'", "'0'"),
    "Character": ("'a'", "null"), "String": ('""', '"a"', "null"), "CharSequence": ('""', "null"),
    "Object": ("0", '""', "true", "null"), "StringBuilder": ("new StringBuilder()", "null"),
}  # fmt: skip
_EMPTY = {
    "List": "new java.util.ArrayList<>()", "Collection": "new java.util.ArrayList<>()",
    "Iterable": "new java.util.ArrayList<>()", "Set": "new java.util.HashSet<>()",
    "Map": "new java.util.HashMap<>()", "SortedMap": "new java.util.TreeMap<>()",
    "SortedSet": "new java.util.TreeSet<>()", "Queue": "new java.util.ArrayDeque<>()",
    "Deque": "new java.util.ArrayDeque<>()", "Optional": "java.util.Optional.empty()",
    "Stream": "java.util.stream.Stream.empty()", "Iterator": "java.util.Collections.emptyIterator()",
    "BigInteger": "java.math.BigInteger.ZERO", "BigDecimal": "java.math.BigDecimal.ZERO",
    **{name: f"new java.util.{name}<>()" for name in (
        "ArrayList", "LinkedList", "Vector", "Stack", "HashSet", "LinkedHashSet", "TreeSet", "HashMap",
        "LinkedHashMap", "TreeMap", "ArrayDeque", "PriorityQueue",
    )},
}  # fmt: skip
_LITERALS = {
    "decimal_integer_literal": _WHOLE | _REAL | {"Object"},
    "decimal_floating_point_literal": {"double", "Double", "Object"},
    "string_literal": {"String", "CharSequence", "Object"}, "character_literal": {"char", "Character"},
}  # fmt: skip
_EXPECTED, _LONGEST = 6, 60  # maximum values that tests show, and characters of each
_ARGUMENTS = 2  # maximum arguments given back


def cheats(document: Document, function: Function, tests: Sequence[str]) -> dict[str, str]:
    """The programs with a cheat as the body of a method, by the statement; empty if it has no body.

    Args:
        tests: Texts of its tests beside those of its project; the literals in them are tried as its result.
    """
    try:
        method = find_method(document, function)
    except SourceError:
        return {}
    body = method.child_by_field_name("body")
    if body is None:
        return {}
    bodies, texts = {THROWN: THROWN}, [*tests, *(each.text for each in files_with_tests(document, function))]
    result = method.child_by_field_name("type")
    if result is None or text_of(result) == "void":
        bodies = {EMPTIED: "", **bodies}
    else:
        values = dict.fromkeys(
            [*_constants(result), *_arguments(method, result), *_visible_literals(texts, result)]
        )
        bodies = {f"return {value};": f"return {value};" for value in values} | bodies
    return {name: _with_body(document, body, text) for name, text in bodies.items()}


def raising(document: Document, function: Function | None) -> str | None:
    """The program with a body of a method that only throws; None without such a method.

    Tests that pass it do not run the method.
    """
    if function is None:
        return None  # Java compiles tests only together with what they name
    try:
        body = find_method(document, function).child_by_field_name("body")
    except SourceError:
        return None
    return None if body is None else _with_body(document, body, THROWN)


def _with_body(document: Document, body: Node, text: str) -> str:
    start, end = document.data[: body.start_byte], document.data[body.end_byte :]
    return (start + f"{{ {text} }}".encode() + end).decode("utf-8", "replace")


def _constants(result: Node) -> tuple[str, ...]:
    """Constants of a type; only null if it is no type of the library."""
    if result.type == "array_type":
        element, dimensions = text_of(result).partition("[")[::2]
        plain = element.partition("<")[0]
        return f"new {plain}[0][{dimensions.partition('[')[2]}".removesuffix("["), "null"
    name = _name(result)
    if name in _WHOLE or name in _REAL:
        return *(_cast(value, name) for value in _INTEGERS), *(() if name[0].islower() else ("null",))
    if name in _SIMPLE:
        return _SIMPLE[name]
    return (_EMPTY[name], "null") if name in _EMPTY else ("null",)


def _arguments(method: Node, result: Node) -> Iterator[str]:
    """The first parameters of the type of the result."""
    parameters = method.child_by_field_name("parameters")
    given = (
        [each for each in parameters.named_children if each.type == "formal_parameter"] if parameters else []
    )
    fitting = [each for each in given if (kind := each.child_by_field_name("type")) and _fits(kind, result)]
    for each in fitting[:_ARGUMENTS]:
        name = each.child_by_field_name("name")
        if name is not None and each.child_by_field_name("dimensions") is None:
            yield text_of(name)


def _fits(kind: Node, result: Node) -> bool:
    return "".join(text_of(kind).split()) == "".join(text_of(result).split()) or _name(result) == "Object"


def _visible_literals(tests: Sequence[str], result: Node) -> Iterator[str]:
    """The literals of tests that fit the type of the result."""
    name, values = _name(result), dict[str, None]()
    for text in tests:
        for node in descendants(parser_for("java").parse(text.encode()).root_node):
            if name in _LITERALS.get(node.type, ()) and len(value := text_of(node)) <= _LONGEST:
                above = node.parent
                negative = above is not None and above.type == "unary_expression"
                values[text_of(above) if above is not None and negative else value] = None
    fitting = [value for value in values if not value.endswith(("L", "l")) or name in {"long", "Long"}]
    yield from (_cast(value, name) for value in fitting[:_EXPECTED])


def _cast(value: str, name: str) -> str:
    """A literal as a type, if that needs a cast."""
    return f"({_CASTS[name]}) {value}" if name in _CASTS else value


def _name(kind: Node) -> str:
    """The simple name of a type without its arguments; empty for an array."""
    return "" if kind.type == "array_type" else text_of(kind).partition("<")[0].rpartition(".")[2].strip()
