"""The operators of the program's objects that tests can use, and those that let the program decide.

The tests' process has only plain values. The program decides the behaviour of its own objects under
operators: an object whose `__sub__` returns 0.0 is close to everything.
"""

from __future__ import annotations

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift",
           "rshift")  # fmt: skip
ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
COMMANDS = ("__enter__", "__setitem__", "__delitem__")
"""Operations that change an object instead of reading it."""
TEXTS = ("__str__", "__repr__")
"""A text gives the program no more influence than a plain one; it is requested in one call."""
QUESTIONS = (
    "__len__", "__getitem__", "__contains__", "__reversed__", "__int__", "__float__", "__index__",
    "__complex__", "__abs__", "__neg__", "__pos__", "__invert__", "__round__", "__bool__", "__format__",
    "__bytes__", "__fspath__",
    *(f"__{side}{name}__" for side in ("", "r", "i") for name in _BINARY),
    *ORDER,
)  # fmt: skip
"""Operations by which a program influences the result of its tests."""
OPERATORS = ("__call__", "__iter__", "__next__", "__exit__", "__eq__", *COMMANDS, *TEXTS, *QUESTIONS)
"""All special methods of the program's classes that the tests can use."""

_ASKED = ("all", "any", "count", "difference", "endswith", "equals", "find", "index", "intersection", "rfind",
          "rindex", "startswith", "symmetric_difference")  # fmt: skip
ANSWERS = frozenset(
    {*_ASKED, *(name for kind in (str, bytes, set, float) for name in dir(kind) if name.startswith("is"))}
)
"""Methods of built-in types that check a value, as operators do: the expected answer is an argument."""
