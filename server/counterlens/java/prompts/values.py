"""Java values in prompts and answers: written as expressions, read from text, compared as values.

A value is a `JavaValue` (`sandbox/java/values.py`). An answer may write it in any usual form: as an
expression (`new int[] {1, 2}`, `List.of(1, 2)`, `Arrays.asList(1, 2)`), or as Java prints it (`[1, 2]`,
`{"a"=1}`, `Optional[3]`). All forms of a list are equal. Strings must be quoted, because they are ambiguous
otherwise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from counterlens.java.prompts.reading import read_value, why_unreadable
from counterlens.probes.prompts.literals import ABSOLUTE, RELATIVE, Literal, Values
from counterlens.sandbox.java.values import NULL, JavaValue

FAR = 97
"""Distance by which a number moves away from 0, after its sign has changed."""
_LONGEST = 4096  # maximum characters of a literal
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", "\b": "\\b", "\f": "\\f"}
_FEW = 10  # maximum entries of `Map.of`
_WHOLE = {"I": 32, "J": 64, "S": 16, "B": 8}
_TYPES = {
    "n": "null", "I": "int", "J": "long", "S": "short", "B": "byte", "i": "BigInteger", "D": "double",
    "F": "float", "d": "BigDecimal", "Z": "boolean", "C": "char", "s": "String", "O": "Optional",
    "[": "array", "M": "Map",
}  # fmt: skip


def java_literal(text: str, *, strict: bool = False) -> Literal | None:
    """The value in a text; None if the text is not one value.

    Args:
        text: The text; a semicolon and a comment after the value are ignored.
        strict: Whether to accept only Java expressions, not the forms that Java prints.
    """
    if len(text) > _LONGEST:
        return None
    value = read_value(text, strict=strict)
    return None if value is None else Literal(value, write(value))


def plain(value: JavaValue) -> bool:
    """Whether `write` can write a value as an expression."""
    tag = value[0]
    if tag in {"[", "L"}:
        return all(map(plain, value[2]))
    if tag == "M":
        return all(plain(key) and plain(held) for key, held in value[2])
    return plain(value[1]) if tag == "O" else tag in _TYPES


def write(value: JavaValue) -> str:
    """A plain value as a Java expression; sets and maps in a fixed order."""
    return _WRITERS[value[0]](value)


def expression(value: JavaValue) -> str:
    """A plain value as an argument: of its own class, with mutable lists."""
    tag = value[0]
    if tag == "L" and _kind(value) == "list" and value[2] and "null" not in map(write, value[2]):
        items, simple = ", ".join(map(expression, value[2])), value[1].rpartition(".")[2]
        plain_list = f"Arrays.asList({items})"
        return plain_list if simple in {"ArrayList", "List"} else f"new {simple}<>({plain_list})"
    if tag in {"L", "M"}:
        simple = value[1].rpartition(".")[2]
        return f"new {simple}<>({write(value) if value[2] else ''})"
    return write(value)


def equal(value: JavaValue, other: JavaValue) -> bool:
    """Whether two values are equal, whatever their classes: numbers by value, arrays and lists by items.

    Floating-point numbers are equal within the tolerances. A char does not equal a string, nor a Boolean a
    number.
    """
    kinds = _kind(value), _kind(other)
    if kinds[0] != kinds[1]:
        return False
    if kinds[0] == "number":
        return _same_number(_number(value), _number(other))
    if kinds[0] == "list":
        return len(value[2]) == len(other[2]) and all(map(equal, value[2], other[2]))
    if kinds[0] == "set":
        return _equal_in_any_order(_distinct(value[2]), _distinct(other[2]))
    if kinds[0] == "map":
        return _equal_in_any_order([("O2", *pair) for pair in value[2]], [("O2", *pair) for pair in other[2]])
    if kinds[0] in {"Optional", "pair"}:
        return all(map(equal, value[1:], other[1:]))
    return bool(value[1:] == other[1:])


def same_numbers(left: JavaValue, other: JavaValue) -> bool:
    """Whether two equal values have integers and other numbers in the same places."""
    kind = _kind(left)
    if kind == "number":
        return isinstance(_number(left), int) == isinstance(_number(other), int)
    if kind == "list":
        return all(map(same_numbers, left[2], other[2]))
    if kind == "set":
        return _wholes(_distinct(left[2])) == _wholes(_distinct(other[2]))
    if kind == "map":
        ordered = [sorted(value[2], key=lambda pair: _key(pair[0])) for value in (left, other)]
        return all(map(same_numbers, *([part for pair in pairs for part in pair] for pairs in ordered)))
    return same_numbers(left[1], other[1]) if kind == "Optional" else True


def same_type(value: JavaValue, other: JavaValue) -> bool:
    """Whether two values are of one kind: integers, other numbers, arrays and lists, and so on."""
    if _kind(value) == _kind(other) == "number":
        return isinstance(_number(value), int) == isinstance(_number(other), int)
    return _kind(value) == _kind(other)


def type_name(value: JavaValue) -> str:
    """The name of a value's type, such as `int`, `array` or `List`."""
    if value[0] != "L":
        return _TYPES[value[0]]
    return "Set" if _kind(value) == "set" else "List"


