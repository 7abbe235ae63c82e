"""Java values in Python, read from the encoding of a JVM (`worker/Values.java`).

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
    ("r", 3)                      a reference to an enclosing container
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
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
_FAULT = "its answer is not plain data"


@dataclass(frozen=True, slots=True)
class JavaAnswer:
    """The result of a call.

    Attributes:
        value: The returned value; None if it threw an exception, or returned anything but plain data.
        thrown: The class of the exception.
        serious: Whether the JVM should not be used again, after an error such as an overflow.
    """

    value: JavaValue | None
    thrown: str = ""
    serious: bool = False


def read_answer(frame: bytes) -> JavaAnswer:
    """Read the answer to a call; nothing in it is trusted.

    Raises:
        ServiceEndedError: the frame is not an answer.
    """
    reader = _Reader(frame)
    try:
        kind = reader.tag()
        if kind == "U":
            return JavaAnswer(None)
        if kind == "V":
            return JavaAnswer(reader.resolve(reader.value(0)))
        if kind in {"T", "E"}:
            return JavaAnswer(None, reader.text(), kind == "E")
    except (struct.error, ValueError, IndexError, OverflowError, RecursionError) as error:
        raise ServiceEndedError(f"{_FAULT}: {error}") from None
    raise ServiceEndedError(f"{_FAULT}: an answer {kind!r}")


class _Reader:
    """Reads values; a repeated container is the same tuple."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at, self._read = data, 0, 0
        self._met: list[JavaValue | None] = []

    def take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if size < 0 or len(part) < size:
            raise ValueError("it is incomplete")
        self._at += size
        return part

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
