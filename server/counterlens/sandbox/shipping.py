"""Counterlens packages that are copied into the sandbox: their files, and the script that starts a module."""

from __future__ import annotations

import importlib.util
import marshal
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

IMPORTED = ("collections", "importlib.util", "json", "linecache", "signal")
"""Modules of the standard library that our shipped packages import before any program: for `Job.preload`."""

_MAGIC = importlib.util.MAGIC_NUMBER
_START = """\
import sys
if "{module}" not in sys.modules:
    for name in [name for name in sys.modules if name.partition(".")[0] == "{package}"]:
        del sys.modules[name]  # a part of it that a warm interpreter has imported in advance
import {module} as start
del sys.path[0]  # nothing else is to be imported from the private folder
for name in [name for name in sys.modules if name.partition(".")[0] in {shipped}]:
    del sys.modules[name]  # the program may have a module of the same name
start.main()
"""
_SHIPPED = ("sandboxed", "observers")  # a warm interpreter may have imported each of them


def package_files(folder: Path) -> dict[str, bytes]:
    """The files of a package, or of one module, that imports nothing from Counterlens, as in `Job.files`."""
    if folder.is_file():
        return {folder.name: folder.read_bytes()}
    return {
        f"{folder.name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*.py"))
    }


@lru_cache(maxsize=16)
def quick_files(folder: Path, bytecode: bytes, without: tuple[str, ...] = ()) -> Mapping[str, bytes]:
    """The same, compiled if the interpreter has our bytecode: compiling takes longer than running.

    Args:
        bytecode: The magic number of the interpreter; if it differs from ours, it gets the sources.
        without: Files and folders of the package that are left out.
    """
    sources = {
        name: source
        for name, source in package_files(folder).items()
        if not name.removeprefix(f"{folder.name}/").startswith(without)
    }
    if bytecode != _MAGIC:
        return sources
    compiled = {}
    for name, source in sources.items():  # files that are imported without their source
        code = compile(source, name, "exec", dont_inherit=True, optimize=0)
        compiled[f"{name}c"] = _MAGIC + bytes(12) + marshal.dumps(code)
    return compiled


def start_script(module: str) -> bytes:
    """A script that calls `main()` of a dotted module, after making its package impossible to import."""
    package = module.partition(".")[0]
    return _START.format(module=module, package=package, shipped=(*_SHIPPED, package)).encode()