def misleading_value(value: JavaValue) -> JavaValue:
    """A clearly different value of the same kind."""
    tag = value[0]
    way = _MISLEADING.get(tag)
    return (tag, *way(value)) if way else ("I", FAR)


def _move(value: JavaValue) -> JavaValue:
    moved = -value[1] - FAR if value[1] >= 0 else -value[1] + FAR
    return (_wrap(moved, _WHOLE[value[0]]) if value[0] in _WHOLE else moved,)


def _moved_real(value: JavaValue) -> JavaValue:
    number = value[1] if math.isfinite(value[1]) else 0.0
    return (-number - FAR if number >= 0 else -number + FAR,)


def _moved_decimal(value: JavaValue) -> JavaValue:
    far = FAR * 10 ** max(value[2], 0)
    return (-value[1] - far if value[1] >= 0 else -value[1] + far), value[2]


def _misled_items(value: JavaValue) -> JavaValue:
    items = (misleading_value(value[2][0]), *value[2][1:]) if value[2] else (_first(value),)
    return value[1], items


def _misled_map(value: JavaValue) -> JavaValue:
    if not value[2]:
        return value[1], ((("I", FAR), ("I", FAR)),)
    (key, held), *others = value[2]
    return value[1], ((key, misleading_value(held)), *others)


_MISLEADING: Mapping[str, Callable[[JavaValue], JavaValue]] = {
    **dict.fromkeys((*_WHOLE, "i"), _move),
    **dict.fromkeys(("D", "F"), _moved_real),
    **dict.fromkeys(("[", "L"), _misled_items),
    "M": _misled_map,
    "d": _moved_decimal,
    "Z": lambda value: (not value[1],),
    "C": lambda value: ("#" if value[1] != "#" else "%",),
    "s": lambda value: (f"{value[1][::-1]}#",),
    "O": lambda value: (("I", FAR) if value[1] == NULL else misleading_value(value[1]),),
}


def same_text(answer: Literal | None, text: str, truth: Literal) -> bool:
    """Whether an answer has the same text as the truth, whatever the classes of lists and numbers."""
    if answer is None:
        return "".join(text.split()) == "".join(truth.written.split())
    return _canonical(answer.value) == _canonical(truth.value)


def asserted_value(line: str) -> Literal | None:
    """The value with which an assertion compares a call, after `==` or in `equals`; None if there is none."""
    for match in re.finditer(r"==|\.equals\(", line):
        text = line[match.end() :].strip().rstrip(".")
        for end in range(len(text), 0, -1):
            if (value := java_literal(text[:end])) is not None:
                return value
    return None


def _canonical(value: JavaValue) -> str:
    """A text that is the same for values with the same text."""
    kind = _kind(value)
    if kind == "number":
        return repr(_number(value))
    if kind in {"list", "set"}:
        items = list(map(_canonical, value[2]))
        return f"{kind}({', '.join(items if kind == 'list' else sorted(items))})"
    if kind == "map":
        return f"map({', '.join(sorted(f'{_canonical(k)}={_canonical(v)}' for k, v in value[2]))})"
    return f"Optional({_canonical(value[1])})" if kind == "Optional" else repr(value)


def _kind(value: JavaValue) -> str:
    tag = value[0]
    if tag in {"I", "J", "S", "B", "i", "D", "F", "d"}:
        return "number"
    if tag == "[":
        return "list"
    if tag == "L":
        return "set" if "Set" in value[1] else "list"
    return {"M": "map", "O": "Optional", "O2": "pair"}.get(tag, str(tag))


def _number(value: JavaValue) -> int | float:
    if value[0] != "d":
        number: int | float = value[1]
        return number
    try:
        return float(f"{value[1]}e{-value[2]}")
    except (ValueError, OverflowError):
        return math.inf


