"""The jars that a Java project needs, if they are on this machine: JUnit, and its declared dependencies.

Nothing is downloaded. Jars are searched for in the local repositories of Maven and Gradle, in Debian's
folder, and in `lib` of the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

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
        return path.read_text("utf-8", "replace") if path.stat().st_size < 1 << 20 else ""
    except OSError:
        return ""
