"""Compiled files of a project, stored in a folder that programs can read but not write.

A file is looked up by its path, modification time and size, so a changed file is compiled as usual.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib.machinery
import importlib.util
import marshal
import os

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

PLAIN = ""
_MAGIC = importlib.util.MAGIC_NUMBER.hex()


def rewritten_by(pytest_version: str) -> str:
    """The form name of a test file whose assertions a version of pytest has rewritten."""
    return f"pytest {pytest_version}"


def name_of(path: str, form: str) -> str:
    """The name under which one form of a file is stored, from its path and state.

    Raises:
        OSError: there is no such file.
    """
    status = os.stat(path)  # noqa: PTH116
    which = hashlib.sha256(f"{path}\0{form}\0{_MAGIC}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return f"{which}-{status.st_mtime_ns}-{status.st_size}"


class KeptCode:
    """The folder of compiled files.

    Args:
        folder: Its path; empty for none.
        project: Only files below this folder are looked up.
    """

    def __init__(self, folder: str, project: str) -> None:
        self._folder, self._project = folder, os.path.join(project, "")  # noqa: PTH118

    def install(self, is_replaced: Callable[[str], bool]) -> None:
        """Make imports use the stored code of files, except of a file that a program replaces."""
        if not self._folder:
            return
        loader: Any = importlib.machinery.SourceFileLoader
        get_code = loader.get_code

        def kept_code(this: Any, fullname: str) -> Any:
            path = this.get_filename(fullname)
            code = None if is_replaced(path) else self.of(path)
            return get_code(this, fullname) if code is None else code

        loader.get_code = kept_code

    def of(self, path: str, form: str = PLAIN) -> CodeType | None:
        """A file's code; None if its present state is not stored."""
        if not self._folder or not path.startswith(self._project):
            return None
        try:
            with open(os.path.join(self._folder, name_of(path, form)), "rb") as file:  # noqa: PTH118, PTH123
                code = marshal.loads(file.read())  # noqa: S302 - compiled by us, out of the programs' reach
        except (OSError, ValueError, EOFError, TypeError):
            return None
        return code if type(code) is type(name_of.__code__) else None
