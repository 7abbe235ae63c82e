"""Inputs as values that can be written as Python, and simplified."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import chain, repeat, zip_longest
from typing import Any

from counterlens.judging.comparison import comparable, show

_FUNCTIONS = {"function", "method", "builtin_function_or_method", "type"}


@dataclass(frozen=True)
class Hints:
    """Values that the code suggests.

    Attributes:
        integers, floats, strings: The literals of the function, and values in calls of it.
    """

    integers: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()
    strings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Built:
    """A value built by an expression: `Point(1, y=2)`, `Color.RED`, `iter([1])`.

    Attributes:
        name: The callee, or the text if `arguments` is None.
        arguments: Pairs of keyword and value; the keyword is empty for a positional argument.
    """

    name: str
    arguments: tuple[tuple[str, Any], ...] | None = None


@dataclass(frozen=True, slots=True)
class Remade:
    """A recorded value that no expression builds, such as an object with its attributes.

    Attributes:
        form: The value as `sandboxed/recorder/structure.py` encodes it, as JSON.
        shown: The value as text.
    """

    form: str
    shown: str

    @classmethod
    def of(cls, form: Any) -> Remade:
        """The value of a form.

        Raises:
            ValueError: it contains something that cannot be made again.
        """
        if not comparable(form):
            raise ValueError("it contains a function, a file or the like")
        return cls(json.dumps(form), show(form))


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes:
        positional, named: Its arguments.
        variables: Variables of the environment that it needs.
        steps: If it makes an object, the calls of the object's methods that follow, with their names.
    """

    positional: tuple[Any, ...]
    named: tuple[tuple[str, Any], ...] = ()
    variables: tuple[tuple[str, str | None], ...] = ()
    steps: tuple[tuple[str, Call], ...] = ()

    def written(self, target: str) -> str:
        """The call as Python text."""
        texts = [write(value) for value in self.positional]
        texts += [f"{name}={write(value)}" for name, value in self.named]
        context = ", ".join(f"{name}={value!r}" for name, value in self.variables)
        steps = "".join(f"; {call.written('.' + method)}" for method, call in self.steps)
        return f"{target}({', '.join(texts)}){steps}" + (f"  # with {context}" if context else "")

    def task(self) -> Mapping[str, Any]:
        """The call in the form of `sandboxed/recorder/calls.py`."""
        positional, named = _codes(self)
        return {
            "a": positional,
            "k": named,
            "e": dict(self.variables),
            "m": [[method, *_codes(call)] for method, call in self.steps],
        }

    @property
    def size(self) -> tuple[int, int, str]:
        """A sort key: a smaller call is simpler."""
        text = self.written("")
        values = [*self.positional, *(value for _, value in self.named)]
        weight = sum(_weight(value) for value in values) + sum(call.size[0] + 1 for _, call in self.steps)
        return weight, len(text), text

    def with_value(self, place: int | str, value: Any) -> Call:
        """The call with another value of a positional argument, by index, or of a named one."""
        if isinstance(place, int):
            return replace(self, positional=(*self.positional[:place], value, *self.positional[place + 1 :]))
        named = tuple((name, value if name == place else old) for name, old in self.named)
        return replace(self, named=named)

    def simpler(self) -> Iterator[Call]:
        """Calls with one argument one step simpler, one keyword argument less, or one step less.

        The arguments take turns, so that a long one does not keep the others from it.
        """
        for at in range(len(self.steps)):
            if len(self.steps) > 1:
                yield replace(self, steps=(*self.steps[:at], *self.steps[at + 1 :]))
        for at in range(len(self.named)):
            yield replace(self, named=(*self.named[:at], *self.named[at + 1 :]))
        places: list[tuple[int | str, Any]] = [*enumerate(self.positional), *self.named]
        turns = zip_longest(*(zip(repeat(place), simpler(value)) for place, value in places))
        for place, less in filter(None, chain.from_iterable(turns)):
            yield self.with_value(place, less)


def _codes(call: Call) -> tuple[list[str], dict[str, str]]:
    return [_code(value) for value in call.positional], {name: _code(value) for name, value in call.named}


def _code(value: Any) -> str:
    """A value as an expression that the sandbox evaluates."""
    return f"__remade__({value.form!r})" if isinstance(value, Remade) else write(value)


def write(value: Any) -> str:
    """A value as a Python expression; one that none builds, roughly."""
    if isinstance(value, Remade):
        return value.shown
    if isinstance(value, Built):
        if value.arguments is None:
            return value.name
        inner = (
            f"{name}={write(argument)}" if name else write(argument) for name, argument in value.arguments
        )
        return f"{value.name}({', '.join(inner)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, list):
        return f"[{', '.join(map(write, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(write, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, frozenset):
        return f"frozenset({write(set(value)) if value else ''})"
    if isinstance(value, set):
        return f"{{{', '.join(sorted(map(write, value)))}}}" if value else "set()"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{write(key)}: {write(item)}" for key, item in value.items()) + "}"
    return repr(value)


