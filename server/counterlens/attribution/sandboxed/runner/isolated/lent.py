"""Operations of a program on objects that tests pass to it: call, iterate, and read public attributes.

Frames and other ways to reach all names, and the test framework, are closed: a mock can be called and has the
attributes that a test gave it, but only the tests have access to its records and set-up.
"""

from __future__ import annotations

import builtins
import sys
import types
import unittest

globals()["__builtins__"] = dict(vars(builtins))
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNSAFE = (
    types.FrameType,
    types.CodeType,
    types.ModuleType,
    types.TracebackType,
    unittest.TestCase,
    type,
    types.BuiltinFunctionType,
)
"""Types of values that are never passed to the program."""
FRAMEWORKS = ("unittest", "doctest", "bdb", "pytest", "_pytest", "pluggy")
_FRAMES = ("gi_frame", "cr_frame", "ag_frame", "tb_frame", "f_back", "__globals__")


def use(how: str, thing: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
    """Carry out the program's request on an object of the tests.

    Raises:
        AttributeError: the attribute is closed to the program.
        Exception: any exception of the object.
    """
    if how == "call":
        return thing(*arguments, **options)
    if how == "iter":
        return iter(thing)
    if how == "next":
        return next(thing)
    if how == "get":
        (name,) = arguments
        if type(name) is str and not name.startswith("_") and not _is_closed(thing, name):
            return getattr(thing, name)
    raise AttributeError("the program may not access this attribute of the tests")


def _is_closed(thing: Any, name: str) -> bool:
    kind = type(thing)
    if isinstance(thing, UNSAFE) or any(hasattr(kind, frame) for frame in _FRAMES):
        return True
    mock = sys.modules.get("unittest.mock")
    if mock is not None and isinstance(thing, mock.NonCallableMock):
        return name.startswith(("assert", "mock_")) or hasattr(mock.MagicMock, name)
    return any((base.__module__ or "").partition(".")[0] in FRAMEWORKS for base in kind.__mro__)
