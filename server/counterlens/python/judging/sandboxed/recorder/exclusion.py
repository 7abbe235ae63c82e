"""Excluded tests: patterns over their names. Used inside and outside of the sandbox."""

from __future__ import annotations

from fnmatch import fnmatchcase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

REASON = "it is excluded by the settings"
"""Why an excluded test does not judge."""


def is_excluded(patterns: Iterable[str], file: str, item: str = "") -> bool:
    """Whether a test, or a whole file of tests, is excluded.

    A pattern is a file, a folder or a glob, relative to the project. `::` and a test, a class or a glob limit
    it to a part of the file. A test without parameters matches with any parameters.

    Args:
        patterns: Such as `tests/network/*`, `tests/test_slow.py::test_all`.
        file: The file, relative to the project, with slashes.
        item: The test's pytest id after the file; empty for the whole file.
    """
    for pattern in patterns:
        of_file, separator, of_item = pattern.partition("::")
        folder = of_file.rstrip("/") + "/"
        if file != of_file and not file.startswith(folder) and not fnmatchcase(file, of_file):
            continue
        if not separator or (item and _is_of(of_item, item)):
            return True
    return False


def _is_of(pattern: str, item: str) -> bool:
    plain = item.partition("[")[0]
    return pattern in {item, plain} or plain.startswith(f"{pattern}::") or fnmatchcase(plain, pattern)
