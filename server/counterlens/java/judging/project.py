"""The Java project around a file: its sources by package, and the sources that a file needs to compile.

A source is needed if a needed one names its class: by an import, or by its simple name in the same package or
through `import package.*`. Names in comments count as uses, which only compiles more than is needed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from counterlens.errors import SourceError
from counterlens.judging.projects import bound_of
from counterlens.text import decode
from counterlens.trust import is_inside

_MARKERS = ("pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", ".git")
_MAIN = Path("src", "main", "java")
_ROOTS = (
    _MAIN, Path("src", "test", "java"), Path("src"), Path("test"), Path("tests"),
)  # fmt: skip
_SKIPPED = {"target", "build", "out", "bin", "node_modules"}
_MOST_FILES, _LARGEST, _MOST_NEEDED = 4000, 1 << 20, 200
_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_IMPORT = re.compile(r"^\s*import\s+(?:static\s+)?([\w.]+)(\.\*)?\s*;", re.MULTILINE)
_DECLARED = re.compile(r"\b(?:class|interface|enum|record)\s+([A-Za-z_$][\w$]*)")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")


@dataclass(frozen=True)
class JavaSource:
    """A source file."""

    path: Path
    text: str

    @cached_property
    def package(self) -> str:
        """Its package; empty for the unnamed one."""
        match = _PACKAGE.search(self.text)
        return match[1] if match else ""

    @cached_property
    def words(self) -> frozenset[str]:
        """All words in it that could be names."""
        return frozenset(_WORD.findall(self.text))

    @cached_property
    def declared(self) -> frozenset[str]:
        """The names of the types that it declares."""
        return frozenset(_DECLARED.findall(self.text))

    @cached_property
    def imports(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names that it imports, and the packages that it imports as a whole."""
        imports = _IMPORT.findall(self.text)
        return frozenset(name for name, star in imports if not star), frozenset(
            n for n, star in imports if star
        )

    def uses(self, other: JavaSource) -> bool:
        """Whether it names the class of another source."""
        name = other.path.stem
        full = f"{other.package}.{name}" if other.package else name
        names, stars = self.imports
        if name in self.words and (other.package == self.package or other.package in stars):
            return True
        return any(each == full or each.startswith(f"{full}.") for each in (*names, *stars)) or (
            bool(other.package) and full in self.text
        )


class JavaProject:
    """The sources of a project."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        bound = bound_of(self.path)
        above = [each for each in self.path.parents if bound is None or each.is_relative_to(bound)]
        marked = (each for each in above if any((each / marker).exists() for marker in (*_MARKERS, _MAIN)))
        root = next(marked, None)
        self.marked = root is not None and root not in {Path.home(), *Path.home().parents}
        self.root = root if root is not None and self.marked else self.path.parent

    @cached_property
    def sources(self) -> list[JavaSource]:
        """All its sources except the file itself; only those beside the file if nothing marks a project."""
        if not self.marked:
            return list(self._read(self._listed(self.path.parent)))
        roots = [self.root / root for root in _ROOTS]
        places = [root for root in roots if root.is_dir()] or [self.root]
        return list(self._read(dict.fromkeys([*self._walk(places), *self._listed(self.path.parent)])))

    def needed(self, start: Sequence[JavaSource], without: Sequence[JavaSource] = ()) -> list[JavaSource]:
        """The further sources that some sources need, directly or indirectly.

        Args:
            without: Sources to leave out, as well as others that declare the same classes, such as another
                version of a file.

        Raises:
            SourceError: there are too many.
        """
        waiting, known = list(start), (*start, *without)
        out = {source.path for source in known}
        here = {(source.package, name) for source in known for name in source.declared}
        out |= {other.path for other in self.sources if (other.package, other.path.stem) in here}
        sources: list[JavaSource] = []
        while waiting:
            source = waiting.pop()
            for other in self.sources:
                if other.path not in out and source.uses(other):
                    out.add(other.path)
                    sources.append(other)
                    waiting.append(other)
            if len(sources) > _MOST_NEEDED:
                raise SourceError(f"it needs more than {_MOST_NEEDED} other files of its project")
        return sources

    def _listed(self, folder: Path) -> Iterator[Path]:
        try:
            yield from sorted(path for path in folder.iterdir() if path.suffix == ".java")
        except OSError:
            return

    def _walk(self, places: Iterable[Path]) -> Iterator[Path]:
        for place in places:
            for where, folders, files in os.walk(place):
                folders[:] = sorted(each for each in folders if each not in _SKIPPED and each[0] != ".")
                yield from (Path(where) / name for name in sorted(files) if name.endswith(".java"))

    def _read(self, paths: Iterable[Path]) -> Iterator[JavaSource]:
        for number, path in enumerate(paths):
            if number >= _MOST_FILES:
                return
            place = path.resolve()
            if place == self.path or not is_inside(path, self.root):
                continue
            try:
                status = place.stat()
                if status.st_size <= _LARGEST:
                    yield _source(place, status.st_mtime_ns, status.st_size)
            except (OSError, SourceError):
                continue


@lru_cache(maxsize=_MOST_FILES)
def _source(path: Path, _changed: int, _size: int) -> JavaSource:
    """A source, cached by modification time and size."""
    return JavaSource(path, decode(path.read_bytes(), str(path)).text)