def _same_number(number: float, other: float) -> bool:
    if isinstance(number, int) and isinstance(other, int):
        return number == other
    try:
        near = math.isclose(number, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    except OverflowError:  # the integer is larger than any float
        return False
    return near or (number != number and other != other)


def _equal_in_any_order(values: Sequence[JavaValue], other: Sequence[JavaValue]) -> bool:
    """Whether two sequences have equal items, in any order."""
    left = list(other)
    for item in values:
        position = next((number for number, each in enumerate(left) if equal(item, each)), None)
        if position is None:
            return False
        del left[position]
    return not left


def _distinct(items: Sequence[JavaValue]) -> list[JavaValue]:
    values: list[JavaValue] = []
    for item in items:
        if not any(equal(item, each) for each in values):
            values.append(item)
    return values


def _wholes(items: Sequence[JavaValue]) -> int:
    return sum(_kind(item) != "number" or isinstance(_number(item), int) for item in items)


def _key(value: JavaValue) -> str:
    return f"{value[1]:024.6f}" if _kind(value) == "number" and value[0] != "d" else write(value)


def _first(value: JavaValue) -> JavaValue:
    """An item for an empty collection or array; an array gives its type."""
    name = value[1].rpartition(".")[2] if value[0] == "[" else ""
    return {"String": ("s", "#"), "char": ("C", "#"), "boolean": ("Z", True)}.get(name, ("I", FAR))


def _wrap(number: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (number + half) % (1 << bits) - half


def _cast_integer(value: JavaValue) -> str:
    return f"({_TYPES[value[0]]}) {value[1]}"


def _real(value: JavaValue) -> str:
    number, name, end = value[1], "Double" if value[0] == "D" else "Float", "" if value[0] == "D" else "f"
    if number != number:
        return f"{name}.NaN"
    if math.isinf(number):
        return f"{name}.{'POSITIVE' if number > 0 else 'NEGATIVE'}_INFINITY"
    return f"{number!r}{end}"


def _decimal(value: JavaValue) -> str:
    return f"BigDecimal.valueOf({value[1]}L, {value[2]})"


def _quote(text: str, mark: str) -> str:
    """A text as Java writes it between quotation marks."""
    escapes = {**_ESCAPES, mark: f"\\{mark}"}
    shown = text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
    parts = (escapes.get(each) or (each if each.isprintable() else f"\\u{ord(each):04x}") for each in shown)
    return mark + "".join(parts) + mark


def _component_name(name: str) -> str:
    """The component of an array as Java writes it, from the name that its class has."""
    dimensions = len(name) - len(name.lstrip("["))
    base = name.lstrip("[")
    if dimensions:
        primitives = {"Z": "boolean", "B": "byte", "S": "short", "C": "char"}
        primitives |= {"I": "int", "J": "long", "F": "float", "D": "double"}
        base = primitives.get(base) or base.removeprefix("L").removesuffix(";")
    return base.rpartition(".")[2] + "[]" * dimensions


def _array(value: JavaValue) -> str:
    name, items = _component_name(value[1]), ", ".join(map(write, value[2]))
    return f"new {name}[] {{{items}}}"


def _collection(value: JavaValue) -> str:
    if _kind(value) == "set":
        return f"Set.of({', '.join(map(write, sorted(_distinct(value[2]), key=_key)))})"
    items = [write(item) for item in value[2]]
    if items == ["null"]:
        return "Collections.singletonList(null)"
    lone = len(items) == 1 and value[2][0][0] == "["  # `List.of` would take the items of the array
    maker = "Arrays.asList" if "null" in items else "List.of"
    return f"Collections.singletonList({items[0]})" if lone else f"{maker}({', '.join(items)})"


def _map(value: JavaValue) -> str:
    pairs = [(write(key), write(held)) for key, held in sorted(value[2], key=lambda each: _key(each[0]))]
    if len(pairs) <= _FEW:
        return f"Map.of({', '.join(part for pair in pairs for part in pair)})"
    return f"Map.ofEntries({', '.join(f'Map.entry({key}, {held})' for key, held in pairs)})"


_WRITERS: Mapping[str, Callable[[JavaValue], str]] = {
    "n": lambda _: "null",
    "I": lambda value: str(value[1]),
    "J": lambda value: f"{value[1]}L",
    "S": _cast_integer,
    "B": _cast_integer,
    "i": lambda value: f'new BigInteger("{value[1]}")',
    "D": _real,
    "F": _real,
    "d": _decimal,
    "Z": lambda value: "true" if value[1] else "false",
    "C": lambda value: _quote(value[1], "'"),
    "s": lambda value: _quote(value[1], '"'),
    "O": lambda value: "Optional.empty()" if value[1] == NULL else f"Optional.of({write(value[1])})",
    "[": _array,
    "L": _collection,
    "M": _map,
}


JAVA_VALUES = Values(
    comment="//",
    null="null",
    zero="0",
    literal=java_literal,
    written=write,
    equal=equal,
    same_numbers=same_numbers,
    same_type=same_type,
    type_name=type_name,
    same_text=same_text,
    why_unreadable=why_unreadable,
    misled=misleading_value,
    asserted=asserted_value,
)
"""Reads and compares Java values."""
