"""Wrappers around a launcher or a zygote: none, or bubblewrap."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from counterlens.sandbox.interpreter import describe


class Shell(Protocol):
    """Wraps commands.

    Attributes:
        name: The back end's id.
        holds: Its guarantees beyond those of the launcher.
    """

    @property
    def name(self) -> str: ...

    @property
    def holds(self) -> frozenset[str]: ...

    def folder(self) -> tuple[str, Callable[[], None]]:
        """A private folder for the programs' files, and a function that removes it."""
        ...

    def view(self, readable: Sequence[str]) -> Hashable:
        """Which of these paths exist inside, as what: jobs with equal views may share a shell."""
        ...

    def wrap(self, command: Sequence[str], folder: str, readable: Sequence[str], disk: int) -> list[str]:
        """The command inside of the shell.

        Args:
            folder: The private folder.
            readable: The readable paths.
            disk: Maximum size of the private folder, in bytes.
        """
        ...


class Bare:
    """No shell: only the launcher confines the programs, as far as the kernel allows."""

    name = "process"
    holds: frozenset[str] = frozenset()

    def folder(self) -> tuple[str, Callable[[], None]]:
        """A new folder among the temporary ones."""
        return temporary_folder()

    def view(self, readable: Sequence[str]) -> Hashable:  # noqa: ARG002
        """The same for all: nothing is hidden."""
        return ()

    def wrap(self, command: Sequence[str], folder: str, readable: Sequence[str], disk: int) -> list[str]:  # noqa: ARG002
        """The command itself."""
        return list(command)


def start_lasting(start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Start a process that is needed for longer than the calling thread.

    A shell that dies with its parent dies with the thread that started it, so a lasting thread starts it.
    """
    return _starter(os.getpid()).submit(start).result()


@lru_cache(maxsize=1)
def _starter(_process: int) -> ThreadPoolExecutor:
    """The lasting thread; a forked process gets its own."""
    return ThreadPoolExecutor(1, "counterlens-starter")


def temporary_folder() -> tuple[str, Callable[[], None]]:
    """A new private folder, and a function that removes it."""
    made = Path(tempfile.mkdtemp(prefix="counterlens-")).resolve()
    return str(made), lambda: remove(made)


def own_interpreter() -> tuple[str, ...]:
    """The paths that the launcher itself reads: the interpreter that runs Counterlens, and this package."""
    import counterlens

    folders = describe(Path(sys.executable)).folders
    return (*folders, str(Path(counterlens.__file__).parent))


def remove(folder: Path) -> None:
    """Remove a folder whatever the program did to the permissions in it; nothing outside is changed."""

    def unlock(function: Callable[[str], object], path: str, _error: object) -> None:
        for which in (Path(path).parent, Path(path)):
            if which == folder or folder in which.parents:
                try:
                    which.chmod(0o700, follow_symlinks=False)
                except OSError:
                    continue
        try:
            function(path)
        except OSError:
            return

    if folder.exists():
        shutil.rmtree(folder, onerror=unlock)
    if folder.exists():  # the content of a folder made readable is listed only the next time
        shutil.rmtree(folder, ignore_errors=True)


def links_of(path: str) -> list[str]:
    """The folders of the links that lead from a path to its target file."""
    folders, seen = [], set()
    while path not in seen:
        seen.add(path)
        folders.append(os.path.dirname(path))  # noqa: PTH120
        if not os.path.islink(path):  # noqa: PTH114
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))  # noqa: PTH115, PTH118, PTH120
        path = os.path.normpath(path)
    return folders
