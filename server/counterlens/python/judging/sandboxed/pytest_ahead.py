"""The part of pytest's start that is the same for every project, done once in a waiting interpreter.

It covers pytest's configuration with its own plug-ins, the fixtures of plug-ins, and the search of the
installed packages for plug-ins. A start uses it if it was done; otherwise pytest does it itself.
"""

from __future__ import annotations

import builtins
import importlib.metadata
import inspect
import os
import pathlib
import sys
import types

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_GROUP = "pytest11"
_SEARCHERS = {"pluggy._manager", "_pytest.config"}  # they search for plug-ins only
_OF_CONFIGURATION = (["args", "plugins"], ["args", "plugins", "prog"])
_PROGRAM = "pytest.main()"
_PLAIN = (types.ModuleType, types.BuiltinFunctionType, str, int, float, bytes, tuple, list, dict, set,
          frozenset, type(None), type(NotImplemented), property)  # fmt: skip


class _KnownDistribution:
    """An installed package with plug-ins, whose files and entry points have been read."""

    def __init__(self, distribution: Any) -> None:
        self._found = distribution
        self.entry_points, self.files = list(distribution.entry_points), distribution.files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found, name)


class _Ahead:
    """What has been done."""

    def __init__(self) -> None:
        self.config: Any = None
        self.searched: list[str] = []
        self.distributions: list[Any] = []
        self.fixtures: dict[Any, list[str]] = {}


_ahead = _Ahead()


def prepare() -> None:
    """Do it; the project's folders must not yet be searched for modules."""
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
    if list(inspect.signature(config.get_config).parameters) in _OF_CONFIGURATION:
        named = "prog" in inspect.signature(config.get_config).parameters
        _ahead.config = config.get_config(**({"prog": _PROGRAM} if named else {}))


def _candidates(holder: Any) -> list[str]:
    """The attributes of a module or class that may be fixtures."""
    known: dict[str, Any] = {}  # much faster than `inspect.getattr_static` of each
    for part in reversed(holder.__mro__) if isinstance(holder, type) else [holder]:
        known.update(vars(part))
    return [name for name in dir(holder) if _may_be_fixture(known.get(name))]


def _may_be_fixture(value: Any) -> bool:
    if isinstance(value, (type, types.FunctionType)):
        return "__wrapped__" in vars(value) or "_pytestfixturefunction" in vars(value)
    return not isinstance(value, _PLAIN)


def use() -> None:
    """Let the next starts of pytest in this process use what has been done."""
    if not _ahead.searched:
        return
    from _pytest import config, fixtures

    real_dir, real_search, real_config = dir, importlib.metadata.distributions, config.get_config

    def dir_of_holder(*holder: Any) -> list[str]:
        (thing,) = holder
        kind = type(thing)  # what an object says of its class may be wrong
        known = _ahead.fixtures.get(thing if issubclass(kind, (type, types.ModuleType)) else kind)
        return real_dir(*holder) if known is None else known

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