@singledispatch
def simpler(value: Any) -> Iterator[Any]:  # noqa: ARG001 - a type without simpler values
    """Values one step simpler than the given one, the largest steps first."""
    return iter(())


@simpler.register
def _(value: bool) -> Iterator[Any]:
    if value:
        yield False


@simpler.register(list)
@simpler.register(tuple)
def _(value: Any) -> Iterator[Any]:
    yield from _shorter(value)
    for at, item in enumerate(value):
        for less in simpler(item):
            yield type(value)([*value[:at], less, *value[at + 1 :]])


@simpler.register
def _(value: bytes) -> Iterator[Any]:
    yield from _shorter(value)


@simpler.register
def _(value: str) -> Iterator[Any]:
    yield from _shorter(value)
    for at, character in enumerate(value):
        if character not in "a0 ":
            yield value[:at] + ("0" if character.isdigit() else "a") + value[at + 1 :]


@simpler.register(set)
@simpler.register(frozenset)
def _(value: Any) -> Iterator[Any]:
    for item in sorted(value, key=write):
        yield type(value)(other for other in value if other is not item)


@simpler.register(dict)
def _(value: Any) -> Iterator[Any]:
    for key in value:
        yield {other: item for other, item in value.items() if other != key}
    for key, item in value.items():
        for less in simpler(item):
            yield {**value, key: less}


@simpler.register
def _(value: Built) -> Iterator[Any]:
    given = value.arguments or ()
    for at, (name, item) in enumerate(given):
        for less in simpler(item):
            yield replace(value, arguments=(*given[:at], (name, less), *given[at + 1 :]))


@simpler.register
def _(value: int) -> Iterator[Any]:
    for less in (0, 1, value // 2 if value > 0 else -(-value // 2), value - 1 if value > 0 else value + 1):
        if abs(less) < abs(value):
            yield less
    if value < 0:
        yield -value


@simpler.register
def _(value: float) -> Iterator[Any]:
    for less in (0.0, 1.0, float(int(value)) if math.isfinite(value) else 0.0, round(value, 1)):
        if (abs(less), len(repr(less))) < (abs(value), len(repr(value))):
            yield less
    if value < 0:
        yield -value


def _shorter(value: Any) -> Iterator[Any]:
    """A sequence without each of its halves, then each of its quarters, and at last each of its items.

    The last part goes first: what stays is the beginning.
    """
    size = len(value)
    while size:
        size = max(size // 2, 1)
        for at in reversed(range(0, len(value), size)):
            yield value[:at] + value[at + size :]
        if size == 1:
            return


def _weight(value: Any) -> int:
    if isinstance(value, list | tuple | set | frozenset):
        return 1 + sum(map(_weight, value))
    if isinstance(value, dict):
        return 1 + sum(_weight(key) + _weight(item) for key, item in value.items())
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Built):
        return 1 + sum(_weight(item) for _, item in value.arguments or ())
    return len(repr(value))


def recorded_call(forms: Any) -> Call | None:
    """A call from its recorded form; None if it cannot be made again."""
    try:
        positional = tuple(_value(form) for form in forms["v"])
        named = tuple((str(name), _value(form)) for name, form in forms["w"].items())
        variables = tuple((str(name), value) for name, value in (forms.get("e") or {}).items())
        steps = [(str(name), recorded_call({"v": v, "w": w})) for name, v, w in forms.get("m") or ()]
        usable_steps = tuple((name, call) for name, call in steps if call is not None)
        return Call(positional, named, variables, usable_steps)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, SyntaxError):
        return None


def _value(form: Any) -> Any:
    if isinstance(form, list) and form[0] == "?" and form[1] in _FUNCTIONS:
        return _CALLBACK
    try:
        if isinstance(form, list) and form[0] == "g":
            return Built("iter", (("", _all(form[1:])),))
        return _plain(form)
    except KeyError:
        return Remade.of(form)


def _plain(form: Any) -> Any:
    """The value of a form of literals and built-in containers.

    Raises:
        KeyError: it contains something else.
    """
    if not isinstance(form, list):
        return form
    return _READERS[form[0]](form[1:])


def _all(forms: Sequence[Any]) -> list[Any]:
    return [_plain(form) for form in forms]


_CALLBACK = Built("lambda *args: args[0] if args else None")
"""In place of any function that the tests pass: it must be called in the same way."""
_READERS: dict[str, Any] = {
    "i": lambda rest: int(rest[0], 16),
    "f": lambda rest: float.fromhex(rest[0]),
    "c": lambda rest: complex(float.fromhex(rest[0]), float.fromhex(rest[1])),
    "b": lambda rest: bytes.fromhex(rest[0]),
    "l": _all,
    "t": lambda rest: tuple(_all(rest)),
    "s": lambda rest: set(_all(rest)),
    "z": lambda rest: frozenset(_all(rest)),
    "d": lambda rest: {_plain(key): _plain(item) for key, item in rest},
}
