"""The tests beside a Java file, found by name: classes with a `main` that throws where a method is wrong.

Of `Stack.java` they are `StackTest.java`, `StackTests.java`, `TestStack.java` or `TestMain.java`, in the same
folder, or in the folder of `src/test/java` that corresponds to one of `src/main/java`. Only a file that names
the method is taken, and the first of these judges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from counterlens.attribution.base import Setting
from counterlens.attribution.java.judge import ID, JavaTestsJudge
from counterlens.attribution.java.stand_ins import read_tests
from counterlens.attribution.sandboxed.recorder.exclusion import is_excluded
from counterlens.errors import SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.text import decode

__all__ = ["ID", "UNTESTED", "find"]

UNTESTED = (
    "no class beside it has a `main` that names it (of `Stack.java`: StackTest.java, TestStack.java or "
    "TestMain.java, there or in src/test/java)"
)
_LARGEST = 1 << 20


def find(document: Document, function: Function, setting: Setting) -> JavaTestsJudge | None:
    """The judge by the tests beside a file; None where none names the function."""
    if document.path is None:
        return None
    named = re.compile(rf"\b{re.escape(function.name)}\b")
    for path in files_beside(document.path.absolute()):
        if is_excluded(setting.excluded, path.name):
            continue
        text = _text(path)
        if text is not None and named.search(text):
            tests = read_tests(text, document.text)
            if tests.can_fail and not tests.foreign:
                return JavaTestsJudge(text, document.text, setting)
    return None


def files_beside(path: Path) -> Iterator[Path]:
    """The files that are there, in the order tried."""
    name = path.stem
    for folder in _folders(path.parent):
        for test in (f"{name}Test", f"{name}Tests", f"Test{name}", "TestMain"):
            found = folder / f"{test}.java"
            if found != path and found.is_file():
                yield found


def _folders(folder: Path) -> Iterator[Path]:
    yield folder
    parts = folder.parts
    for at in range(len(parts) - 3, -1, -1):
        if parts[at : at + 3] == ("src", "main", "java"):
            yield Path(*parts[:at], "src", "test", "java", *parts[at + 3 :])
            return


def _text(path: Path) -> str | None:
    try:
        data = path.read_bytes()
        return decode(data, str(path)).text if len(data) <= _LARGEST else None
    except (OSError, SourceError):
        return None
