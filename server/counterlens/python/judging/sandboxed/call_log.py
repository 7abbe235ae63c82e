"""The calls of one function, or of objects of one class, that tests make in the process of the original.

They are recorded as plain values.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import sys

from .recorder.structure import ITEMS, Encoder, is_iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 80  # maximum recorded calls
_LARGEST = 4000  # maximum characters of the values of one call
_STEPS = 20  # maximum calls of methods of one object
_OPERATORS = {"__add__", "__call__", "__contains__", "__eq__", "__getitem__", "__iter__", "__len__", "__lt__",
              "__next__", "__repr__", "__setitem__", "__str__", "__sub__"}  # fmt: skip


class CallLog:
    """Replaces a function, or what makes and uses the objects of a class, to record the outermost calls.

    Args:
        target: Its dotted path in the module.

    Attributes:
        calls: `{"v": [forms], "w": {name: form}}`, as `structure` encodes values, and `"e": {name: text or
            null}` if tests have set variables of the environment; each distinct call once. For a class, one
            for each object, with `"m": [[method, forms, {name: form}], …]`, the calls of its methods.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._texts: set[str] = set()
        self._running = False
        self._objects: dict[int, dict[str, Any]] = {}
        self._environment: dict[str, str] = {}
        self.calls: list[dict[str, Any]] = []

    def install(self, module: Any) -> None:
        """Replace the function in a module that has just been imported."""
        self._environment = dict(os.environ)
        *above, name = self._target.split(".")
        owner = module
        for part in above:
            owner = getattr(owner, part, None)
        held = vars(owner).get(name) if owner is not None else None
        if name == "__new__" or held is None:
            return
        kind = type(held)
        if isinstance(held, type):
            self._watch(held)
        elif kind in (staticmethod, classmethod):
            setattr(owner, name, kind(self._recorded(held.__func__, kind is classmethod)))
        elif hasattr(held, "__code__"):
            setattr(owner, name, self._recorded(held, name == "__init__" and bool(above)))

    def _recorded(self, function: Any, without_first: bool) -> Any:
        @functools.wraps(function)
        def record(*positional: Any, **named: Any) -> Any:
            if self._running or len(self.calls) >= _MOST:
                return function(*positional, **named)
            self._running = True
            try:
                positional = self._add(positional, named, without_first)
                return function(*positional, **named)
            finally:
                self._running = False

        return record

    def _watch(self, kind: Any) -> None:
        """Record how the objects of a class are made and used."""
        enum = sys.modules.get("enum")
        if enum is not None and issubclass(kind, enum.Enum):
            self.calls += [{"v": [_encode(member.value)], "w": {}, "m": []} for member in kind]
            return
        held = dict(vars(kind))
        maker = "__init__" if hasattr(held.get("__init__"), "__code__") else "__new__"
        for name, value in held.items():
            function = value.__func__ if name == "__new__" and type(value) is staticmethod else value
            if not hasattr(function, "__code__"):
                continue
            if name == maker:
                made = self._maker(kind, function, name == "__new__")
                setattr(kind, name, staticmethod(made) if name == "__new__" else made)
            elif name[:2] != "__" or name in _OPERATORS:
                setattr(kind, name, self._method(kind, name, function))

    def _maker(self, kind: Any, function: Any, creates: bool) -> Any:
        @functools.wraps(function)
        def make(first: Any, *positional: Any, **named: Any) -> Any:
            own = first is kind if creates else type(first) is kind
            if self._running or not own or len(self.calls) >= _MOST:
                return function(first, *positional, **named)
            self._running = True
            try:
                positional, shown = _shown(positional)
                call = {"v": shown, "w": {name: _encode(value) for name, value in named.items()}, "m": []}
                result = function(first, *positional, **named)
            finally:
                self._running = False
            if len(json.dumps(call)) <= _LARGEST:
                self._objects[id(result if creates else first)] = call
                self.calls.append(call)
            return result

        return make

    def _method(self, kind: Any, method: str, function: Any) -> Any:
        @functools.wraps(function)
        def record(this: Any, *positional: Any, **named: Any) -> Any:
            call = self._objects.get(id(this))
            if self._running or call is None or type(this) is not kind or len(call["m"]) >= _STEPS:
                return function(this, *positional, **named)
            self._running = True
            try:
                positional, shown = _shown(positional)
                step = [method, shown, {name: _encode(value) for name, value in named.items()}]
                if len(json.dumps(step)) <= _LARGEST:
                    call["m"].append(step)
                return function(this, *positional, **named)
            finally:
                self._running = False

        return record

    def _add(self, positional: Any, named: dict[str, Any], without_first: bool) -> Any:
        passed, shown = _shown(positional)
        call = {
            "v": shown[1:] if without_first else shown,
            "w": {name: _encode(value) for name, value in named.items()},
        }
        variables = self._variables()
        if variables:
            call["e"] = variables
        text = json.dumps(call)
        if text not in self._texts and len(text) <= _LARGEST:
            self._texts.add(text)
            self.calls.append(call)
        return passed

    def _variables(self) -> dict[str, str | None]:
        """The variables of the environment that have changed since the start; null for a deleted one."""
        before, now = self._environment, dict(os.environ)
        names = sorted(name for name in {*before, *now} if name[:6] != "PYTEST")
        return {name: now.get(name) for name in names if before.get(name) != now.get(name)}


def _shown(values: Any) -> tuple[Any, list[Any]]:
    """Some arguments, with iterators that have been looked into replaced, and their forms."""
    passed, shown = [], []
    for value in values:
        if is_iterator(value):
            items = list(itertools.islice(value, ITEMS))
            passed.append(itertools.chain(items, value))
            shown.append(["g", *[Encoder(pull=False).encode(item) for item in items]])
        else:
            passed.append(value)
            shown.append(_encode(value))
    return tuple(passed), shown


def _encode(value: Any) -> Any:
    """The form of an argument; whatever can be called is a function."""
    return ["?", "function"] if callable(value) else Encoder(pull=False).encode(value)
