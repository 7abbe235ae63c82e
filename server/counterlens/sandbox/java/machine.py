"""JVMs in the sandbox: the worker's classes, their start, and their requests."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from subprocess import CalledProcessError, SubprocessError
from threading import Event

import platformdirs

from counterlens.atomic_file import make_folder
from counterlens.environment import outside_project
from counterlens.errors import SandboxError
from counterlens.processes import find_program, run
from counterlens.regular_file import read_text
from counterlens.sandbox.base import Limits, Sandbox, ServedProgram
from counterlens.sandbox.serving import Conversation, ServiceEndedError

OLDEST = 17
"""The oldest version that the worker supports."""
INSTALL = f"Install a Java development kit, version {OLDEST} or later, or set JAVA_HOME. " + (
    "On macOS: brew install openjdk"
    if sys.platform == "darwin"
    else "On Debian or Ubuntu: sudo apt-get install default-jdk-headless"
)
_USUAL = (
    "/usr/lib/jvm/*", "/usr/java/*", "/opt/*jdk*", "/opt/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home", "/opt/homebrew/opt/openjdk*",
    "/usr/local/opt/openjdk*",
    "~/.sdkman/candidates/java/*", "~/.jdks/*", "~/Library/Java/JavaVirtualMachines/*/Contents/Home",
)  # fmt: skip
_VERSION = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)([^"]*)"', re.MULTILINE)
Classes = Mapping[str, bytes]
"""Compiled classes by name."""
ROOM = 16 << 20  # maximum bytes of an answer
_SOURCES = Path(__file__).parent / "worker"
_MAIN = "counterlens.worker.Worker"
_COMPILE_SECONDS = 120.0
_ADDRESS_SPACE = 6 << 30  # most of it is only reserved; `-Xmx` bounds the used part
# G1: only this collector can map the archived objects of Java 17's library, so that a JVM starts in three
# quarters of the processor time.
_OPTIONS = (
    "-XX:+UseG1GC", "-XX:ParallelGCThreads=1", "-XX:ConcGCThreads=1",
    "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:-UsePerfData",
    "-Xlog:disable", "-Xlog:all=warning:stderr", "-XX:+DisableAttachMechanism", "-XX:-CreateCoredumpOnCrash",
    "-XX:ReservedCodeCacheSize=64m", "-XX:CompressedClassSpaceSize=128m", "-XX:MaxMetaspaceSize=192m",
    "-XX:MaxDirectMemorySize=32m", "-Dfile.encoding=UTF-8", "-Djava.awt.headless=true",
)  # fmt: skip
_SIZE = struct.Struct(">i")


@dataclass(frozen=True, slots=True)
class Jdk:
    """A Java development kit.

    Attributes:
        home: Its folder, without links.
        version: Its version, such as `17.0.15`.
        found: How it was found: `JAVA_HOME`, `PATH`, or the folder that was searched.
    """

    home: Path
    version: str
    found: str

    @property
    def major(self) -> int:
        """The first number of its version."""
        return int(re.split(r"\D", self.version, maxsplit=1)[0])

    @property
    def java(self) -> Path:
        """The executable of the JVM."""
        return self.home / "bin" / "java"

    @property
    def javac(self) -> Path:
        """The compiler."""
        return self.home / "bin" / "javac"

    @property
    def folders(self) -> tuple[Path, ...]:
        """The paths that a confined JVM must read: the kit, and Debian's settings of it."""
        return (self.home, *_linked_paths(self.home))


def find_jdk() -> Jdk:
    """The kit of `JAVA_HOME`, else of the `javac` on `PATH`, else the newest in the usual folders.

    Raises:
        SandboxError: none is new enough; the message says what was found, and what to install.
    """
    too_old = []
    for how, home in _candidates():
        kit = _kit(home, how)
        if kit is None or not outside_project([str(kit.home)]):  # its compiler runs outside of the sandbox
            continue
        if kit.major >= OLDEST:
            return kit
        too_old.append(f"{kit.version} in {kit.home}")
    note = f"; too old: {', '.join(dict.fromkeys(too_old))}" if too_old else ""
    raise SandboxError(f"Java programs cannot be run: no Java development kit was found{note}", INSTALL)


