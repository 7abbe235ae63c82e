"""Tamper check: has the candidate replaced functions of builtins, unittest or pytest that decide outcomes?"""

from __future__ import annotations

import builtins
import sys
import types

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DECISIVE = (
    "builtins",
    "unittest.case",
    "unittest.result",
    "unittest.suite",
    "_pytest.outcomes",
    "_pytest.python",
    "_pytest.python_api",
    "_pytest.raises",
    "_pytest.recwarn",
    "_pytest.reports",
    "_pytest.runner",
    "_pytest.unittest",
)
_DECISIVE_PACKAGE = "pluggy."
_MEMBERS = (property, classmethod, staticmethod, types.FunctionType)


class Snapshot:
    """The state of the deciding names at one time: their values, and the namespaces they are looked up in.

    Attributes:
        entries: For each name its namespace, the name, the value, the code of a function, and the owner.
    """

    def __init__(self, modules: dict[str, types.ModuleType], ours: Sequence[type]) -> None:
        self.modules = modules
        self.entries: list[tuple[Mapping[str, object], str, object, object, str]] = []
        for name, module in modules.items():
            space = vars(module)
            for key, value in list(space.items()):
                if callable(value):
                    self._add(space, key, value, name)
                if isinstance(value, type) and value.__module__ == name and name != "builtins":
                    members = vars(value)
                    for attribute, member in list(members.items()):
                        if isinstance(member, _MEMBERS):
                            self._add(members, attribute, member, f"{name}.{key}")
        for value in ours:
            for attribute, member in list(vars(value).items()):
                if isinstance(member, _MEMBERS):
                    self._add(vars(value), attribute, member, value.__name__)

    def _add(self, space: Mapping[str, object], key: str, value: object, owner: str) -> None:
        code = value.__code__ if isinstance(value, types.FunctionType) else None
        self.entries.append((space, key, value, code, owner))

    def replaced(self) -> str | None:
        """The first name whose value has changed since; None if there is none."""
        for name, module in self.modules.items():
            if sys.modules.get(name) is not module:
                return name
        for space, key, value, code, owner in self.entries:
            if space.get(key) is not value:
                return f"{owner}.{key}"
            if code is not None and value.__code__ is not code:  # type: ignore[attr-defined]
                return f"{owner}.{key}"
        return None


class TamperCheck:
    """Compares the deciding functions before and after the candidate ran.

    Args:
        ours: Classes of the runner that are compared, too.

    Attributes:
        broken: The first function that changed, if any.
    """

    def __init__(self, ours: Sequence[type] = ()) -> None:
        self.broken: str | None = None
        self._ours = ours
        self._last: Snapshot | None = None

    def take(self) -> Snapshot:
        """A snapshot of the present state; the last one if nothing has changed since."""
        inner = [name for name in list(sys.modules) if name.startswith(_DECISIVE_PACKAGE)]
        loaded = {name: sys.modules.get(name) for name in (*_DECISIVE, *inner)}
        modules = {name: module for name, module in loaded.items() if module}
        if self._last is None or self._last.modules != modules or self._last.replaced() is not None:
            self._last = Snapshot(modules, self._ours)
        return self._last

    def compare(self, before: Snapshot) -> None:
        """Record the first name that changed."""
        if self.broken is None:
            self.broken = before.replaced()
