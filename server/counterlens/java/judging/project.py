"""The Java project around a file: the sources and jars that it needs to compile.

A source is needed if a needed one names its class: by an import, or by its simple name in the same package or
through `import package.*`. Names in comments count as uses, which only compiles more than is needed.

The jars are JUnit, and the project's declared dependencies, if they are on this machine. Nothing is
downloaded: they are searched for in the local repositories of Maven and Gradle, in Debian's folder, and in
`lib` of the project.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from counterlens.errors import SourceError
from counterlens.judging.projects import bound_of
from counterlens.regular_file import read_bytes, read_text
from counterlens.text import decode
from counterlens.trust import is_inside

Units = tuple[tuple[str, str], ...]
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
_DEBIAN = Path("/usr/share/java")
_PLATFORM = "org.junit.platform"
_PLATFORM_PARTS = ("junit-platform-commons", "junit-platform-engine", "junit-platform-launcher")
_JUPITER = "org.junit.jupiter"
_JUPITER_PARTS = ("junit-jupiter-api", "junit-jupiter-engine")
_BESIDE_5 = (("org.apiguardian", "apiguardian-api"), ("com.univocity", "univocity-parsers"))
_JUNIT4 = (("junit", "junit"), ("org.hamcrest", "hamcrest-core"))
_BESIDE_4 = (("org.hamcrest", "hamcrest"), ("org.hamcrest", "hamcrest-library"))
_VINTAGE = ("org.junit.vintage", "junit-vintage-engine")
_DEBIAN_NAMES = {("junit", "junit"): "junit4"}
INSTALL = (
    "Run the tests of the project once with Maven or Gradle, or on Debian or Ubuntu: "
    "sudo apt-get install junit5"
)
JUNIT = ("org.junit.", "junit.framework.", "org.hamcrest.")
"""Prefixes of the packages that come with JUnit."""
_MOST_JARS = 200
_Coordinates = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings for compiling and running a program and its tests.

    Attributes:
        program: Further files that the program needs: names and texts.
        tests: Further files that the tests need, without the program's own.
        library: The jars that both may use.
    """

    program: Units = ()
    tests: Units = ()
    library: tuple[Path, ...] = ()


def surroundings(
    path: Path, program: str, tests: tuple[Path, str] | None = None, project: JavaProject | None = None
) -> Surroundings | str:
    """The surroundings of a program in its project.

    Args:
        path: The program's file.
        program: Its text.
        tests: The file and the text of its tests.
        project: The project, if known.

    Returns:
        The reason instead, if the project is too large.
    """
    project = project or JavaProject(path)
    own = JavaSource(project.path, program)
    testing = [JavaSource(tests[0].resolve(), tests[1])] if tests else []
    try:
        beside_program = project.needed([own], testing)
        beside_tests = project.needed(testing, [own])
    except SourceError as error:
        return str(error)
    library = (*(junit_for(tests[1]) if tests else ()), *declared_jars(project.root))
    return Surroundings(_units(beside_program), _units(beside_tests), tuple(dict.fromkeys(library)))


def _units(sources: Sequence[JavaSource]) -> Units:
    return tuple((str(source.path), source.text) for source in sources)


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
        waiting, given_sources = list(start), (*start, *without)
        out = {source.path for source in given_sources}
        here = {(source.package, name) for source in given_sources for name in source.declared}
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
    return JavaSource(path, decode(read_bytes(path, _LARGEST), str(path)).text)


def junit(version: int) -> tuple[Path, ...]:
    """The jars of JUnit 4 or 5 on this machine; none if any part is missing.

    JUnit 5 includes JUnit 4 and the engine that runs its tests, if available.
    """
    old, new = _junit4(), _junit5()
    if version == 5:
        return new
    vintage = any(_VINTAGE[1] in jar.name for jar in new)
    return new if vintage else old


def _junit4() -> tuple[Path, ...]:
    for place in (_newest, _debian):
        jars = [jar for each in _JUNIT4 if (jar := place(*each)) is not None]
        if len(jars) == len(_JUNIT4):
            return (*jars, *_any(_BESIDE_4))
    return ()


def _junit5() -> tuple[Path, ...]:
    """The newest version with all parts available; the platform's major version is 1 if Jupiter's is 5."""
    for version in sorted(_versions(_JUPITER, _JUPITER_PARTS[0]), key=_order, reverse=True):
        platform = re.sub(r"^5\.", "1.", version)
        parts = [_versions(_PLATFORM, part).get(platform) for part in _PLATFORM_PARTS]
        parts += [_versions(_JUPITER, part).get(version) for part in _JUPITER_PARTS]
        parts.append(_newest("org.opentest4j", "opentest4j"))
        if None not in parts and _order(version)[0]:
            more = (
                _versions(_JUPITER, "junit-jupiter-params").get(version),
                _newest("org.jspecify", "jspecify"),
            )
            return _with_4([*parts, *more, *_any(_BESIDE_5)], _versions(*_VINTAGE).get(version))
    names = [*_PLATFORM_PARTS, *_JUPITER_PARTS, "opentest4j"]
    jars = [_debian("", name) for name in names]
    if None in jars:
        return ()
    return _with_4([*jars, _debian("", "junit-jupiter-params"), *_any(_BESIDE_5)], _debian(*_VINTAGE))


