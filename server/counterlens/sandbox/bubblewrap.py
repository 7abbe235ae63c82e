"""Bubblewrap around the launcher: files that a program may not read do not exist there.

See the manual of bwrap(1). The launcher inside confines each program once more, with namespaces nested in
these, Landlock, a seccomp filter and resource limits.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Hashable, Sequence

from counterlens.errors import SandboxError
from counterlens.processes import find_program
from counterlens.sandbox.shell import own_interpreter

_NAMESPACES = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")


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
        for path in _outermost([*readable, *own_interpreter()]):
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
