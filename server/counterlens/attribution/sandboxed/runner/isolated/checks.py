"""Track asserting functions of the tests that are passed to the program.

A program that does not call them, or swallows their failures, has not passed them.
"""

from __future__ import annotations

import builtins
import types

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any


class Checks:
    """The asserting functions that were passed to the program.

    Args:
        asserts: Whether a code object of the tests asserts something.
    """

    def __init__(self, asserts: Callable[[CodeType], bool]) -> None:
        self._asserts = asserts
        self._handed: list[frozenset[CodeType]] = []  # for each, the code objects of which one must be called
        self._called: set[CodeType] = set()
        self._failed: set[CodeType] = set()

    def hand_over(self, value: Any) -> None:
        """Record a value passed to the program."""
        code = _code_of(value)
        if code is not None:
            if self._asserts(code):
                self._handed.append(frozenset({code}))
            return
        members = [_code_of(member) for member in list(vars(type(value)).values())]
        codes = frozenset(code for code in members if code is not None)
        if any(map(self._asserts, codes)):
            self._handed.append(codes)

    def call(self, thing: Any) -> CodeType | None:
        """Record a call by the program; return the code object that runs, if it is of a function."""
        code = _code_of(thing) or _code_of(vars(type(thing)).get("__call__"))
        if code is not None:
            self._called.add(code)
            self._failed.discard(code)
        return code

    def fail(self, code: CodeType | None) -> None:
        """Record that a call failed."""
        if code is not None:
            self._failed.add(code)

    def take_failed(self) -> bool:
        """Whether a call has failed since the last time, and no later one passed."""
        failed, self._failed = bool(self._failed), set()
        return failed

    @property
    def unused(self) -> bool:
        """Whether one of them has never been called."""
        return any(codes.isdisjoint(self._called) for codes in self._handed)


def _code_of(value: Any) -> CodeType | None:
    """The code object of a function or a method, without its decorators."""
    if isinstance(value, (types.MethodType, staticmethod, classmethod)):
        value = value.__func__
    return value.__code__ if isinstance(value, types.FunctionType) else None
