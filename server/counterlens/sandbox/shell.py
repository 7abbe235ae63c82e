"""Wrappers around a launcher or a zygote: none, or bubblewrap.

In bubblewrap, files that a program may not read do not exist. See the manual of bwrap(1). The launcher inside
confines each program once more, with namespaces nested in these, Landlock, a seccomp filter and resource
limits.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Protocol

import counterlens
from counterlens.errors import SandboxError
from counterlens.processes import find_program
from counterlens.sandbox.interpreter import describe

_NAMESPACES = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/sys/devices/system/cpu", "/nix/store")
_SETTINGS = (
    # the dynamic linker; links by which Debian chooses among packages of compiled libraries
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld.so.preload", "alternatives",
    # users, hosts and services by name
    "passwd", "group", "nsswitch.conf", "hosts", "host.conf", "services", "protocols",
    # time zone, locale, system
    "localtime", "timezone", "locale.alias", "os-release", "debian_version",
    # files that the standard library and common packages look up
    "mime.types", "ssl/openssl.cnf", "ssl/certs", "pki/tls/certs", "pki/ca-trust/extracted", "fonts", "xml",
)  # fmt: skip


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


def temporary_folder() -> tuple[str, Callable[[], None]]:
    """A new private folder, and a function that removes it."""
    made = Path(tempfile.mkdtemp(prefix="counterlens-")).resolve()
    return str(made), lambda: remove(made)


def remove(folder: Path) -> None:
    """Remove a folder whatever the program did to the permissions in it; nothing outside is changed."""
    _unlock(folder)
    for parent, folders, _ in os.walk(folder):  # a folder is listed after it was unlocked
        for name in folders:
            _unlock(Path(parent, name))
    shutil.rmtree(folder, ignore_errors=True)


def _unlock(folder: Path) -> None:
    if not folder.is_symlink():
        with contextlib.suppress(OSError):
            folder.chmod(0o700)


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


class Bubblewrap:
    """The Debian package `bubblewrap`.

    Raises:
        SandboxError: it is not installed.
    """

    name = "bubblewrap"
    holds = frozenset({"namespaces", "view"})

    def __init__(self) -> None:
        program = find_program("bwrap") if sys.platform == "linux" else None
        if program is None:
            raise SandboxError(
                "bubblewrap is not installed", "On Debian or Ubuntu: sudo apt-get install bubblewrap"
            )
        self._program = program

    def folder(self) -> tuple[str, Callable[[], None]]:
        """A folder that exists only inside the shell; nothing has to be removed.

        It is below none of the folders that hold users' files, such as /tmp: a readable one of these is bound
        read-only.
        """
        return f"/counterlens-{secrets.token_hex(6)}", lambda: None

    def view(self, readable: Sequence[str]) -> Hashable:
        """The readable paths, and what they are now: a folder that is made again is another one."""
        return tuple((path, _identity(path)) for path in _outermost(readable))

    def wrap(self, command: Sequence[str], folder: str, readable: Sequence[str], disk: int) -> list[str]:
        """The command, which sees only the readable paths and an empty private folder."""
        options = ["--die-with-parent", "--new-session", *_NAMESPACES]
        options += ["--size", str(disk), "--tmpfs", "/tmp", "--dir", folder]  # noqa: S108
        options += ["--proc", "/proc", "--dev", "/dev"]
        # The launcher reads the interpreter that runs Counterlens, and this package.
        own = (*describe(Path(sys.executable)).folders, str(Path(counterlens.__file__).parent))
        for path in _outermost([*readable, *own]):
            options += ["--ro-bind-try", path, path]
        options += ["--chdir", "/", "--", *command]
        user = max(os.geteuid(), 1)  # never root inside, so that `exec` drops the capabilities
        return [self._program, "--unshare-user", "--uid", str(user), *options]


def _identity(path: str) -> tuple[int, int] | None:
    """What a path leads to; None if that does not exist."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _outermost(paths: Sequence[str]) -> list[str]:
    """The paths that are not below another of them, with links both unresolved and resolved."""
    named = sorted({name for path in paths for name in (path, os.path.realpath(path))})
    kept: list[str] = []
    for name in named:
        if name != "/" and not any(name == above or name.startswith(above + "/") for above in kept):
            kept.append(name)
    return kept


def readable() -> tuple[str, ...]:
    """Folders and files, existing or not; of `/etc` only needed files: root could read secrets there."""
    settings = Path("/etc")
    own = sorted(str(path) for path in settings.glob("python3*"))  # Debian's `sitecustomize`
    return (*_PROGRAMS, *(str(settings / name) for name in _SETTINGS), *own)
