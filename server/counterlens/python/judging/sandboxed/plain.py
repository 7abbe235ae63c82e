"""Plain values as JSON: the type is exactly a built-in one, or one of a few of the standard library.

| value | form |
|---|---|
| None, a bool, a str, an int below 2^53 | itself |
| another int, float, complex, bytes | `["i", hex]`, `["f", hex]`, `["c", hex, hex]`, `["b", hex]` |
| a built-in class, `...`, `NotImplemented` | `["type", name]`, `["single", name]` |
| a range, slice, bytearray, Decimal, Fraction, moment, UUID or path | `["m", class, part, …]` |

A form decodes to a real value of that type, and nothing in it is ever executed: no pickles, and no classes
except these. Containers and objects are not plain; the caller encodes them.
"""

from __future__ import annotations

import builtins
import importlib
import sys

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NOT_PLAIN: Any = object()
_SHORT = 1 << 53
_SINGLE = {"...": Ellipsis, "NotImplemented": NotImplemented}
_BUILTIN_TYPES = {value: name for name, value in vars(builtins).items() if type(value) is type}
_FROM_TEXT = {"bytearray": "fromhex", "datetime": "fromisoformat", "time": "fromisoformat"}


def _write(value: Any) -> list[Any]:
    return [str(value)]


def _bounds(value: Any) -> list[Any]:
    return [value.start, value.stop, value.step]


# Class name to module, and the function that gives the parts of a value.
_CLASSES: dict[str, tuple[str, Callable[[Any], list[Any]]]] = {
    "range": ("builtins", _bounds),
    "slice": ("builtins", _bounds),
    "bytearray": ("builtins", lambda value: [value.hex()]),
    "Decimal": ("decimal", _write),
    "Fraction": ("fractions", lambda value: [value.numerator, value.denominator]),
    "date": ("datetime", lambda value: [value.year, value.month, value.day]),
    "datetime": ("datetime", lambda value: [value.isoformat()]),
    "time": ("datetime", lambda value: [value.isoformat()]),
    "timedelta": ("datetime", lambda value: [value.days, value.seconds, value.microseconds]),
    "UUID": ("uuid", lambda value: [value.hex]),
    **dict.fromkeys(("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"), ("pathlib", _write)),
}
_kinds: dict[Any, str] = {}
_makers: dict[str, Callable[..., Any]] = {}


def _take(name: str, module: Any) -> Any:
    """A class of a standard module; None if a module of the user shadows that module."""
    kind: Any = getattr(module, name, None)
    if kind is not None:
        _kinds[kind] = name
        _makers[name] = getattr(kind, _FROM_TEXT[name]) if name in _FROM_TEXT else kind
    return kind


def _name_of(kind: Any) -> str | None:
    """The local name of a class, if it is one of those; a class with an instance is always loaded."""
    name: str = kind.__name__
    if kind not in _kinds and name in _CLASSES:
        module = sys.modules.get(_CLASSES[name][0])
        if getattr(module, name, None) is kind:
            _take(name, module)
    return _kinds.get(kind)


def encode(value: Any) -> Any:
    """The form of a plain value; `NOT_PLAIN` for any other."""
    kind: Any = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -_SHORT < value < _SHORT else ["i", hex(value)]
    if kind is float:
        return ["f", value.hex()]
    if kind is complex:
        return ["c", value.real.hex(), value.imag.hex()]
    if kind is bytes:
        return ["b", value.hex()]
    if kind is type:
        return ["type", _BUILTIN_TYPES[value]] if value in _BUILTIN_TYPES else NOT_PLAIN
    if value is Ellipsis or value is NotImplemented:
        return ["single", "..." if value is Ellipsis else "NotImplemented"]
    name = _name_of(kind)
    if name is None or (name in ("datetime", "time") and not _is_simple(value.tzinfo)):
        return NOT_PLAIN
    parts = [encode(part) for part in _CLASSES[name][1](value)]
    return NOT_PLAIN if NOT_PLAIN in parts else ["m", name, *parts]


def decode(form: Any) -> Any:
    """The value of a form.

    Raises:
        ValueError, TypeError, KeyError, IndexError: not the form of a plain value.
    """
    if form is None or type(form) in (bool, str, int):
        return form
    head, *rest = form
    return DECODERS[head](*rest)


def _builtin_type(name: str) -> type:
    kind = vars(builtins)[name]
    if not isinstance(kind, type):
        raise TypeError(f"{name} is no type")
    return kind


def _make(name: str, *parts: Any) -> Any:
    if name not in _makers:
        _take(name, importlib.import_module(_CLASSES[name][0]))
    return _makers[name](*[decode(part) for part in parts])


def _is_simple(zone: Any) -> bool:
    """Whether the text of a moment fully describes its time zone."""
    return zone is None or zone is sys.modules["datetime"].timezone.utc


DECODERS: dict[str, Callable[..., Any]] = {
    "i": lambda text: int(text, 16),
    "f": float.fromhex,
    "c": lambda real, imaginary: complex(float.fromhex(real), float.fromhex(imaginary)),
    "b": bytes.fromhex,
    "type": _builtin_type,
    "single": _SINGLE.__getitem__,
    "m": _make,
}
"""Functions that decode a form that is a list, by its first element."""
