"""The calls of one function that tests make, recorded as plain values in the process of the original."""

from __future__ import annotations

import functools
import itertools
import json
import os

from .recorder.structure import ITEMS, Encoder, is_iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 80  # maximum recorded calls
_LARGEST = 4000  # maximum characters of the values of one call


class CallLog:
    """Replaces a function by one that records the arguments of its outermost calls.

    Args:
        target: Its dotted path in the module.

    Attributes:
        calls: `{"v": [forms], "w": {name: form}}`, as `structure` encodes values, and `"e": {name: text or
            null}` if tests have set variables of the environment; each distinct call once.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._known: set[str] = set()
        self._running = False
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
        if kind in (staticmethod, classmethod):
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

    def _add(self, positional: Any, named: dict[str, Any], without_first: bool) -> Any:
        passed, shown = [], []
        for value in positional:
            if is_iterator(value):
                items = list(itertools.islice(value, ITEMS))
                passed.append(itertools.chain(items, value))
                shown.append(["g", *[Encoder(pull=False).encode(item) for item in items]])
            else:
                passed.append(value)
                shown.append(_encoded(value))
        call = {
            "v": shown[1:] if without_first else shown,
            "w": {name: _encoded(value) for name, value in named.items()},
        }
        variables = self._variables()
        if variables:
            call["e"] = variables
        text = json.dumps(call)
        if text not in self._known and len(text) <= _LARGEST:
            self._known.add(text)
            self.calls.append(call)
        return tuple(passed)

    def _variables(self) -> dict[str, str | None]:
        """The variables of the environment that have changed since the start; null for a deleted one."""
        before, now = self._environment, dict(os.environ)
        names = sorted(name for name in {*before, *now} if name[:6] != "PYTEST")
        return {name: now.get(name) for name in names if before.get(name) != now.get(name)}


def _encoded(value: Any) -> Any:
    """The form of an argument; whatever can be called is a function."""
    return ["?", "function"] if callable(value) else Encoder(pull=False).encode(value)
