"""Tamper check: has the candidate replaced functions of builtins, unittest or pytest that tests rest on?"""

from __future__ import annotations

import builtins
import sys
import types

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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


class TamperCheck:
    """Compares the decisive functions before and after the candidate had its turn.

    Attributes:
        broken: The first of them that was not as before, if any.
    """

    def __init__(self) -> None:
        self.broken: str | None = None

    def take(self) -> dict[str, object]:
        """How things are now."""
        found: dict[str, object] = {}
        inner = [name for name in list(sys.modules) if name.startswith(_DECISIVE_PACKAGE)]
        for name in (*_DECISIVE, *inner):
            module = sys.modules.get(name)
            for key, value in list(vars(module).items()) if module else ():
                if callable(value):
                    found.update(_parts(f"{name}.{key}", value))
                if isinstance(value, type) and value.__module__ == name and name != "builtins":
                    for attribute, member in list(vars(value).items()):
                        if isinstance(member, _MEMBERS):
                            found.update(_parts(f"{name}.{key}.{attribute}", member))
        return found

    def compare(self, before: dict[str, object]) -> None:
        """Note what is no longer as it was."""
        after = self.take()
        for key, value in before.items():
            if self.broken is None and after.get(key) is not value:
                self.broken = key.partition(" ")[0]


class NoTamperCheck(TamperCheck):
    """For where the candidate is in another process, and can replace nothing here."""

    def take(self) -> dict[str, object]:
        """Nothing to compare."""
        return {}


def _parts(name: str, value: object) -> Iterator[tuple[str, object]]:
    yield name, value
    if isinstance(value, types.FunctionType):
        yield f"{name} code", value.__code__
