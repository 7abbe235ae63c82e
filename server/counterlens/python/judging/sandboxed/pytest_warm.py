"""Imports, in an interpreter that waits for programs, the modules that pytest needs for any project.

These are pytest's own plug-ins and the installed ones. A plug-in outside of the installed packages is left
out: it may be the project's own code, which must not be in a process that programs share.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import io
import os
import sys

from .imported_ahead import note
from .pytest_start import WITHOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
_ALONE = ("-q", "-s", "-c", os.devnull, "-p", "no:cacheprovider", "--noconftest", "--import-mode=importlib")
"""Options of a run without files and settings of others."""
_LATE = ("_pytest.assertion.rewrite", "_pytest.assertion.util", "_pytest.config.findpaths")
_LATE_TOO = ("_pytest.python_api", "_pytest.raises", "doctest", "pdb", "tomllib", "unittest.mock")


def _own() -> Iterator[str]:
    """Pytest's own modules: its plug-ins, and modules that it imports late."""
    from _pytest import config

    yield from (f"_pytest.{name}" for name in config.default_plugins)
    yield from (*_LATE, *_LATE_TOO)


def _plug_ins() -> Iterator[str]:
    """The modules of installed plug-ins."""
    for package in importlib.metadata.distributions():
        for entry in package.entry_points:
            if entry.group == "pytest11" and entry.name not in WITHOUT:
                module = entry.value.partition(":")[0].strip()
                if _is_installed(module.partition(".")[0]):
                    yield module


def _is_installed(name: str) -> bool:
    """Whether a top-level module is among the installed packages; determined without importing it."""
    spec = importlib.util.find_spec(name)
    return spec is not None and f"{os.sep}site-packages{os.sep}" in (spec.origin or "")


def _import_all() -> frozenset[str]:
    """Import all of them, and return the new top-level modules; a failed import fails again at its use."""
    before = _top_level()
    for names in (_own, _plug_ins):
        with contextlib.suppress(BaseException):
            for name in names():
                with contextlib.suppress(BaseException):
                    importlib.import_module(name)
    return frozenset(_top_level() - before)


def _top_level() -> set[str]:
    return {name.partition(".")[0] for name in sys.modules}


def _run_once() -> frozenset[str]:
    """Run our own tests with pytest's own plug-ins, so that pytest is compiled, specialised and cached.

    Returns:
        The new top-level modules.
    """
    import pytest

    before, modules, path = _top_level(), set(sys.modules), list(sys.path)
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    file = os.path.join(folder, "warm_up_cases.py")  # noqa: PTH118
    os.environ[_NO_PLUGINS] = "1"
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(BaseException):
            pytest.main([*_ALONE, f"--rootdir={folder}", file])
    finally:
        del os.environ[_NO_PLUGINS]
        sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.rpartition(".")[2] == "warm_up_cases":
            del sys.modules[name]
    return frozenset(_top_level() - before)


_imported = _import_all()
from .runner_warm import import_runner  # noqa: E402 - its modules do not count as imported by us

note(_imported | _run_once())
start, *_ = import_runner(("pytest_start", "runner.pytest_cases"))
with contextlib.suppress(Exception):  # a version of pytest with other parts does all itself
    start.prepare_start()
