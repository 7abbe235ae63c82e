"""Imports the runner in an interpreter that waits for programs, under the name that jobs ship it by.

Only our own modules and those of the standard library are imported here.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType
    from typing import Any

_FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
NAME = os.path.basename(_FOLDER)  # noqa: PTH119
_MODULES = (
    "runner.session",
    "call_log",
    "runner.script",
    "runner.unittest_cases",
)


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads our modules with the file names of a job, so that no message shows their source."""

    def get_code(self, fullname: str) -> Any:
        code = super().get_code(fullname)
        return code and _rename_file(code, NAME + self.get_filename(fullname)[len(_FOLDER) :])


class _Finder:
    """Finds our modules."""

    @staticmethod
    def find_spec(fullname: str, _path: object = None, _target: object = None) -> Any:
        """The spec of a module of ours; None for any other."""
        top, *parts = fullname.split(".")
        if top != NAME:
            return None
        path = os.path.join(_FOLDER, *parts)  # noqa: PTH118
        folder = [path] if os.path.isdir(path) else None  # noqa: PTH112
        file = os.path.join(path, "__init__.py") if folder else f"{path}.py"  # noqa: PTH118
        return importlib.util.spec_from_file_location(
            fullname, file, loader=_Loader(fullname, file), submodule_search_locations=folder
        )


def _rename_file(code: CodeType, file: str) -> CodeType:
    """The same code with another file name."""
    parts = [_rename_file(part, file) if type(part) is type(code) else part for part in code.co_consts]
    return code.replace(co_filename=file, co_consts=tuple(parts))


def import_runner(more: Sequence[str] = ()) -> list[ModuleType]:
    """Import the modules of every run, and return `more` of this package."""
    sys.meta_path.insert(0, _Finder)
    try:
        for name in _MODULES:
            importlib.import_module(f"{NAME}.{name}")
        modules = [importlib.import_module(f"{NAME}.{name}") for name in ("imported_ahead", *more)]
    finally:
        sys.meta_path.remove(_Finder)
    ahead, *others = modules
    ahead.remember()
    return others


import_runner()