def _with_4(jars: Sequence[Path | None], vintage: Path | None) -> tuple[Path, ...]:
    old = _junit4()
    candidates = [*jars, *((*old, vintage) if old and vintage is not None else ())]
    return tuple(dict.fromkeys(jar for jar in candidates if jar is not None))


def junit_for(tests: str) -> tuple[Path, ...]:
    """The jars of the JUnit that tests import; none if they import none, or it is not available."""
    if re.search(r"^\s*import\s+(static\s+)?org\.junit\.(jupiter|platform)\.", tests, re.MULTILINE):
        return junit(5)
    old = re.search(r"^\s*import\s+(static\s+)?(org\.junit|junit\.framework)\.", tests, re.MULTILINE)
    return junit(4) if old else ()


def declared_jars(project: Path) -> tuple[Path, ...]:
    """The available jars of a project's declared dependencies, and those in its `lib`."""
    jars = sorted((project / "lib").glob("*.jar"))
    waiting = [*_maven(_text(project / "pom.xml"))]
    for name in ("build.gradle", "build.gradle.kts"):
        waiting += _gradle(_text(project / name))
    done: set[_Coordinates] = set()
    while waiting and len(jars) < _MOST_JARS:
        group, artifact, version = waiting.pop(0)
        if (group, artifact) in done or group.startswith("org.junit"):
            continue
        done.add((group, artifact))
        versions = _versions(group, artifact)
        jar = versions.get(version) or (versions[max(versions, key=_order)] if versions else None)
        if jar is not None:
            jars.append(jar)
            waiting += _maven(_text(jar.with_suffix(".pom")), transitive=True)
    return tuple(dict.fromkeys(path.resolve() for path in jars))


def _any(wanted: tuple[_Coordinates, ...]) -> tuple[Path, ...]:
    jars = [_newest(*each) or _debian(*each) for each in wanted]
    return tuple(jar for jar in jars if jar is not None)


def _newest(group: str, artifact: str) -> Path | None:
    versions = _versions(group, artifact)
    return versions[max(versions, key=_order)] if versions else None


def _debian(group: str, artifact: str) -> Path | None:
    jar = _DEBIAN / f"{_DEBIAN_NAMES.get((group, artifact), artifact)}.jar"
    return jar.resolve() if jar.is_file() else None


@lru_cache(maxsize=256)
def _versions(group: str, artifact: str) -> Mapping[str, Path]:
    """The jars of an artifact in the local repositories, by version."""
    versions: dict[str, Path] = {}
    maven = Path.home() / ".m2" / "repository" / Path(*group.split(".")) / artifact
    gradle = Path.home() / ".gradle" / "caches" / "modules-2" / "files-2.1" / group / artifact
    for pattern, folder in ((f"*/{artifact}-*.jar", maven), (f"*/*/{artifact}-*.jar", gradle)):
        for jar in sorted(folder.glob(pattern)):
            version = jar.relative_to(folder).parts[0]
            if jar.name == f"{artifact}-{version}.jar":
                versions.setdefault(version, jar.resolve())
    return versions


def _order(version: str) -> tuple[bool, list[int]]:
    """A sort key: later versions last; pre-releases, such as milestones, before all others."""
    return not re.search(r"[A-Za-z]", version), [int(part) for part in re.findall(r"\d+", version)]


def _maven(text: str, *, transitive: bool = False) -> Iterator[tuple[str, str, str]]:
    """Group, artifact and version of the dependencies in a `pom.xml`; the version may be empty."""
    text = re.sub(r"<!--.*?-->|<dependencyManagement>.*?</dependencyManagement>", "", text, flags=re.DOTALL)
    own = dict(re.findall(r"<([\w.-]+)>([^<>]*)</\1>", text))
    for block in re.findall(r"<dependency>(.*?)</dependency>", text, flags=re.DOTALL):
        parts = dict(re.findall(r"<(groupId|artifactId|version|scope|optional)>\s*([^<]*?)\s*</", block))
        if transitive and (parts.get("scope", "compile") in {"test", "provided"} or "optional" in parts):
            continue
        version = re.sub(r"\$\{([\w.-]+)\}", lambda name: own.get(name[1], ""), parts.get("version", ""))
        if "groupId" in parts and "artifactId" in parts:
            yield parts["groupId"], parts["artifactId"], version


def _gradle(text: str) -> Iterator[tuple[str, str, str]]:
    """The same for the dependencies that a Gradle file declares as single strings."""
    for match in re.finditer(r"""\w+[( ]\s*["']([\w.-]+):([\w.-]+)(?::([\w.-]+))?["']""", text):
        yield match[1], match[2], match[3] or ""


def _text(path: Path) -> str:
    try:
        return read_text(path, 1 << 20, errors="replace")
    except OSError:
        return ""