def _candidates() -> Iterator[tuple[str, Path]]:
    named = os.environ.get("JAVA_HOME", "")
    if os.path.isabs(named):  # noqa: PTH117 - a relative one would depend on the working directory
        yield "JAVA_HOME", Path(named)
    compiler = find_program("javac")
    if compiler is not None:
        yield "PATH", Path(compiler).resolve().parent.parent
    homes = [(path, pattern) for pattern in _USUAL for path in _matching(pattern)]
    kits = [(kit.major, str(kit.home), kit) for path, how in homes if (kit := _kit(path, how)) is not None]
    for _, _, kit in sorted(kits, key=lambda each: each[:2], reverse=True):
        yield kit.found, kit.home


def _matching(pattern: str) -> list[Path]:
    whole = Path(pattern).expanduser()
    fixed = next(i for i, part in enumerate(whole.parts) if "*" in part)
    base = Path(*whole.parts[:fixed])
    try:
        return sorted(base.glob(str(Path(*whole.parts[fixed:]))))
    except OSError:
        return []


def _kit(home: Path, how: str) -> Jdk | None:
    """The kit in a folder; None if there is no compiler, or no version. No program of it runs."""
    try:
        real = home.resolve(strict=True)
        if not all(os.access(real / "bin" / name, os.X_OK) for name in ("java", "javac")):
            return None
        version = _VERSION.search(read_text(real / "release", errors="replace"))
    except (OSError, RuntimeError):
        return None
    return Jdk(real, version[1] + version[2], how) if version else None


@lru_cache(maxsize=8)
def _linked_paths(home: Path) -> tuple[Path, ...]:
    """The targets outside of the kit of links in its settings and libraries."""
    targets = set()
    for folder in ("conf", "lib"):
        for path in (home / folder).rglob("*"):
            target = path.resolve() if path.is_symlink() else home
            if not target.is_relative_to(home):
                targets.add(target)
    own = {Path(*path.parts[:3]) for path in targets if re.match(r"/etc/(java|openjdk)", str(path))}
    return tuple(sorted(own | {path for path in targets if not any(path.is_relative_to(at) for at in own)}))


@lru_cache(maxsize=4)
def worker_classes(jdk: Jdk) -> Path:
    """The folder of the worker's classes, compiled once for each version of the kit and of their sources.

    Raises:
        SandboxError: they cannot be compiled.
    """
    sources = sorted(_SOURCES.rglob("*.java"))
    digest = hashlib.sha256(repr((jdk.version, str(jdk.home))).encode())
    for source in sources:
        digest.update(source.read_bytes())
    place = Path(platformdirs.user_cache_dir("counterlens")) / "java-worker" / digest.hexdigest()[:24]
    if (place / "complete").exists():
        return place
    try:
        make_folder(place.parent)
        made = Path(tempfile.mkdtemp(dir=place.parent))
        command = [
            str(jdk.javac),
            "-J-XX:TieredStopAtLevel=1",  # it ends before the second compiler of the JVM would pay off
            "-nowarn",
            "-Xlint:none",
            "-proc:none",  # javac would run annotation processors that it finds on its class path
            "-classpath",
            str(made),
            "-XDstringConcat=inline",
            "-d",
            str(made),
            *map(str, sources),
        ]
        run(command, seconds=_COMPILE_SECONDS, cwd=made)
        (made / "complete").touch()
    except CalledProcessError as error:
        output = error.stderr.decode("utf-8", "replace").strip()[-300:]
        raise SandboxError(f"{jdk.javac} cannot compile the worker for Java: {output}") from None
    except (OSError, SubprocessError) as error:
        raise SandboxError(f"the worker for Java cannot be compiled: {error}") from error
    try:
        made.rename(place)
    except OSError:  # another process was faster
        shutil.rmtree(made, ignore_errors=True)
    return place


