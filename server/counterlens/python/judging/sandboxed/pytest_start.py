"""Starts pytest with the project's own configuration, without plug-ins that would change the run.

The part of the start that is the same for every project is done once in a waiting interpreter: pytest's
configuration with its own plug-ins, the fixtures of plug-ins, and the search of the installed packages for
plug-ins. A start uses it if it was done; otherwise pytest does it itself.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.metadata
import inspect
import os
import pathlib
import sys
import tempfile
import types
import warnings

import pytest

from .kept_code import rewritten_by

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
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
_GROUP = "pytest11"
_SEARCHERS = {"pluggy._manager", "_pytest.config"}  # they search for plug-ins only
_OF_CONFIGURATION = (["args", "plugins"], ["args", "plugins", "prog"])
_PROGRAM = "pytest.main()"
_PLAIN = (types.ModuleType, types.BuiltinFunctionType, str, int, float, bytes, tuple, list, dict, set,
          frozenset, type(None), type(NotImplemented), property)  # fmt: skip


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
    sys.argv[:] = [os.path.join(os.path.dirname(pytest.__file__), "__main__.py"), *paths]  # noqa: PTH118, PTH120
    import_installed_as_they_are()
    use_prepared()
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


class _KnownDistribution:
    """An installed package with plug-ins, whose files and entry points have been read."""

    def __init__(self, distribution: Any) -> None:
        self._found = distribution
        self.entry_points, self.files = list(distribution.entry_points), distribution.files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found, name)


class _Ahead:
    """What has been prepared: pytest's configuration, the fixtures, and the installed plug-ins."""

    def __init__(self) -> None:
        self.config: Any = None
        self.searched: list[str] = []
        self.distributions: list[Any] = []
        self.fixtures: dict[Any, list[str]] = {}


_ahead = _Ahead()


def prepare_start() -> None:
    """Do what is the same for every project, whose folders must not yet be searched for modules."""
    from _pytest import config

    _ahead.searched = list(sys.path)
    _ahead.distributions = [
        _KnownDistribution(package)
        for package in importlib.metadata.distributions()
        if any(entry.group == _GROUP for entry in package.entry_points)
    ]
    for distribution in _ahead.distributions:
        for path in distribution.files or ():
            str(path)  # it is kept
    installed = {
        entry.value.partition(":")[0] for plugin in _ahead.distributions for entry in plugin.entry_points
    }
    for name, module in list(sys.modules.items()):
        if name.startswith("_pytest.") or name in installed:
            _ahead.fixtures[module] = _candidates(module)
            for value in list(vars(module).values()):
                if isinstance(value, type) and value.__module__.startswith("_pytest."):
                    _ahead.fixtures[value] = _candidates(value)
    inspect.getmodule(
        prepare_start.__code__
    )  # it notes the files of all modules, which every failure asks for
    if list(inspect.signature(config.get_config).parameters) in _OF_CONFIGURATION:
        named = "prog" in inspect.signature(config.get_config).parameters
        _ahead.config = config.get_config(**({"prog": _PROGRAM} if named else {}))


def _candidates(holder: Any) -> list[str]:
    """The attributes of a module or class that may be fixtures."""
    attributes: dict[str, Any] = {}  # much faster than `inspect.getattr_static` of each
    for part in reversed(holder.__mro__) if isinstance(holder, type) else [holder]:
        attributes.update(vars(part))
    return [name for name in dir(holder) if _may_be_fixture(attributes.get(name))]


def _may_be_fixture(value: Any) -> bool:
    if isinstance(value, (type, types.FunctionType)):
        return "__wrapped__" in vars(value) or "_pytestfixturefunction" in vars(value)
    return not isinstance(value, _PLAIN)


def use_prepared() -> None:
    """Let the next starts of pytest in this process use what has been prepared, if it has been."""
    if not _ahead.searched:
        return
    from _pytest import config, fixtures

    real_dir, real_search, real_config = dir, importlib.metadata.distributions, config.get_config

    def dir_of_holder(*holder: Any) -> list[str]:
        (thing,) = holder
        kind = type(thing)  # what an object says of its class may be wrong
        names = _ahead.fixtures.get(thing if issubclass(kind, (type, types.ModuleType)) else kind)
        return real_dir(*holder) if names is None else names

    def distributions(**options: Any) -> Iterable[Any]:
        if options or sys._getframe(1).f_globals.get("__name__") not in _SEARCHERS:
            return real_search(**options)
        return _distributions(real_search)

    def get_config(args: Any = None, plugins: Any = None, **options: Any) -> Any:
        made, _ahead.config = _ahead.config, None
        if made is None or not args or options not in ({}, {"prog": _PROGRAM}):
            return real_config(args, plugins, **options)
        made.invocation_params = config.Config.InvocationParams(
            args=args,
            plugins=plugins,
            dir=pathlib.Path(os.getcwd()),  # noqa: PTH109
        )
        made.pluginmanager.consider_preparse(made.invocation_params.args, exclude_only=True)
        return made

    vars(fixtures)["dir"] = dir_of_holder
    vars(config)["get_config"] = get_config
    vars(importlib.metadata)["distributions"] = distributions


def _distributions(search: Any) -> Iterator[Any]:
    """The packages in folders that were not searched in advance, and the known ones with plug-ins."""
    for folder in sys.path:
        if folder not in _ahead.searched:
            yield from search(path=[folder])
    yield from _ahead.distributions
