"""Track the program's results and changes through the tests, by their source.

`for v in f(3): assert v == 6`, `all(…)`, `zip(…)` and `next(…)` in a `map` succeed with an empty result.
Calls in the iterable, and assignments to its names in the same function, flow into a loop. And
`f(xs) == sorted(xs)` succeeds if the program empties `xs`. Only an empty value, and a call that changed its
arguments, is ever looked up.
"""

from __future__ import annotations

import builtins
import collections
import hashlib
import linecache
import os
import re
import sys

from .places import TestPlaces
from .sources import position_of

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence
    from types import CodeType, FrameType
    from typing import Any

    from .assertions import Assertions
    from .sources import Span

SIZED = (list, tuple, set, frozenset, dict, str, bytes, bytearray, range, collections.deque,
          collections.OrderedDict, collections.Counter)  # fmt: skip
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep  # noqa: PTH100, PTH120
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_known_files: dict[str, bool] = {}  # whether code of a file is of the tests
OURS = __name__.partition(".")[0] + "."
_TYPED = ("<example ", "<doctest ")  # files of examples in docstrings


def is_hollow(value: Any) -> bool:
    """Whether a loop over a plain value, or over a part of a tuple, would have no iteration."""
    if value is None or (type(value) is int and value == 0):  # a `range` may be built from it
        return True
    kind = type(value)
    return kind in SIZED and (not value or (kind is tuple and any(map(is_hollow, value))))


class Flows:
    """The texts of the tests, by their files.

    Args:
        texts: Texts of tests without a file.
        files: The files of the others.
        known: `facts` of an earlier run with the same tests.
    """

    def __init__(
        self, texts: dict[str, str], files: Sequence[str] = (), known: dict[str, Any] | None = None
    ) -> None:
        self._texts, self._facts = texts, known or {}
        self._files = files
        self._places: dict[str, TestPlaces] = {}
        self._known: dict[tuple[int, int, str], bool] = {}
        self._codes: dict[int, CodeType] = {}  # kept, as others would get their numbers

    def is_at(self, kind: str) -> bool:
        """Whether the current request to the program is made at a place of this kind; see `TestPlaces`."""
        frame = tests_frame()
        return frame is not None and self._is_in(frame, kind)

    def _is_in(self, frame: FrameType, kind: str) -> bool:
        place = id(frame.f_code), frame.f_lasti, kind  # the hash of a code object takes long
        if place not in self._known:
            self._codes[id(frame.f_code)] = frame.f_code
            at = position_of(frame.f_code, frame.f_lasti, frame.f_lineno)
            spans = self._of(frame.f_code.co_filename).near(kind, at[0])
            self._known[place] = any(_within(at, span) for span in spans)
        return self._known[place]

    def is_under(self, kind: str) -> bool:
        """Whether any running frame of the tests is at a place of this kind."""
        frame: Any = sys._getframe(1)
        while frame is not None:
            if is_of_tests(frame) and self._is_in(frame, kind):
                return True
            frame = frame.f_back
        return False

    def unmade(self) -> list[ast.expr]:
        """The evaluated conditions of the tests none of whose assertions was made."""
        return [condition for places in self._places.values() for condition in places.assertions.unmade()]

    def is_looped(self, name: str) -> bool:
        """Whether the tests loop over a value with this name."""
        return any(name in self._of(file).looped for file in {*self._texts, *self._files})

    def asserts(self, code: CodeType) -> bool:
        """Whether a function of the tests asserts something."""
        name = code.co_filename
        return is_test_file(name) and code.co_firstlineno in self._of(name).checks

    def assertions(self, frame: FrameType) -> Assertions | None:
        """The assertions in the file of a frame; None if the frame is not of the tests."""
        return self._of(frame.f_code.co_filename).assertions if is_of_tests(frame) else None

    def is_asserting(self, case: str) -> bool:
        """Whether a case, named by file, class and function, has an assertion in its source."""
        _, found, name = case.rpartition("::")
        name = name.partition("[")[0] if found else ""
        return any(name in self._of(file).assertions.names for file in {*self._texts, *self._files})

    def mention(self, pattern: str) -> bool:
        """Whether the text of the tests matches a pattern, ignoring case."""
        texts = map(self._text_of, {*self._texts, *self._files})
        return any(re.search(pattern, text, re.IGNORECASE) for text in texts)

    def _text_of(self, name: str) -> str:
        text = self._texts.get(name)
        return "".join(linecache.getlines(name)) if text is None else text

    def _of(self, name: str) -> TestPlaces:
        if name not in self._places:
            state, known = self._state_of(name), self._facts.get(name)
            facts = known if known is not None and known["state"] == state else {"state": state}
            self._places[name] = TestPlaces(lambda: self._text_of(name), facts)
        return self._places[name]

    def _state_of(self, name: str) -> list[Any]:
        """What identifies the content of a file of tests, as for other runs with it."""
        text = self._texts.get(name)
        if text is not None:
            return [hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()]
        try:
            found = os.stat(name)  # noqa: PTH116
        except (OSError, ValueError):
            return [hashlib.sha256(self._text_of(name).encode("utf-8", "replace")).hexdigest()]
        return [found.st_mtime_ns, found.st_size]

    @property
    def facts(self) -> dict[str, Any] | None:
        """What has been found in the tests, for other runs with them; None if nothing is new."""
        if not any(places.grown for places in self._places.values()):
            return None
        return {**self._facts, **{name: places.facts for name, places in self._places.items()}}


def tests_frame() -> FrameType | None:
    """The innermost frame of the tests: neither ours nor of a library."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if is_of_tests(frame):
            found: FrameType = frame
            return found
        frame = frame.f_back
    return None


def is_of_tests(frame: FrameType) -> bool:
    """Whether a frame is of the tests: neither ours nor of a library."""
    name = frame.f_code.co_filename
    if name not in _known_files:
        _known_files[name] = is_test_file(name)
    return _known_files[name] and not str(frame.f_globals.get("__name__", "")).startswith(OURS)


def is_test_file(name: str) -> bool:
    """Whether code of this file is of the tests: neither ours nor of a library."""
    if name.startswith("<"):
        return name.startswith(_TYPED)
    return not name.startswith(_STANDARD) and not any(folder in name for folder in _PACKAGES)


def _within(at: Span, span: Span) -> bool:
    if at[1] < 0:
        return span[0] <= at[0] <= span[2]
    if span[1] < 0:
        return (span[0], -1 - span[1], *span[2:]) == at
    return span[:2] <= at[:2] and at[2:] == span[2:]  # a method on a separate line starts there
