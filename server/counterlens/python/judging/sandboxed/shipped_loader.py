"""Imports what jobs ship, in an interpreter that waits for programs, under the names that they ship it by."""

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
_PYTHON = os.path.dirname(os.path.dirname(_FOLDER))  # noqa: PTH120
_SHIPPED = {NAME: _FOLDER, "observers": os.path.join(_PYTHON, "execution", "observers.py")}  # noqa: PTH118


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads our modules with the file names of a job, so that no message shows their source."""

    def get_code(self, fullname: str) -> Any:
        code = super().get_code(fullname)
        above = os.path.dirname(_SHIPPED[fullname.partition(".")[0]])  # noqa: PTH120
        return code and _rename_file(code, self.get_filename(fullname)[len(above) + 1 :])


class _Finder:
    """Finds our modules."""

    @staticmethod
    def find_spec(fullname: str, _path: object = None, _target: object = None) -> Any:
        """The spec of a module of ours; None for any other."""
        top, *parts = fullname.split(".")
        if top not in _SHIPPED:
            return None
        path = os.path.join(_SHIPPED[top], *parts)  # noqa: PTH118
        folder = [path] if os.path.isdir(path) else None  # noqa: PTH112
        file = os.path.join(path, "__init__.py") if folder else path  # noqa: PTH118
        file = file if file.endswith(".py") else f"{file}.py"
        return importlib.util.spec_from_file_location(
            fullname, file, loader=_Loader(fullname, file), submodule_search_locations=folder
        )


def _rename_file(code: CodeType, file: str) -> CodeType:
    """The same code with another file name."""
    parts = [_rename_file(part, file) if type(part) is type(code) else part for part in code.co_consts]
    return code.replace(co_filename=file, co_consts=tuple(parts))


def import_shipped(names: Sequence[str]) -> list[ModuleType]:
    """Import modules by the names that jobs know."""
    sys.meta_path.insert(0, _Finder)
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        sys.meta_path.remove(_Finder)
