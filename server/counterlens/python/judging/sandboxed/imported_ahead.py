"""Modules that a warm interpreter has imported in advance.

A project may replace some of them by its own. Going through all modules copies the pages of their names,
which a fork shares with the interpreter, so the interpreter does that once.
"""

from __future__ import annotations

import builtins
import os
import sys

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
_ALWAYS = {
    "bisect", "calendar", "code", "copy", "decimal", "fractions", "gzip", "heapq", "html", "http",
    "hypothesis", "keyword", "numbers", "platform", "queue", "random", "secrets", "select",
    "statistics", "string", "token", "uuid", "zoneinfo"
}  # fmt: skip
"""Modules that pytest has imported, and does not import again later."""
_NOTED = "imported_ahead"
_MARK = "sys"  # the last module imported in advance

_ours: list[str] = []
_by_file: dict[str, list[tuple[str, str]]] = {}


def remember() -> None:
    """Record all modules, in the warm interpreter."""
    sys.modules[_MARK] = sys.modules.pop(_MARK)  # now the last
    _by_file.clear()
    _ours[:] = _of_package(list(sys.modules))
    for name, path in _files(list(sys.modules)):
        _by_file.setdefault(os.path.basename(path), []).append((name, path))  # noqa: PTH119


def own_modules() -> list[str]:
    """The names of the imported modules of this package."""
    return [name for name in (*_ours, *_of_package(_imported_since())) if name in sys.modules]


def modules_from(file: str) -> list[tuple[str, str]]:
    """The imported modules from files with this name, without its folder, and the paths of these files."""
    since = [module for module in _files(_imported_since()) if module[1].endswith(file)]
    return [module for module in _by_file.get(file, ()) if module[0] in sys.modules] + since


def _of_package(names: list[str]) -> list[str]:
    return [name for name in names if name.partition(".")[0] == __name__.partition(".")[0]]


def _files(names: list[str]) -> list[tuple[str, str]]:
    paths = [(name, getattr(sys.modules[name], "__file__", None)) for name in names if name != "__main__"]
    return [(name, path) for name, path in paths if path]


def _imported_since() -> list[str]:
    """The modules imported since `remember`; all without it."""
    names = []
    for name in reversed(list(sys.modules) if not _ours else sys.modules):
        if name == _MARK and _ours:
            break
        names.append(name)
    return names


def note(names: frozenset[str]) -> None:
    """Record top-level modules that only `pytest_warm.py` imported, on pytest, which stays imported."""
    setattr(sys.modules["pytest"], _NOTED, names)


def forget_hidden(roots: list[str]) -> None:
    """Remove modules that were imported in advance from `sys.modules` if the project has one of that name.

    Args:
        roots: The folders that the project's packages are imported from.
    """
    ahead = _ALWAYS | getattr(sys.modules.get("pytest"), _NOTED, frozenset())
    for root in roots:
        try:
            names = {name.partition(".")[0] for name in os.listdir(root)}  # noqa: PTH208
        except OSError:
            continue
        for name in filter(lambda name: _is_module(root, name), names & ahead):
            for module_name in [
                module_name for module_name in sys.modules if module_name.partition(".")[0] == name
            ]:
                del sys.modules[module_name]


def _is_module(root: str, name: str) -> bool:
    """Whether a name in a folder is that of a module or a package, as opposed to a folder of data."""
    folder = os.path.join(root, name)  # noqa: PTH118
    files = (os.path.join(folder, "__init__.py"), f"{folder}.py")  # noqa: PTH118
    return not os.path.isdir(folder) or any(map(os.path.isfile, files))  # noqa: PTH112
