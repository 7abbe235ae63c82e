"""Inputs for a Java method: from the types of its parameters and the literals in its text, by one seed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from counterlens.java.judging.differential.types import (
    ANYTHING,
    ARRAY,
    BOXES,
    COLLECTIONS,
    MAPS,
    OPTIONAL,
    JavaType,
)
from counterlens.sandbox.java.values import JavaValue

_BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}
_TAGS = {"byte": "B", "short": "S", "int": "I", "long": "J", "float": "F", "double": "D"}
_INTEGER = re.compile(r"(?<![\w.])-?(?:0[xX][\da-fA-F_]+|0[bB][01_]+|\d[\d_]*)[lL]?(?![\w.])")
_REAL = re.compile(r"(?<![\w.])-?\d+\.\d*(?:[eE]-?\d+)?")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_CHARACTER = re.compile(r"'([^'\\\n]|\\.)'")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "s": " "}
_LETTERS = "abcxyzABZ019 "
_SMALL = tuple(range(-2, 11))
_MIDDLE = (12, 15, 16, 17, 25, 31, 50, 64, 99, 100, 101, 128, 255, 256, 360, 1000, 12345, -7, -10, -100)
_LONGEST = 60  # characters of a text that is made of others


@dataclass(frozen=True, slots=True)
class Literals:
    """Literals and names in the text of a method.

    Attributes:
        reals: Floating-point numbers.
        strings: Strings, also those in its comment.
    """

    integers: tuple[int, ...]
    reals: tuple[float, ...]
    strings: tuple[str, ...]
    characters: tuple[str, ...]


def literals_of(texts: Iterable[str]) -> Literals:
    """The literals in some texts: the method, the comment before it, and calls of it in tests."""
    integers: set[int] = set()
    reals: set[float] = set()
    strings: set[str] = set()
    characters: set[str] = set()
    for text in texts:
        strings |= {_unescape(literal[1]) for literal in _STRING.finditer(text)}
        characters |= {_unescape(literal[1]) for literal in _CHARACTER.finditer(text)}
        for match in _INTEGER.finditer(text):
            digits = match[0].rstrip("lL").replace("_", "")
            plain = re.fullmatch(r"-?0\d+", digits)
            integers.add(int(digits, 10 if plain else 0))
        reals |= {float(literal[0]) for literal in _REAL.finditer(text)}
    strings = {text for text in strings if len(text) <= _LONGEST}
    characters |= {sign for text in strings for sign in text}
    characters = {sign for sign in characters if len(sign) == 1 and ord(sign) < 1 << 16}
    kept = sorted(characters, key=lambda sign: (sign.isalnum(), sign))[:40]
    return Literals(tuple(sorted(integers)), tuple(sorted(reals)), tuple(sorted(strings)), tuple(kept))


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPED.get(match[1], match[1]), text)


class Generator:
    """Makes arguments.

    Args:
        types: The types of a method's parameters.
        literals: The literals and names in its text.
        seed: Random seed of the inputs.
    """

    def __init__(self, types: Sequence[JavaType], literals: Literals, seed: int) -> None:
        self._types, self._literals = tuple(types), literals
        self._random = Random(seed)  # noqa: S311 - reproducible, not secret
        self._alphabet = ""
        self._most = 0
        self._before: list[JavaValue] = []

    def draw(self, count: int) -> list[tuple[JavaValue, ...]]:
        """Generate this number of distinct inputs, or fewer if no more exist; small ones first."""
        inputs: dict[tuple[JavaValue, ...], None] = {}
        for number in range(4 * count):
            self._most = min(2 + number // 6, 9)
            self._before = []
            for each in self._types:
                self._alphabet = self._letters()
                self._before.append(self._argument(each))
            inputs[tuple(self._before)] = None
            if len(inputs) == count:
                break
        return list(inputs)

    def _argument(self, kind: JavaType) -> JavaValue:
        """A value, often derived from an earlier argument."""
        same = [value for value, other in zip(self._before, self._types, strict=False) if other == kind]
        chance = self._random.random()
        if same and chance < 0.3:
            return self._related(self._random.choice(same))
        parts = [part for value in self._before for part in self._parts(value, kind)]
        if parts and chance < 0.6:
            return self._random.choice(parts)
        return self._value(kind, 0)

    def _parts(self, value: JavaValue, kind: JavaType) -> list[JavaValue]:
        """Parts of an argument that suit other types: an item, a length, a part of a text."""
        name = BOXES.get(kind.name, kind.name)
        if value[0] in {"[", "L"}:
            tag = {"String": "s", "char": "C", "boolean": "Z"}.get(name) or _TAGS.get(name)
            items = [item for item in value[2] if item[0] == tag]
            if tag == "s":
                items += [part for item in items for part in self._parts(item, kind)]
            return [*items, (_TAGS[name], len(value[2]))] if name in {"int", "long"} else items
        if value[0] != "s":
            return []
        text = value[1]
        if name in {"int", "long"}:
            return [(_TAGS[name], len(text))]
        if name == "char":
            return [("C", sign) for sign in text]
        at = self._random.randrange(len(text) + 1)
        return [("s", text[:at]), ("s", text[at:]), ("s", text[at : at + 2])] if name == "String" else []

    def _related(self, value: JavaValue) -> JavaValue:
        way = self._random.randrange(4)
        if value[0] == "s":
            signs = list(value[1])
            if way == 1:
                self._random.shuffle(signs)
            elif way == 2:
                signs = signs[self._random.randrange(len(signs) + 1) :]
            elif way == 3:
                signs.insert(self._random.randrange(len(signs) + 1), self._sign())
            return "s", "".join(signs)
        if value[0] in {"I", "J"} and way:
            return value[0], _wrap(
                value[1] + self._random.choice((-2, -1, 1, 2)), 32 if value[0] == "I" else 64
            )
        if value[0] in {"[", "L"} and way:
            items = list(value[2])
            if way == 1:
                self._random.shuffle(items)
            elif items:
                items.pop(self._random.randrange(len(items)))
            return value[0], value[1], tuple(items)
        return value

    def _value(self, kind: JavaType, depth: int) -> JavaValue:
        name = BOXES.get(kind.name, kind.name)
        if name in _BITS:
            return _TAGS[name], _wrap(self._integer(), _BITS[name])
        if name in {"float", "double"}:
            return _TAGS[name], self._real(single=name == "float")
        if name == "boolean":
            return "Z", self._random.random() < 0.5
        if name == "char":
            return "C", self._sign()
        if name in {"String", "CharSequence", "StringBuilder"}:
            return ("b" if name == "StringBuilder" else "s"), self._text()
        if name == ARRAY:
            items = self._items(kind.arguments[0], depth)
            return "[", kind.arguments[0].class_name, tuple(items)
        if name in COLLECTIONS:
            return self._collection(COLLECTIONS[name], kind.arguments[0], depth)
        if name in MAPS:
            keys = dict.fromkeys(self._items(kind.arguments[0], depth))
            pairs = tuple((key, self._value(kind.arguments[1], depth + 1)) for key in keys)
            return "M", f"java.util.{MAPS[name]}", pairs
        if name == OPTIONAL:
            empty = self._random.random() < 0.25
            return "O", ("n",) if empty else self._value(kind.arguments[0], depth + 1)
        return self._other(name, depth)

    def _other(self, name: str, depth: int) -> JavaValue:
        if name == "BigInteger":
            power = self._random.choice((1, 1, 1, 10**12))
            return "i", self._integer() * power
        if name == "BigDecimal":
            return "d", self._integer(), self._random.choice((0, 0, 1, 2))
        if name == ANYTHING and self._random.random() < 0.3:
            return self._value(JavaType(self._random.choice(("String", "Double", "Boolean"))), depth)
        return self._value(JavaType("Integer"), depth)

    def _collection(self, made: str, kind: JavaType, depth: int) -> JavaValue:
        items = self._items(kind, depth)
        if made.endswith("Set"):
            items = list(dict.fromkeys(items))
        if made in {"TreeSet", "PriorityQueue"} and kind.name == ANYTHING:
            items = [item for item in items if item[0] == "I"]
        return "L", f"java.util.{made}", tuple(items)

    def _items(self, kind: JavaType, depth: int) -> list[JavaValue]:
        """The items of a container, in one of several ways: repeated, sorted, mirrored, all equal."""
        random = self._random
        most = max(self._most // (1 + depth), 1)
        count = random.randint(0, most)
        if kind.name == ARRAY and random.random() < 0.7:  # a grid: rows of one length
            return self._grid(kind, count, depth)
        items = [self._value(kind, depth + 1) for _ in range(count)]
        scalars = [part for value in self._before for part in [value, *self._parts(value, kind)]]
        scalars = [part for part in scalars if items and part[0] == items[0][0]]
        if scalars and random.random() < 0.5:  # an item derived from an earlier argument
            items[random.randrange(count)] = random.choice(scalars)
        way = random.randrange(8)
        if way == 0 and items:
            few = items[: max(1, count // 3)]
            items = [random.choice(few) for _ in range(count)]
        elif (
            way in {1, 2} and items and all(item[0] in {"I", "J", "S", "B", "C", "D", "s"} for item in items)
        ):
            if len({item[0] for item in items}) == 1:
                items.sort(key=lambda item: item[1], reverse=way == 2)
        elif way == 3:
            items = items + items[::-1][random.randrange(2) :]
        elif way == 4 and items:
            items = [items[0]] * count
        return items

    def _grid(self, kind: JavaType, count: int, depth: int) -> list[JavaValue]:
        width = self._random.randint(0 if self._random.random() < 0.1 else 1, max(self._most // 2, 2))
        inner = kind.arguments[0]
        rows = range(max(count, 1))
        return [
            ("[", inner.class_name, tuple(self._value(inner, depth + 2) for _ in range(width))) for _ in rows
        ]

    def _integer(self) -> int:
        random, known = self._random, self._literals.integers
        chance = random.random()
        if known and chance < 0.25:
            return random.choice(known) + random.choice((-1, 0, 0, 1))
        if chance < 0.7:
            return random.choice(_SMALL)
        if chance < 0.9:
            return random.choice(_MIDDLE) + random.choice((0, 0, 1))
        if chance < 0.97:
            return random.randint(-2000, 20000)
        return random.choice((2**31 - 1, -(2**31), 2**31 - 2, 2**30, 10**9 + 7))

    def _real(self, *, single: bool) -> float:
        random, known = self._random, self._literals.reals
        chance = random.random()
        if known and chance < 0.3:
            real = random.choice(known) + random.choice((-0.5, 0.0, 0.0, 0.5, 1e-3))
        elif chance < 0.6:
            real = self._integer() / random.choice((1, 1, 2, 4, 10))
        elif chance < 0.97:
            real = round(random.uniform(-12, 12), random.choice((0, 1, 2, 3)))
        else:
            real = random.choice((0.0, -0.0, 1e10, -1e-9, 1e300))
        if not single:
            return float(real)
        return float(round(real * 1024) / 1024) if abs(real) < 1e6 else 0.0  # exact in 32 bits

    def _letters(self) -> str:
        """The characters of one text: often only a few of those that the method mentions."""
        known, random = "".join(self._literals.characters), self._random
        way = random.randrange(5)
        if known and way < 2:
            return "".join(random.sample(known, min(len(known), random.randint(1, 4))))
        if known and way == 2:
            return known
        if way == 3:
            return random.choice(("ab", "01", "0123456789", "aeiou xyz", "aAbB", "abc ,"))
        return _LETTERS

    def _sign(self) -> str:
        return self._random.choice(self._alphabet or _LETTERS)

    def _of_one_form(self, text: str) -> str:
        """A text with different digits and letters in the same positions."""
        signs = list(text)
        for at, sign in enumerate(signs):
            for kind in ("0123456789", "abcdefghijklmnop", "ABCDEFGHIJKLMNOP"):
                if sign in kind and self._random.random() < 0.6:
                    signs[at] = self._random.choice(kind[: 10 if self._random.random() < 0.5 else 5])
        return "".join(signs)

    def _variant(self, text: str) -> str:
        """A text in the method, or one derived from it."""
        random = self._random
        at = random.randrange(len(text) + 1)
        ways = (
            lambda: text[:at] + text[at + 1 :],
            lambda: text[:at] + self._sign() + text[at:],
            lambda: text + random.choice(self._literals.strings),
            lambda: text[at:],
            text.swapcase,
            *(lambda: self._of_one_form(text),) * 3,
            lambda: text,
        )
        return random.choice(ways)()[:_LONGEST]

    def _text(self) -> str:
        random, known = self._random, self._literals.strings
        way = random.randrange(10)
        if known and way < 4:
            return self._variant(random.choice(known))
        text = "".join(self._sign() for _ in range(random.randint(0, 2 * self._most)))
        if way == 4:
            text += text[::-1][random.randrange(2) :]
        elif way == 5:
            words = [text[:3], text[3:5], text[5:]]
            text = random.choice((" ", ", ", ",", "  ")).join(words)
        elif way == 6 and text:
            text = text[:2] * random.randint(1, 4)
        return text


def _wrap(number: int, bits: int) -> int:
    """An integer wrapped to a type with this number of bits."""
    half = 1 << (bits - 1)
    return (number + half) % (1 << bits) - half
