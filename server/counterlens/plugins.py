"""Plug-ins: additions of other installed packages to a registry, found by their entry points.

A package names its additions to a group in its metadata:

    [project.entry-points."counterlens.models"]
    my-backend = "my_package.backend:BACKEND"

A plug-in that cannot be loaded is left out, and `failures` gives the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, distributions, entry_points
from pathlib import Path
from pkgutil import resolve_name
from threading import RLock
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from counterlens.nested_text import parse_toml
from counterlens.regular_file import read_text

T = TypeVar("T")

_GROUPS = "counterlens."
"""The beginning of the groups of our entry points."""
_PROJECT = "pyproject.toml"
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """The reason why a plug-in was left out.

    Attributes:
        group: The group of the entry point, such as `counterlens.models`.
        name: The name of the entry point.
        distribution: The package that declares it.
        error: The error, on one line.
    """

    group: str
    name: str
    distribution: str
    error: str


failures: list[PluginFailure] = []
"""The plug-ins that were left out so far, in the order in which they were loaded."""


def load(group: str, prepare: Callable[[Any], Any] = lambda plugin: plugin) -> Iterator[tuple[str, Any]]:
    """Import the plug-ins of a group, ordered by name.

    Args:
        group: The group, such as `counterlens.models`.
        prepare: Converts the object of an entry point into the result; raises if it cannot.

    Yields:
        The name of each entry point, and the result of `prepare` for its object. A plug-in that raises
        anything is added to `failures` instead.
    """
    for entry_point in sorted(entry_points(group=group), key=lambda entry_point: entry_point.name):
        try:
            plugin = prepare(entry_point.load())
        except (Exception, SystemExit) as error:  # importing another package may raise anything
            distribution = entry_point.dist.name if entry_point.dist else "an unknown package"
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            failures.append(PluginFailure(group, entry_point.name, distribution, reason))
        else:
            yield entry_point.name, plugin


def packages_with_plugins(folders: Iterable[str]) -> list[str]:
    """The packages that have plug-ins and are only in some folders; nothing of them is imported."""
    names = {
        package.name
        for package in distributions(path=list(folders))
        if any(entry_point.group.startswith(_GROUPS) for entry_point in package.entry_points)
    }
    return sorted(name for name in names if not _is_installed(name))


def projects_with_plugins(folder: Path) -> dict[Path, str]:
    """The names of packages with plug-ins whose sources are in a folder, and which are not installed.

    Returns:
        The folder of each `pyproject.toml` that declares entry points of ours, there or one folder below.
    """
    projects = {}
    for file in (folder / _PROJECT, *sorted(folder.glob(f"*/{_PROJECT}"))):
        try:
            text = read_text(file, _LARGEST)
            project = parse_toml(text)["project"] if _GROUPS in text else {}
            name, groups = project["name"], [*project["entry-points"]]
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
        ):  # there is none, or it is not ours to complain about
            continue
        if isinstance(name, str) and any(group.startswith(_GROUPS) for group in groups):
            projects[file.parent] = name
    return {place: name for place, name in projects.items() if not _is_installed(name)}


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except (PackageNotFoundError, ValueError):
        return False
    return True


class Registry(Mapping[str, T], Generic[T]):
    """Entries by name: built-in ones, then those of plug-ins, which are loaded at the first look-up.

    Late loading lets a plug-in import this package, and costs nothing if only built-in entries are used. An
    entry point names an entry, or a class of entries without constructor arguments. A plug-in with the name
    of a built-in entry is a failure.

    Args:
        group: The group of the plug-ins' entry points.
        own: Built-in entries.
        places: Further built-in entries, imported at their first look-up: by name, the place of each as in an
            entry point (`package.module:NAME`).
        name: Returns the name of an entry.
        kind: The class of every entry.
        check: Checks a plug-in's entry further; raises if it is refused.
    """

    def __init__(
        self,
        group: str,
        own: Iterable[T] = (),
        *,
        places: Mapping[str, str] = MappingProxyType({}),
        name: Callable[[T], str],
        kind: type,
        check: Callable[[T], None] = lambda _: None,
    ) -> None:
        self._group, self._name, self._kind, self._check = group, name, kind, check
        self._own = {name(entry): entry for entry in own}
        self._places = places
        self._names = (*self._own, *places)
        self._added: dict[str, T] | None = None
        self._loading = False
        self._lock = RLock()

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own[name]
        if name in self._places:
            return self._own.setdefault(name, self._entry_of(resolve_name(self._places[name])))
        return self.added[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*self._names, *self.added))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def added(self) -> dict[str, T]:
        """The entries of plug-ins only."""
        if self._added is None:
            with self._lock:
                if self._loading:  # a plug-in reads this registry while it is imported
                    return {}
                if self._added is None:
                    self._loading = True
                    try:
                        self._added = self._load_plugins()
                    finally:
                        self._loading = False
        return self._added

    def _load_plugins(self) -> dict[str, T]:
        entries: dict[str, T] = {}

        def entry_of(plugin: Any) -> T:
            entry = self._entry_of(plugin)
            if self._name(entry) in {*self._names, *entries}:
                raise ValueError(f"there is another {self._name(entry)!r}")
            self._check(entry)
            return entry

        for _, entry in load(self._group, entry_of):
            entries[self._name(entry)] = entry
        return entries

    def _entry_of(self, place: Any) -> T:
        entry: T = place() if isinstance(place, type) else place
        if not isinstance(entry, self._kind):
            raise TypeError(f"{type(entry).__name__} is no {self._kind.__name__}")
        return entry
