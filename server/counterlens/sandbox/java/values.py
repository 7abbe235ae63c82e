"""Java values in Python, and their encoding for a JVM (`worker/Values.java`).

A value is a tuple that begins with its tag, so values can be compared and hashed:

    ("n",)                        null
    ("I", 5) ("J", 5) ("S", 5) ("B", 5)      int, long, short, byte, or their boxes
    ("Z", True) ("C", "a") ("s", "text")     boolean, char, String
    ("D", 0.5) ("F", 0.5)         double, float
    ("i", 5) ("d", 125, 2)        BigInteger; BigDecimal: unscaled digits and scale (1.25)
    ("O", value) ("e", key, value)           Optional, Map.Entry
    ("b", "text")                 StringBuilder
    ("[", "int", items)           an array, by the name of its component's class
    ("L", "java.util.ArrayList", items)      a collection
    ("M", "java.util.HashMap", pairs)        a map
    ("r", 3)                      only in read values: a reference to an enclosing container
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from counterlens.sandbox.serving import ServiceEndedError

JavaValue = tuple[Any, ...]
NULL: JavaValue = ("n",)

_COLLECTIONS = (
    "ArrayList LinkedList Vector Stack Arrays$ArrayList ImmutableCollections$ListN "
    "ImmutableCollections$List12 ImmutableCollections$SubList Collections$EmptyList "
    "Collections$SingletonList Collections$UnmodifiableList Collections$UnmodifiableRandomAccessList "
    "Collections$CopiesList ArrayList$SubList AbstractList$RandomAccessSubList ArrayDeque PriorityQueue "
    "HashSet LinkedHashSet TreeSet ImmutableCollections$SetN ImmutableCollections$Set12 "
    "Collections$EmptySet Collections$SingletonSet Collections$UnmodifiableSet"
)
_MAPS = (
    "HashMap LinkedHashMap TreeMap Hashtable ImmutableCollections$MapN ImmutableCollections$Map1 "
    "Collections$EmptyMap Collections$SingletonMap Collections$UnmodifiableMap"
)
COLLECTIONS, MAPS = _COLLECTIONS.split(), _MAPS.split()
"""The collections and maps of `java.util` that are passed, in the order of `Values.java`."""
_NUMBERS = {"I": ">i", "J": ">q", "S": ">h", "B": ">b", "D": ">d", "F": ">f"}
_DEEPEST, _MOST = 220, 1 << 20
_MOST_EFFECTS = 50
_FAULT = "its answer is not plain data"


class JavaWriter:
    """Writes values as one message; containers get the same numbers as in the worker."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.containers = 0
        """Number of written containers."""

    @property
    def data(self) -> bytes:
        """Return the written bytes."""
        return b"".join(self._parts)

    def text(self, text: str) -> None:
        """A text of any length."""
        data = text.encode("utf-16-be", "surrogatepass")
        self._parts += [struct.pack(">i", len(data) // 2), data]

    def number(self, form: str, number: int) -> None:
        """A number, in a form of `struct`."""
        self._parts.append(struct.pack(form, number))

    def write(self, value: JavaValue) -> None:
        """One value."""
        tag = value[0]
        container = tag in {"b", "[", "L", "M"}
        self.containers += container
        self._parts.append(f"c{tag}".encode() if container else tag.encode())
        if tag in _NUMBERS:
            self._parts.append(struct.pack(_NUMBERS[tag], value[1]))
        elif tag in {"s", "b"}:
            self.text(value[1])
        elif tag == "Z":
            self._parts.append(bytes([value[1]]))
        elif tag == "C":
            self._parts.append(value[1].encode("utf-16-be", "surrogatepass"))
        elif tag in {"i", "d"}:
            digits = value[1].to_bytes(value[1].bit_length() // 8 + 1, "big", signed=True)
            self._parts += [struct.pack(">i", len(digits)), digits]
            if tag == "d":
                self.number(">i", value[2])
        elif tag in {"O", "e"}:
            for part in value[1:]:
                self.write(part)
        elif tag != "n":
            self._container(value)

    def _container(self, value: JavaValue) -> None:
        tag, name, items = value
        if tag == "[":
            self.text(name)
        else:
            names = COLLECTIONS if tag == "L" else MAPS
            self.number(">B", names.index(name.removeprefix("java.util.")))
        self.number(">i", len(items))
        for item in items if tag != "M" else [part for pair in items for part in pair]:
            self.write(item)


@dataclass(frozen=True, slots=True)
class JavaAnswer:
    """The result of a call.

    Attributes:
        value: The returned value; None if it threw an exception, or returned anything but plain data.
        thrown: The class of the exception.
        message: The exception's message, or the class that is not plain data.
        given: The containers among its arguments, as they are after the call, in the order of their numbers.
        serious: Whether the JVM should not be used again, after an error such as an overflow.
        effects: What the call left behind besides its result, such as printed text, in words.
        again: The result of the same call on the same object, after the first result was emptied.
    """

    value: JavaValue | None
    thrown: str = ""
    message: str = ""
    given: tuple[JavaValue, ...] = ()
    serious: bool = False
    effects: tuple[str, ...] = ()
    again: JavaAnswer | None = None


def read_observation(frame: bytes, given: int, arguments: Sequence[JavaValue]) -> JavaAnswer:
    """Read the answer to an observed call, as `read_answer`."""
    reader = _Reader(frame)
    try:
        first = read_answer(reader.take(reader.count()), given, arguments)
        effects = tuple(reader.text() for _ in range(min(reader.count(), _MOST_EFFECTS)))
    except (struct.error, ValueError) as error:
        raise ServiceEndedError(f"{_FAULT}: {error}") from None
    second = read_answer(reader.rest(), given, arguments) if not first.serious else None
    serious = first.serious or (second is not None and second.serious)
    return replace(first, effects=effects, again=second, serious=serious)


def read_answer(frame: bytes, given: int, arguments: Sequence[JavaValue]) -> JavaAnswer:
    """Read the answer to a call; nothing in it is trusted.

    Args:
        given: Number of containers among the arguments.
        arguments: Its arguments: a program may return one.

    Raises:
        ServiceEndedError: the frame is not an answer.
    """
    reader = _Reader(frame)
    try:
        return _answer(reader, given, arguments)
    except (struct.error, ValueError, IndexError, OverflowError, RecursionError) as error:
        raise ServiceEndedError(f"{_FAULT}: {error}") from None


def _answer(reader: _Reader, given: int, arguments: Sequence[JavaValue]) -> JavaAnswer:
    kind = reader.tag()
    if kind == "U":
        return JavaAnswer(None, message=reader.text())
    if kind not in {"V", "T", "E"}:
        raise ValueError(f"an answer {kind!r}")
    contents = [reader.content(0) for _ in range(reader.known(given))]
    if kind == "V":
        same = reader.number(">i")
        value = _argument(arguments, same) if same >= 0 else reader.value(0)
        reader.close(contents)
        return JavaAnswer(reader.resolve(value), given=reader.given(given))
    name, message = reader.text(), reader.text()
    reader.close(contents)
    return JavaAnswer(None, name, message, reader.given(given), kind == "E")


def _argument(arguments: Sequence[JavaValue], same: int) -> JavaValue:
    """A returned argument: a container by its number, so that its content after the call counts."""
    number = 0
    for at, argument in enumerate(arguments):
        inside = _containers(argument)
        if at == same:
            return ("r", number) if inside and argument[0] in {"b", "[", "L", "M"} else argument
        number += inside
    raise ValueError("a reference to a missing argument")


def _containers(value: JavaValue) -> int:
    writer = JavaWriter()
    writer.write(value)
    return writer.containers


class _Reader:
    """Reads values; a repeated container is the same tuple."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at, self._read = data, 0, 0
        self._met: list[JavaValue | None] = []

    def known(self, count: int) -> int:
        """Register containers whose contents come later."""
        self._met = [None] * count
        return count

    def close(self, contents: Sequence[JavaValue]) -> None:
        """Set the contents of the known containers."""
        self._met[: len(contents)] = contents

    def given(self, count: int) -> tuple[JavaValue, ...]:
        """Return the contents of the known containers, with their references resolved."""
        return tuple(self.resolve(("r", number)) for number in range(count))

    def take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if size < 0 or len(part) < size:
            raise ValueError("it is incomplete")
        self._at += size
        return part

    def rest(self) -> bytes:
        return self._data[self._at :]

    def tag(self) -> str:
        return self.take(1).decode("latin-1")

    def number(self, form: str) -> int:
        (value,) = struct.unpack(form, self.take(struct.calcsize(form)))
        return int(value)

    def count(self) -> int:
        return self.number(">i")

    def text(self) -> str:
        return self.take(2 * self.count()).decode("utf-16-be", "surrogatepass")

    def value(self, depth: int) -> JavaValue:
        self._read += 1
        if depth > _DEEPEST or self._read > _MOST:
            raise ValueError("it is nested too deeply or too large")
        tag = self.tag()
        if tag in _NUMBERS:
            form = _NUMBERS[tag]
            return (tag, *struct.unpack(form, self.take(struct.calcsize(form))))
        if tag == "n":
            return NULL
        if tag == "r":
            return tag, self.count()
        if tag == "c":
            number = len(self._met)
            self._met.append(None)
            self._met[number] = made = self.content(depth)
            return made
        return self._plain(tag, depth)

    def _plain(self, tag: str, depth: int) -> JavaValue:
        if tag == "s":
            return tag, self.text()
        if tag == "Z":
            return tag, self.take(1) != b"\0"
        if tag == "C":
            return tag, self.take(2).decode("utf-16-be", "surrogatepass")
        if tag in {"i", "d"}:
            digits = int.from_bytes(self.take(self.count()), "big", signed=True)
            return (tag, digits) if tag == "i" else (tag, digits, self.number(">i"))
        if tag in {"O", "e"}:
            return (tag, *(self.value(depth + 1) for _ in range(1 if tag == "O" else 2)))
        raise ValueError(f"a tag {tag!r}")

    def content(self, depth: int) -> JavaValue:
        kind = self.tag()
        if kind == "b":
            return kind, self.text()
        if kind == "[":
            return kind, self.text(), self._items(self.count(), depth)
        if kind == "L":
            return kind, f"java.util.{COLLECTIONS[self.number('>B')]}", self._items(self.count(), depth)
        if kind == "M":
            name = f"java.util.{MAPS[self.number('>B')]}"
            flat = self._items(2 * self.count(), depth)
            return kind, name, tuple(zip(flat[::2], flat[1::2], strict=True))
        raise ValueError(f"a container {kind!r}")

    def _items(self, count: int, depth: int) -> tuple[JavaValue, ...]:
        if count < 0 or count > len(self._data):
            raise ValueError(f"a length of {count}")
        return tuple(self.value(depth + 1) for _ in range(count))

    def resolve(self, value: JavaValue, around: frozenset[int] = frozenset()) -> JavaValue:
        """A value with its references replaced, except references to enclosing containers."""
        tag = value[0]
        if tag == "r":
            number = value[1]
            if number in around:
                return value
            target = self._met[number] if 0 <= number < len(self._met) else None
            if target is None:
                raise ValueError("a reference to nothing")
            return self.resolve(target, around | {number})
        self._read += 1
        if self._read > _MOST or len(around) > _DEEPEST:
            raise ValueError("it is too large")
        if tag in {"O", "e"}:
            return (tag, *(self.resolve(part, around) for part in value[1:]))
        if tag in {"[", "L"}:
            return tag, value[1], tuple(self.resolve(item, around) for item in value[2])
        if tag == "M":
            pairs = ((self.resolve(k, around), self.resolve(v, around)) for k, v in value[2])
            return tag, value[1], tuple(pairs)
        return value
