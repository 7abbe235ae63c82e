"""Parsing one Java value from a text: an expression of literals, or the printed form of the value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from counterlens.sandbox.java.values import NULL, JavaValue

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<real>(?:\d[\d_]*\.(?:\d[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?[fFdD]?
          |\d[\d_]*(?:[eE][-+]?\d+[fFdD]?|[fFdD]))
      | (?P<whole>0[xX][\da-fA-F_]+[lL]?|0[bB][01_]+[lL]?|\d[\d_]*[lL]?)
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<char>'(?:[^'\\\n]|\\u+[\da-fA-F]{4}|\\[0-7]{1,3}|\\.)')
      | (?P<word>[^\W\d][\w$]*)
      | (?P<sign>[-+()\[\]{},.;<>?:=&])
    )""",
    re.VERBOSE | re.DOTALL,
)
_PRIMITIVES = {
    "boolean": "Z", "byte": "B", "short": "S", "char": "C", "int": "I", "long": "J", "float": "F",
    "double": "D",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(u+[\da-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "s": " "}
_DEEPEST = 60
_LIST, _SET, _MAP = "java.util.ArrayList", "java.util.HashSet", "java.util.HashMap"
_LISTS = frozenset(
    (
        *("ArrayList", "LinkedList", "Vector", "Stack", "ArrayDeque", "PriorityQueue"),
        *("List", "Collection", "Queue", "Deque"),
    )
)
_SETS = frozenset(("HashSet", "LinkedHashSet", "TreeSet", "Set"))
_MAPS = frozenset(("HashMap", "LinkedHashMap", "TreeMap", "Hashtable", "Map"))
_COPIES = frozenset(("List.copyOf", "Set.copyOf", "Collections.unmodifiableList"))
_LIST_MAKERS = frozenset(
    (
        *("List.of", "List.copyOf", "Arrays.asList", "Stream.of", "Collections.emptyList"),
        *("Collections.singletonList", "Collections.unmodifiableList"),
    )
)
_SET_MAKERS = frozenset(("Set.of", "Set.copyOf", "Collections.emptySet", "Collections.singleton"))
_OPTIONALS = frozenset(("Optional", "OptionalInt", "OptionalLong", "OptionalDouble"))
_EXTREMES: Mapping[str, JavaValue] = {
    "Integer.MAX_VALUE": ("I", (1 << 31) - 1), "Integer.MIN_VALUE": ("I", -(1 << 31)),
    "Long.MAX_VALUE": ("J", (1 << 63) - 1), "Long.MIN_VALUE": ("J", -(1 << 63)),
    "Double.NaN": ("D", float("nan")), "Float.NaN": ("F", float("nan")),
    "Double.POSITIVE_INFINITY": ("D", float("inf")), "Double.NEGATIVE_INFINITY": ("D", float("-inf")),
    "Float.POSITIVE_INFINITY": ("F", float("inf")), "Float.NEGATIVE_INFINITY": ("F", float("-inf")),
    "Double.MAX_VALUE": ("D", 1.7976931348623157e308),
    "Boolean.TRUE": ("Z", True), "Boolean.FALSE": ("Z", False), "BigInteger.ZERO": ("i", 0),
    "BigInteger.ONE": ("i", 1),
}  # fmt: skip
_CASTS = {"int": "I", "long": "J", "short": "S", "byte": "B", "double": "D", "float": "F", "char": "C"}
_TAGS = {**_CASTS, "Integer": "I", "Long": "J", "Short": "S", "Byte": "B", "Double": "D", "Float": "F"}
_NO_VALUE = "it is not a Java literal"
_AMBIGUOUS = "it is ambiguous: empty braces are an array or a map"
_UNQUOTED = "its strings are not quoted"


class _UnreadError(Exception):
    """The text is not a value; the message says why."""


def read_value(text: str, *, strict: bool = False) -> JavaValue | None:
    """The value in a text; None if the text is not one value.

    Args:
        strict: Whether to accept only Java expressions, not the forms that Java prints.
    """
    try:
        return _read(text, strict=strict)
    except _UnreadError:
        return None


def why_unreadable(text: str) -> str:
    """Why the first line of a text is not a value, as a short reason that can be counted."""
    line = text.strip().splitlines()[0].strip() if text.strip() else ""
    try:
        _read(line, strict=False)
    except _UnreadError as error:
        return str(error)
    return _NO_VALUE


def _read(text: str, *, strict: bool) -> JavaValue:
    reader = _Reader(text, strict=strict)
    try:
        value = reader.value(0)
    except (ValueError, OverflowError, IndexError):
        raise _UnreadError(_NO_VALUE) from None
    reader.end()
    return value


class _Reader:
    def __init__(self, text: str, *, strict: bool) -> None:
        self._strict = strict
        self._tokens: list[tuple[str, str]] = []
        at, text = 0, text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                raise _UnreadError(_NO_VALUE)
            if match.lastgroup != "comment":
                self._tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        self._at = 0

    # tokens

    def _peek(self, ahead: int = 0) -> tuple[str, str]:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ("", "")

    def _next(self) -> tuple[str, str]:
        token = self._peek()
        self._at += 1
        return token

    def _is(self, sign: str) -> bool:
        return self._peek() == ("sign", sign)

    def _took(self, sign: str) -> bool:
        present = self._is(sign)
        self._at += present
        return present

    def _need(self, sign: str) -> None:
        if not self._took(sign):
            raise _UnreadError(_NO_VALUE)

    def end(self) -> None:
        """Check that nothing follows but a semicolon."""
        self._took(";")
        if self._at < len(self._tokens):
            raise _UnreadError("it is an expression, not a literal")

    # values

    def value(self, depth: int) -> JavaValue:
        """One value."""
        if depth > _DEEPEST:
            raise _UnreadError("it is nested too deeply")
        kind, text = self._peek()
        if kind in {"whole", "real"} or text in {"-", "+"}:
            return self._number()
        if kind == "string":
            self._next()
            return "s", _unescape(text[1:-1])
        if kind == "char":
            self._next()
            return self._character(text)
        if kind == "word":
            return self._named(depth)
        if text == "(":
            return self._bracketed(depth)
        if text == "[" and not self._strict:
            self._next()
            return "L", _LIST, self._items("]", depth)
        if text == "{" and not self._strict:
            self._next()
            return self._braces(depth)
        raise _UnreadError(_NO_VALUE)

    def _number(self) -> JavaValue:
        sign = 1
        while self._peek()[1] in {"-", "+"}:
            sign *= -1 if self._next()[1] == "-" else 1
        kind, text = self._next()
        if kind == "word" and text in {"Infinity", "NaN"} and not self._strict:
            return "D", sign * float(text)
        plain = text.replace("_", "")
        if kind == "real":
            single = plain[-1] in "fF"
            return "F" if single else "D", sign * float(plain.rstrip("fFdD"))
        if kind != "whole":
            raise _UnreadError(_NO_VALUE)
        digits = plain.rstrip("lL")
        octal = re.fullmatch(r"0[0-7]+", digits)
        number = sign * (int(digits, 8) if octal else int(digits, 10 if digits.isdigit() else 0))
        if plain[-1] in "lL":
            return "J", number
        return ("I" if -(1 << 31) <= number < 1 << 31 else "J" if -(1 << 63) <= number < 1 << 63 else "i"), (
            number
        )

    @staticmethod
    def _character(text: str) -> JavaValue:
        inside = _unescape(text[1:-1])
        if len(inside) != 1 or ord(inside) > 0xFFFF:
            raise _UnreadError(_NO_VALUE)
        return "C", inside

    def _named(self, depth: int) -> JavaValue:
        name = self._path()
        if name in {"true", "false"}:
            return "Z", name == "true"
        if name == "null":
            return NULL
        if name == "new":
            return self._made(depth)
        if name in _EXTREMES:
            return _EXTREMES[name]
        if name in {"NaN", "Infinity"} and not self._strict:
            return "D", float(name)
        if self._is("("):
            return self._maker(name, depth)
        head, _, last = name.partition(".")
        if head in _OPTIONALS and not self._strict:
            if last == "empty":
                return "O", NULL
            if not last and self._took("["):
                value = self.value(depth + 1)
                self._need("]")
                return "O", value
        raise _UnreadError(_UNQUOTED if depth else _NO_VALUE)

    def _path(self) -> str:
        """A name with its dots, without the packages."""
        words = [self._next()[1]]
        while self._is(".") and self._peek(1)[0] == "word":
            self._next()
            words.append(self._next()[1])
        if self._is("<") and words != ["new"]:
            self._type_arguments()
        first = next((at for at, word in enumerate(words) if not word.islower()), len(words) - 1)
        return ".".join(words[first:])

    def _type_arguments(self) -> None:
        depth = 0
        while True:
            kind, text = self._next()
            depth += {"<": 1, ">": -1}.get(text, 0)
            if not depth:
                return
            if not kind or not (kind == "word" or text in "<>?,.[]&"):
                raise _UnreadError(_NO_VALUE)

    def _arguments(self, depth: int) -> list[JavaValue]:
        self._need("(")
        return list(self._items(")", depth))

    def _items(self, closing: str, depth: int) -> tuple[JavaValue, ...]:
        values: list[JavaValue] = []
        while not self._took(closing):
            if values:
                self._need(",")
                if closing == "}" and self._took(closing):  # a trailing comma in an array
                    break
            values.append(self.value(depth + 1))
        return tuple(values)

    def _maker(self, name: str, depth: int) -> JavaValue:
        if name in {"Map.of", "Map.ofEntries", "Collections.emptyMap"}:
            return self._map_of(name, depth)
        given = self._arguments(depth)
        way = _MAKERS.get(name)
        if way is not None:
            made = way(given)
            if made is not None:
                return made
        elif name in _LIST_MAKERS | _SET_MAKERS:
            inner = given[0] if len(given) == 1 else None
            # A single array argument of `of` gives its items, unless it is an array of primitives.
            spread = inner is not None and inner[0] == "[" and inner[1] not in _PRIMITIVES
            copied = name in _COPIES or (spread and not name.startswith("Collections."))
            items = inner[2] if inner is not None and copied and inner[0] in {"L", "["} else tuple(given)
            return "L", _SET if name in _SET_MAKERS else _LIST, items
        raise _UnreadError(_NO_VALUE)

    def _map_of(self, name: str, depth: int) -> JavaValue:
        self._need("(")
        if name != "Map.ofEntries":
            flat = self._items(")", depth)
            if len(flat) % 2:
                raise _UnreadError(_NO_VALUE)
            return "M", _MAP, tuple(zip(flat[::2], flat[1::2], strict=True))
        pairs: list[tuple[JavaValue, JavaValue]] = []
        while not self._took(")"):
            if pairs:
                self._need(",")
            if self._path() not in {"Map.entry", "entry"}:
                raise _UnreadError(_NO_VALUE)
            key, held = self._arguments(depth)
            pairs.append((key, held))
        return "M", _MAP, tuple(pairs)

    def _made(self, depth: int) -> JavaValue:
        """The value after `new`: an array, or a collection or number of the library."""
        name = self._path()
        if self._is("["):
            return self._array(name, depth)
        given = self._arguments(depth)
        if name == "String" and len(given) == 1 and given[0][0] == "s":
            return given[0]
        if name in {"BigInteger", "BigDecimal"} and len(given) == 1 and given[0][0] == "s":
            text = given[0][1]
            if name == "BigInteger":
                return "i", int(text)
            digits, _, after = text.partition(".")
            return "d", int(digits + after), len(after)
        items: tuple[JavaValue, ...] = ()
        if given and given[0][0] in {"L", "M"}:
            items = given[0][2]
        elif given and not (given[0][0] == "I" and len(given) == 1):  # a capacity
            raise _UnreadError(_NO_VALUE)
        mapped = bool(given) and given[0][0] == "M"
        if name in _MAPS and (mapped or not items):
            return "M", f"java.util.{name}", items
        if name in _LISTS | _SETS and not mapped:
            return "L", f"java.util.{name}", items
        raise _UnreadError(_NO_VALUE)

    def _array(self, name: str, depth: int) -> JavaValue:
        dimensions, size = 0, 0
        while self._took("["):
            if self._peek()[0] == "whole":
                size = int(self._next()[1])
            self._need("]")
            dimensions += 1
        component = _component(name, dimensions - 1)
        if self._took("{"):
            return "[", component, self._array_items(component, depth)
        if size:
            raise _UnreadError("it is an expression, not a literal")
        return "[", component, ()

    def _array_items(self, component: str, depth: int) -> tuple[JavaValue, ...]:
        """The items of an array; inner arrays need no `new`."""
        values: list[JavaValue] = []
        while not self._took("}"):
            if values:
                self._need(",")
                if self._took("}"):
                    break
            if component.startswith("[") and self._took("{"):
                inner = _inner(component)
                values.append(("[", inner, self._array_items(inner, depth + 1)))
            else:
                values.append(_as(component, self.value(depth + 1)))
        return tuple(values)

    def _braces(self, depth: int) -> JavaValue:
        """An array without a type, or a printed map."""
        if self._took("}"):
            raise _UnreadError(_AMBIGUOUS)
        first = self.value(depth + 1)
        if not (self._is("=") or self._is(":")):
            items = [first]
            while not self._took("}"):
                self._need(",")
                if not self._is("}"):
                    items.append(self.value(depth + 1))
            return "[", "java.lang.Object", tuple(items)
        pairs: list[tuple[JavaValue, JavaValue]] = []
        while True:
            if not (self._took("=") or self._took(":")):
                raise _UnreadError(_NO_VALUE)
            pairs.append((first, self.value(depth + 1)))
            if self._took("}"):
                return "M", _MAP, tuple(pairs)
            self._need(",")
            first = self.value(depth + 1)

    def _bracketed(self, depth: int) -> JavaValue:
        """A value in parentheses, or after a cast."""
        self._need("(")
        kind, text = self._peek()
        if kind == "word" and self._peek(1) == ("sign", ")") and text not in {"true", "false", "null"}:
            self._at += 2
            return _as(text, self.value(depth + 1))
        value = self.value(depth + 1)
        self._need(")")
        return value


def _as(name: str, value: JavaValue) -> JavaValue:
    """A number, cast to a type; other values are unchanged."""
    tag = _TAGS.get(name.rpartition(".")[2])
    if tag in {"D", "F"} and value[0] in {"I", "J", "S", "B", "F", "D"}:
        return tag, float(value[1])
    if tag == "C" and value[0] == "I":
        return tag, chr(value[1] & 0xFFFF)
    if tag in {"I", "J", "S", "B"} and value[0] in {"I", "J", "S", "B"}:
        half = 1 << ({"I": 32, "J": 64, "S": 16, "B": 8}[tag] - 1)
        return tag, (value[1] + half) % (2 * half) - half
    return value


def _component(name: str, dimensions: int) -> str:
    """The class name of an array's items, as in Java."""
    lang = {*_TAGS, "String", "Object", "Boolean", "Character"}
    if name in _PRIMITIVES:
        return "[" * dimensions + _PRIMITIVES[name] if dimensions else name
    full = f"java.{'lang' if name in lang else 'util'}.{name}"
    return "[" * dimensions + f"L{full};" if dimensions else full


def _inner(component: str) -> str:
    """The class name of the items of an array's items."""
    inner = component[1:]
    if inner.startswith("["):
        return inner
    primitives = {letter: name for name, letter in _PRIMITIVES.items()}
    return primitives.get(inner) or inner.removeprefix("L").removesuffix(";")


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code.startswith("u") and len(code) > 1:
            return chr(int(code.lstrip("u"), 16))
        if code[0] in "01234567":
            return chr(int(code, 8))
        return _ESCAPED.get(code, code)

    return _ESCAPE.sub(one, text)


def _optional(given: list[JavaValue]) -> JavaValue | None:
    return ("O", given[0]) if len(given) == 1 and given[0] != NULL else None


_MAKERS: Mapping[str, Callable[[list[JavaValue]], JavaValue | None]] = {
    **{f"{name}.of": _optional for name in sorted(_OPTIONALS)},
    **{f"{name}.empty": lambda given: None if given else ("O", NULL) for name in sorted(_OPTIONALS)},
    "Optional.ofNullable": lambda given: ("O", given[0]) if len(given) == 1 else None,
    "BigInteger.valueOf": lambda given: ("i", given[0][1]) if len(given) == 1 else None,
    "BigDecimal.valueOf": lambda given: ("d", given[0][1], given[1][1]) if len(given) == 2 else None,
    **{
        f"{name}.valueOf": lambda given: given[0] if len(given) == 1 else None
        for name in ("Integer", "Long", "Double", "Character", "Boolean")
    },
}
