"""Starts pytest in the project's own configuration, without plug-ins that would change the run."""

from __future__ import annotations

import builtins
import contextlib
import os
import sys
import tempfile
import warnings

import pytest

from .kept_code import rewritten_by

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .kept_code import KeptCode

_USAGE_ERROR = 4
WITHOUT = ("xdist", "pytest_cov", "randomly", "random_order", "rerunfailures", "benchmark")
"""Plug-ins that run tests elsewhere, in another order, or again, or measure them."""
_SILENT = (
    "--cov --cov-report --cov-config --no-cov --no-cov-on-fail --cov-fail-under --cov-append --cov-branch "
    "--cov-context --cov-reset --numprocesses --maxprocesses --dist --tx --reruns --reruns-delay "
    "--benchmark-skip --benchmark-disable --benchmark-only"
)
_FLAGS = {"--no-cov", "--no-cov-on-fail", "--cov-append", "--cov-branch", "--cov-reset"}
_BENCHMARK = "--benchmark-"


def start_pytest(
    paths: Sequence[str], plugins: Sequence[Any], collected: Callable[[], bool], *more: str
) -> int:
    """Pytest's exit code.

    The project's `addopts` hold, but for options of plug-ins that are off. If pytest refuses others before it
    has collected a test, such as those of a missing plug-in, it starts again without any.

    Args:
        paths: The test files.
        plugins: Ours.
        collected: Whether tests have been collected.
        more: Further arguments.
    """
    storage = os.path.join(tempfile.gettempdir(), "hypothesis")  # noqa: PTH118
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", storage)
    # With `filterwarnings = error` a setting of a plug-in that is off is an unknown one, and so an error:
    # the cache stays on, but elsewhere.
    cache = os.path.join(tempfile.gettempdir(), "pytest-cache")  # noqa: PTH118
    usual = ["-q", "--color=no", "--maxfail=0", "--junitxml=", "-o", f"cache_dir={cache}", *more]
    usual += [part for name in WITHOUT for part in ("-p", f"no:{name}")]
    import_installed_as_they_are()
    quiet = QuietStart()
    ours = [quiet, UsualWarnings(quiet), *plugins]
    code = _USAGE_ERROR
    with contextlib.suppress(ImportError):  # of a plug-in that `addopts` names
        code = int(pytest.main([*usual, *paths], plugins=[SilentOptions(), *ours]))
    if code == _USAGE_ERROR and not collected():
        code = int(pytest.main([*usual, "-o", "addopts=", *paths], plugins=ours))
    return code


def import_installed_as_they_are() -> None:
    """Rewrite assertions of the project alone.

    Of an installed plug-in pytest rewrites all modules, too, and keeps the result for the next time where it
    may write: not here, where Hypothesis's took three quarters of a judgement.
    """
    from _pytest.assertion.rewrite import AssertionRewritingHook as Hook

    find_spec: Any = Hook.find_spec

    def find_spec_of_project(this: Any, name: str, *more: Any) -> Any:
        found = find_spec(this, name, *more)
        installed = found is not None and "site-packages" in (found.origin or "")
        return None if installed else found

    setattr(Hook, "find_spec", find_spec_of_project)  # noqa: B010
    setattr(Hook, "_warn_already_imported", lambda *_: None)  # noqa: B010 - what a warm interpreter has


def take_rewritten(kept: KeptCode) -> None:
    """Take test files whose assertions are rewritten already from where they are kept."""
    from _pytest.assertion import rewrite as rewriting

    rewrite, form = getattr(rewriting, "_rewrite_test", None), rewritten_by(pytest.__version__)
    if rewrite is None or not sys.dont_write_bytecode:  # else pytest would want more than the code
        return

    def rewrite_unless_kept(file: Any, config: Any) -> Any:
        code = None if config.getini("enable_assertion_pass_hook") else kept.of(str(file), form)
        return rewrite(file, config) if code is None else (None, code)

    setattr(rewriting, "_rewrite_test", rewrite_unless_kept)  # noqa: B010


class QuietStart:
    """A plug-in: what other plug-ins warn of while they are set up is no error of a test.

    With `filterwarnings = error` in a project, pytest would end before any test where the interpreter has a
    plug-in that the project says nothing about.
    """

    def __init__(self) -> None:
        self.held = contextlib.ExitStack()

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self) -> None:
        """Before all others."""
        self.held.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")


class UsualWarnings:
    """A plug-in: the end of `QuietStart`, when the others are set up."""

    def __init__(self, quiet: QuietStart) -> None:
        self._quiet = quiet

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """After all others."""
        self._quiet.held.close()


class SilentOptions:
    """A plug-in that takes the options of plug-ins that are off, and does nothing with them."""

    def pytest_addoption(self, parser: Any) -> None:
        """Declare them."""
        for name in _SILENT.split():
            if name in _FLAGS or name.startswith(_BENCHMARK):
                parser.addoption(name, action="store_true")
            else:
                parser.addoption(name, action="append", nargs="?", const="")