class JavaMachine:
    """One JVM in the sandbox. Not thread-safe.

    Args:
        heap: Maximum heap of the programs in it, in MiB.
        library: The jars that programs and tests can use besides the kit's library.

    Raises:
        SandboxError: it cannot be started.
    """

    def __init__(self, sandbox: Sandbox, jdk: Jdk, heap: int, library: tuple[Path, ...] = ()) -> None:
        classes = worker_classes(jdk)
        jars = os.pathsep.join(map(str, library))
        given = (f"-Dcounterlens.library={jars}",) if jars else ()
        command = (str(jdk.java), f"-Xmx{heap}m", *_OPTIONS, *given, "-cp", str(classes), _MAIN)
        limits = Limits(memory_bytes=_ADDRESS_SPACE, cpu_seconds=24 * 3600)
        readable = (*jdk.folders, classes, *library)
        self._line: Conversation = sandbox.serve(ServedProgram(command, readable, {}, limits))
        self.used = 0
        """Number of programs that it has run."""

    @property
    def alive(self) -> bool:
        """Whether it can take requests."""
        return self._line.alive

    def ask(self, frame: bytes, deadline: float, cancel: Event | None = None) -> bytes:
        """Send one raw request; see `Conversation.ask`."""
        answer = self._line.ask(frame, deadline, room=ROOM, cancel=cancel)
        if not answer:
            raise ServiceEndedError("it sent an empty answer")
        return answer

    def compile(
        self, units: Sequence[tuple[str, str]], deadline: float, cancel: Event | None = None
    ) -> dict[str, bytes] | str:
        """Compile some units of source together.

        Args:
            units: Names of files and their texts.
            deadline: As for `ask`.

        Returns:
            The classes, or the errors.
        """
        parts = [b"C", _SIZE.pack(len(units))]
        for name, text in units:
            parts += [pack(name), pack(text)]
        answer = AnswerParts(self.ask(b"".join(parts), deadline, cancel))
        if answer.take(1) == b"e":
            return answer.text()
        return {answer.text(): answer.take(answer.size()) for _ in range(answer.size())}

    def load(self, classes: Classes, deadline: float, cancel: Event | None = None) -> None:
        """Load a program, which replaces the last one."""
        self.used += 1
        if self.ask(b"L" + packed_classes(classes), deadline, cancel) != b"l":
            raise ServiceEndedError("it did not accept the program")

    def run_tests(
        self,
        names: Sequence[str],
        classes: Classes,
        seal: bytes,
        deadline: float,
        cancel: Event | None = None,
    ) -> bytes:
        """Run the tests of some classes together with their program; return the frame with the verdict."""
        self.used += 1
        asked = b"".join([b"S", seal, _SIZE.pack(len(names)), *map(pack, names)])
        return self.ask(asked + packed_classes(classes), deadline, cancel)

    def close(self, *, wait: bool = True) -> None:
        """End it, even during a request; see `Conversation.close`."""
        self._line.close(wait=wait)


class AnswerParts:
    """Reads the parts of a frame in order."""

    def __init__(self, frame: bytes) -> None:
        self._frame, self._at = frame, 0

    def take(self, size: int) -> bytes:
        """The next `size` bytes.

        Raises:
            ServiceEndedError: the frame has fewer.
        """
        part = self._frame[self._at : self._at + size]
        if size < 0 or len(part) < size:
            raise ServiceEndedError("its answer is incomplete")
        self._at += size
        return part

    def size(self) -> int:
        """The next number."""
        return int(_SIZE.unpack(self.take(_SIZE.size))[0])

    def flag(self) -> bool:
        """The next boolean."""
        return self.take(1) != b"\0"

    def text(self) -> str:
        """The next text; unpaired surrogates become question marks."""
        return self.take(2 * self.size()).decode("utf-16-be", "replace")


def pack(text: str) -> bytes:
    """A text in the worker's encoding."""
    data = text.encode("utf-16-be", "surrogatepass")
    return _SIZE.pack(len(data) // 2) + data


def packed_classes(classes: Classes) -> bytes:
    """Classes in the worker's encoding."""
    parts = [_SIZE.pack(len(classes))]
    for name, data in classes.items():
        parts += [pack(name), _SIZE.pack(len(data)), data]
    return b"".join(parts)
