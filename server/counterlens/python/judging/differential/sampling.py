"""Inputs like those of the tests: values within the domain that recorded calls span.

A function's type says less than its tests about the inputs that it is meant for: whether a number may be
negative, a list empty, a text anything but digits. On other inputs a right program may do anything, so they
are no evidence against one. The rules are conservative: what all recorded values have in common holds for the
drawn values, too.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from counterlens.judging.comparing import FEWEST
from counterlens.python.judging.differential.domain import Contract, Domain
from counterlens.python.judging.differential.inputs import Call, Hints

_LARGE = 10_000  # numbers above are not exceeded
_MORE = 2  # maximum further elements of a container
_SOME = 60  # numbers up to this are tried whatever the calls contain
_TIMES = 2  # inputs drawn for each that is asked for: many are the same
_TRIES = 20
_MIXED = 3  # number of types from which on the elements of a container are of any type


@dataclass(frozen=True)
class RecordedPlan:
    """How to call a function like its tests do; has the methods of `CallPlan`.

    Attributes:
        target: The callee, as an expression over the names of its module.
        hints: The literals of the function.
        contract: What its documentation and code say.
    """

    target: str
    seen: tuple[Call, ...]
    hints: Hints
    contract: Contract = field(default_factory=Contract)
    like_tests = True

    @property
    def fewest(self) -> int:
        """The minimum number of inputs on which the original must return."""
        return min(FEWEST, len(self.seen))

    @property
    def combinations(self) -> list[tuple[int, ...]]:
        """A single one: the types are known."""
        return [()]

    @cached_property
    def domain(self) -> Domain:
        """Where the inputs stay."""
        return Domain(self.seen, self.contract)

    def draw(self, _combination: Sequence[int], number: int, of_seed: int) -> list[Call]:
        """Distinct calls in the domain of the recorded ones; the same calls for the same seed."""
        source = _Source(random.Random(of_seed), self.hints, self.contract)  # noqa: S311 - inputs
        drawn: dict[str, Call] = {}
        for _ in range(_TIMES * number):
            for _ in range(_TRIES):
                call = self._draw(source)
                if self.domain.contains(call):
                    drawn.setdefault(call.written(""), call)
                    break
        return list(drawn.values())

    def _draw(self, source: _Source) -> Call:
        """A recorded call with one argument, or all, replaced."""
        base = source.random.choice(self.seen)
        alone = source.random.random() < 0.5
        places = len(base.positional) + len(base.named)
        at = source.random.randrange(places) if places and alone else None
        positional = tuple(
            source.draw([call.positional[place] for call in self.seen if len(call.positional) > place])
            if at in {None, place}
            else value
            for place, value in enumerate(base.positional)
        )
        named = tuple(
            (
                name,
                source.draw([given for call in self.seen for key, given in call.named if key == name])
                if at in {None, len(base.positional) + place}
                else value,
            )
            for place, (name, value) in enumerate(base.named)
        )
        names = self.contract.names
        special = [
            (at, self.contract.special.get(name, ())) for at, name in enumerate(names[: len(positional)])
        ]
        for at, values in special:
            if values and type(positional[at]) is int and source.random.random() < 0.1:
                positional = (*positional[:at], source.random.choice(values), *positional[at + 1 :])
        if len(positional) > 1 and source.random.random() < 0.25:
            positional = self._derived(source, positional)
        return replace(base, positional=positional, named=named, steps=self._steps(source, base))

    def _steps(self, source: _Source, base: Call) -> tuple[tuple[str, Call], ...]:
        """The calls of an object's methods: those of the tests, or another sequence of them."""
        steps = base.steps
        known = [step for call in self.seen for step in call.steps]
        if steps and source.random.random() < 0.6:
            steps = tuple(
                source.random.choice(known) for _ in range(source.random.randint(1, len(steps) + 2))
            )
        return tuple((name, self._step(source, name, call, known)) for name, call in steps)

    def _step(self, source: _Source, name: str, call: Call, known: Sequence[tuple[str, Call]]) -> Call:
        alike = [other.positional for method, other in known if method == name]
        return replace(
            call,
            positional=tuple(
                source.draw([values[at] for values in alike if len(values) > at])
                for at in range(len(call.positional))
            ),
        )

    def _derived(self, source: _Source, positional: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments with one computed from another: conditions often compare the two."""
        at, of = source.random.sample(range(len(positional)), 2)
        known = [call.positional[at] for call in self.seen if len(call.positional) > at]
        value = source.derive(positional[at], positional[of], known)
        return (*positional[:at], value, *positional[at + 1 :])


class _Source:
    """Draws values from the domain of some values."""

    def __init__(self, chance: random.Random, hints: Hints, contract: Contract) -> None:
        self.random, self._hints = chance, hints
        self._distinct = contract.speaks_of("distinct", "unique", "different", "duplicates?")
        self._lower = contract.speaks_of("lower", "lowercase", "lower-case", "uppercase")
        self._letters = contract.speaks_of(
            "only", "assume", "consist(?:s|ing)? of", "separated", "binary", "digits?"
        )
        self._negative = not contract.speaks_of("positive", "non-?negative", "natural")

    def draw(self, values: Sequence[Any], *, inside: bool = False) -> Any:
        """A value like the given ones, of the type of one of them; `inside` a container."""
        model = self.random.choice(values)
        if inside and type(model) is int and self._negative and self.random.random() < 0.1:
            return -self.random.choice((0, 1, abs(model)))
        alike = [value for value in values if type(value) is type(model)]
        if self.random.random() < 0.15:
            return model
        for kind, draw in _DRAWS:
            if type(model) is kind:
                return draw(self, alike)
        return model

    def derive(self, value: Any, other: Any, known: Sequence[Any]) -> Any:
        """A value computed from another argument if it is in the domain of the known ones; else as given."""
        if type(value) in (int, float):
            made = self._number_in(other)
            numbers = [each for each in known if type(each) in (int, float)]
            if made is None or (made < 0 <= min(numbers)) or (made == 0 and 0 not in numbers):
                return value
            return type(value)(made)
        if type(value) in (str, list) and type(other) is type(value) and other:
            start = self.random.randrange(len(other))
            part = other[start : start + max(1, len(value))]
            part = part[1:] + part[:1] if self.random.random() < 0.3 else part
            alike = [each for each in known if type(each) is type(value)]
            inside = set(map(repr, part)) <= {repr(item) for each in alike for item in each}
            return part if inside and len(part) >= min(map(len, alike)) else value
        return value

    def _number_in(self, other: Any) -> Any:
        """A number that a condition may compare with: a length, an item, a sum or a difference."""
        if type(other) in (str, list, tuple, dict) and self.random.random() < 0.25:
            return len(other)
        if type(other) in (int, float) and math.isfinite(other):
            return other + self.random.choice((-1, 0, 0, 1))
        items = other if type(other) in (list, tuple) else ()
        numbers = [item for item in items if type(item) in (int, float) and math.isfinite(item)]
        if not numbers:
            return None
        first, two = self.random.choice(numbers), self.random.choice(numbers)
        return self.random.choice((first, sum(numbers), abs(first - two), max(numbers), min(numbers)))

    def integer(self, values: Sequence[int]) -> int:
        low, high = min(values), max(values)
        low = 2 * low if low < 0 else min(low, 1)
        high = high if abs(high) > _LARGE else max(high + _MORE, high + high // 4)
        near = [near for n in self._hints.integers for near in (n - 1, n, n + 1) if low <= near <= 4 * high]
        if near and self.random.random() < 0.3:
            return self.random.choice(near)
        if self.random.random() < 0.25 and high <= _LARGE:
            high = max(4 * high, _SOME)  # a larger number is rarely out of the domain
        elif self.random.random() < 0.5:
            high = min(high, low + 30)
        return self.random.randint(low, max(low, high))

    def real(self, values: Sequence[float]) -> float:
        finite = [value for value in values if math.isfinite(value)]
        if not finite or self.random.random() < 0.2:
            return self.random.choice(values)
        low, high = min(finite), max(finite)
        low = 2 * low if low < 0 else min(low, 1.0) if low > 0 else 0.0
        digits = max(len(repr(value).partition(".")[2]) for value in finite)
        return round(self.random.uniform(low, max(low, high * 1.25)), min(digits, 6))

    def text(self, values: Sequence[str]) -> str:
        value = self.random.choice(values)
        if all(re.fullmatch(r"[^\W\d_]*( [^\W\d_]+)*", text) for text in values):
            return self._words(values)
        characters = sorted({character for text in values for character in text})
        lengths = {len(text) for text in values}
        if len(characters) <= 8 and len(lengths) > 1 and not any(map(str.isalnum, "".join(characters))):
            return self._of(characters, min(lengths), max(lengths) + _MORE)  # brackets and the like
        if all(re.fullmatch(r"\d+", text) for text in values):
            return self._of(characters, min(lengths), max(lengths) + (len(lengths) > 1))
        groups = list(re.finditer(r"\d+", value))
        if groups and self._hints.integers and self.random.random() < 0.3:
            group, near = self.random.choice(groups), self.random.choice(self._hints.integers)
            number = str(max(0, near + self.random.choice((-1, 0, 1)))).zfill(len(group[0]))
            if len(number) == len(group[0]):
                return value[: group.start()] + number + value[group.end() :]
        return "".join(
            self._like(character) if self.random.random() < 0.4 else character for character in value
        )

    def _words(self, values: Sequence[str]) -> str:
        """Words of letters; as many as the texts have."""
        letters = sorted({character for text in values for character in text if character != " "}) or ["a"]
        if len(letters) > 3:
            letters += [letter for letter in "abcdexyz" if any(map(str.islower, letters))]
            letters += [letter for letter in "ABXY" if any(map(str.isupper, letters)) or self._other_case()]
        counts = [len(text.split(" ")) for text in values]
        sizes = [len(word) for text in values for word in text.split(" ")]
        known = [word for text in values for word in text.split(" ")]
        words = [
            self.random.choice(known)
            if self.random.random() < 0.3
            else self._of(letters, min(sizes), max(sizes) + _MORE)
            for _ in range(self.random.randint(min(counts), max(counts) + (max(counts) > 1)))
        ]
        if self.random.random() < 0.2 and all(words):
            word = words[0]
            words[0] = word + word[::-1]
        text = " ".join(words)
        if text and not self._letters and self.random.random() < 0.1:
            at = self.random.randrange(len(text))
            text = text[:at] + self.random.choice(" 1.") + text[at:]
        return text

    def _other_case(self) -> bool:
        """Whether letters of the other case may be drawn, which few functions do not take."""
        return not self._lower and self.random.random() < 0.2

    def _of(self, characters: Sequence[str], low: int, high: int) -> str:
        few = self.random.sample(characters, min(len(characters), self.random.randint(1, 6)))
        return "".join(self.random.choice(few) for _ in range(self.random.randint(low, high)))

    def _like(self, character: str) -> str:
        """Another character of the same class; a sign stays."""
        for letters in ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"):
            if character in letters:
                return self.random.choice(letters)
        return character

    def data(self, values: Sequence[bytes]) -> bytes:
        held = b"".join(values) or b"a"
        size = self.random.randint(min(map(len, values)), max(map(len, values)) + _MORE)
        return bytes(self.random.choice(held) for _ in range(size))

    def items(self, values: Sequence[list[Any]]) -> list[Any]:
        """A list, with what all of them have in common: sorted, distinct, of equally long lists."""
        pool = [item for value in values for item in value]
        if len({type(item) for item in pool}) >= _MIXED:
            pool += [True, None]  # of any type: a condition may take one for another
        lengths = [len(value) for value in values]
        least, most = min(lengths), max(lengths)
        size = self.random.randint(least, most + (_MORE if least < most else 0))
        if not pool:
            return []
        if all(type(item) is list for item in pool) and all(len({len(i) for i in v}) <= 1 for v in values):
            width = len(self.random.choice(pool))
            items = [self._sized(pool, width) for _ in range(size)]
        elif self.random.random() < 0.3:
            chosen = list(self.random.choice(values))
            items = self.random.sample(chosen, len(chosen)) if len(lengths) > 1 else chosen
            items = items[: max(least, size)]
        else:
            again = [self.draw(pool) for _ in range(2)] if self.random.random() < 0.2 else None
            items = [
                self.random.choice(again) if again else self.draw(pool, inside=True) for _ in range(size)
            ]
        if self.random.random() < 0.1:  # symmetric, which a random list hardly is
            items = [*items[: (len(items) + 1) // 2], *reversed(items[: len(items) // 2])]
        longest = [value for value in values if len(value) > 1]
        texts = [repr(item) for item in items]
        if (
            self._distinct
            and len(pool) >= 8
            and all(len(set(map(repr, value))) == len(value) for value in values)
        ):
            items = [item for at, item in enumerate(items) if texts[at] not in texts[:at]]
        if len(longest) > 2:
            items = _common_order(items, longest)
        return items if len(items) >= least else list(self.random.choice(values))

    def _sized(self, pool: Sequence[list[Any]], width: int) -> list[Any]:
        items = [item for value in pool for item in value]
        return [self.draw(items) for _ in range(width)] if items else []

    def fixed(self, values: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        if len({len(value) for value in values}) > 1:
            return tuple(self.items([list(value) for value in values]))
        return tuple(self.draw(column) for column in zip(*values, strict=True))

    def mapping(self, values: Sequence[dict[Any, Any]]) -> dict[Any, Any]:
        keys = [key for value in values for key in value]
        held = [item for value in values for item in value.values()]
        model = self.random.choice(values)
        if not held:
            return {}
        if len({tuple(value) for value in values}) == 1:
            return {key: self.draw([value[key] for value in values]) for key in model}
        size = self.random.randint(min(map(len, values)), max(map(len, values)))
        return {self.draw(keys): self.draw(held) for _ in range(size)} or model

    def group(self, values: Sequence[Any]) -> Any:
        ordered = [sorted(value, key=repr) for value in values]
        return type(values[0])(self.items(ordered))


_DRAWS: list[tuple[type, Any]] = [
    (bool, lambda source, _: source.random.random() < 0.5),
    (int, _Source.integer),
    (float, _Source.real),
    (str, _Source.text),
    (bytes, _Source.data),
    (list, _Source.items),
    (tuple, _Source.fixed),
    (dict, _Source.mapping),
    (set, _Source.group),
    (frozenset, _Source.group),
]


def _common_order(items: list[Any], longest: Sequence[list[Any]]) -> list[Any]:
    """The items in the order that all lists have, if they have one."""
    for backwards in (False, True):
        try:
            if all(value == sorted(value, reverse=backwards) for value in longest):
                return sorted(items, reverse=backwards)
        except TypeError:
            return items
    return items
