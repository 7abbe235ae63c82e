"""Starts pytest with the project's own configuration, without plug-ins that would change the run."""

from __future__ import annotations

import builtins
import contextlib
import os
import sys
import tempfile
import warnings

import pytest

from . import pytest_ahead
from .kept_code import rewritten_by

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .kept_code import KeptCode

_USAGE_ERROR = 4
WITHOUT = ("xdist", "pytest_cov", "randomly", "random_order", "rerunfailures", "benchmark")
"""Plug-ins that run tests in other processes, in another order, or again, or measure them."""
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
    """Run pytest, and return its exit code.

    The project's `addopts` apply, except options of disabled plug-ins. pytest starts again without `addopts`
    if it rejects other options before it has collected a test, such as those of a missing plug-in.

    Args:
        paths: The test files.
        plugins: Our plug-ins.
        collected: Whether tests have been collected.
        more: Further arguments.
    """
    storage = os.path.join(tempfile.gettempdir(), "hypothesis")  # noqa: PTH118
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", storage)
    # With `filterwarnings = error`, a setting of a disabled plug-in is unknown, and so an error: the cache
    # plug-in stays enabled, with another folder.
    cache = os.path.join(tempfile.gettempdir(), "pytest-cache")  # noqa: PTH118
    usual = ["-q", "--color=no", "--maxfail=0", "--junitxml=", "-o", f"cache_dir={cache}", *more]
    usual += [part for name in WITHOUT for part in ("-p", f"no:{name}")]
    import_installed_as_they_are()
    pytest_ahead.use()
    quiet = QuietStart()
    ours = [quiet, UsualWarnings(quiet), *plugins]
    code = _USAGE_ERROR
    with contextlib.suppress(ImportError):  # a plug-in that `addopts` names
        code = int(pytest.main([*usual, *paths], plugins=[SilentOptions(), *ours]))
    if code == _USAGE_ERROR and not collected():
        code = int(pytest.main([*usual, "-o", "addopts=", *paths], plugins=ours))
    return code


def import_installed_as_they_are() -> None:
    """Rewrite only assertions of the project.

    Pytest also rewrites all modules of installed plug-ins, and caches the result if it may write. It may not
    write here, and rewriting Hypothesis took three quarters of a judgement.
    """
    from _pytest.assertion.rewrite import AssertionRewritingHook as Hook

    find_spec: Any = Hook.find_spec

    def find_spec_of_project(this: Any, name: str, *more: Any) -> Any:
        spec = find_spec(this, name, *more)
        installed = spec is not None and "site-packages" in (spec.origin or "")
        return None if installed else spec

    setattr(Hook, "find_spec", find_spec_of_project)  # noqa: B010
    setattr(Hook, "_warn_already_imported", lambda *_: None)  # noqa: B010 - imports of a warm interpreter


def take_rewritten(kept: KeptCode) -> None:
    """Use the stored code of test files whose assertions are already rewritten."""
    from _pytest.assertion import rewrite as rewriting

    rewrite, form = getattr(rewriting, "_rewrite_test", None), rewritten_by(pytest.__version__)
    if rewrite is None or not sys.dont_write_bytecode:  # otherwise pytest would expect more than the code
        return

    def rewrite_unless_kept(file: Any, config: Any) -> Any:
        code = None if config.getini("enable_assertion_pass_hook") else kept.of(str(file), form)
        return rewrite(file, config) if code is None else (None, code)

    setattr(rewriting, "_rewrite_test", rewrite_unless_kept)  # noqa: B010


class QuietStart:
    """A plug-in: warnings of other plug-ins during their set-up are not errors.

    With `filterwarnings = error` in a project, a warning of an installed plug-in that the project does not
    configure would end pytest before any test.
    """

    def __init__(self) -> None:
        self.held = contextlib.ExitStack()

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self) -> None:
        """Runs before all other plug-ins."""
        self.held.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")


class UsualWarnings:
    """A plug-in that ends `QuietStart` after the set-up of the others."""

    def __init__(self, quiet: QuietStart) -> None:
        self._quiet = quiet

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Runs after all other plug-ins."""
        self._quiet.held.close()


class SilentOptions:
    """A plug-in that accepts the options of disabled plug-ins, and ignores them."""

    def pytest_addoption(self, parser: Any) -> None:
        """Declare the options."""
        for name in _SILENT.split():
            if name in _FLAGS or name.startswith(_BENCHMARK):
                parser.addoption(name, action="store_true")
            else:
                parser.addoption(name, action="append", nargs="?", const="")
