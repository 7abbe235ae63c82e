"""Counterlens packages that are copied into the sandbox: their files, and the script that starts a module."""

from __future__ import annotations

from pathlib import Path

_START = """\
import sys
import {module} as start
del sys.path[0]  # nothing else is to be imported from the private folder
for name in [name for name in sys.modules if name.partition(".")[0] == "{package}"]:
    del sys.modules[name]  # the program may have a module of the same name
start.main()
"""


def package_files(folder: Path) -> dict[str, bytes]:
    """The files of a package that imports nothing of Counterlens, as `Job.files` takes them."""
    return {
        f"{folder.name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*.py"))
    }


def start_script(module: str) -> bytes:
    """A script that calls `main()` of a dotted module, whose package nobody can import any more by then."""
    return _START.format(module=module, package=module.partition(".")[0]).encode()
