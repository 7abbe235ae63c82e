"""macOS: `sandbox-exec` around the launcher, with a profile that denies by default.

Written from the manual pages sandbox-exec(1) and sandbox(7) and from Apple's own profiles below
/System/Library/Sandbox. UNTESTED: it has not run on a Mac yet. Apple has deprecated the command, but
still ships it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Sequence

from counterlens.errors import SandboxError
from counterlens.processes import find_program
from counterlens.sandbox.shell import own_interpreter, temporary_folder

_ALWAYS = ("/System", "/Library", "/usr", "/bin", "/sbin", "/private/var/db/timezone", "/dev")


class Seatbelt:
    """The system's own sandbox.

    Raises:
        SandboxError: there is none.
    """

    name = "sandbox-exec"
    holds = frozenset({"view", "seccomp"})  # no sockets and no signals, as a seccomp filter would have it

    def __init__(self) -> None:
        program = find_program("sandbox-exec") if sys.platform == "darwin" else None
        if program is None:
            raise SandboxError("sandbox-exec exists on macOS only")
        self._program = program

    def folder(self) -> tuple[str, Callable[[], None]]:
        """A new folder among the temporary ones."""
        return temporary_folder()

    def view(self, readable: Sequence[str]) -> Hashable:
        """The readable paths: the profile names them."""
        return tuple(readable)

    def wrap(self, command: Sequence[str], folder: str, readable: Sequence[str], disk: int) -> list[str]:  # noqa: ARG002
        """The command under a profile."""
        return [self._program, "-p", profile(folder, [*readable, *own_interpreter()]), *command]


def profile(folder: str, readable: Sequence[str]) -> str:
    """A profile in the sandbox's language: nothing but reading these, and writing the private folder."""
    named = sorted({name for path in (*_ALWAYS, *readable) for name in (path, os.path.realpath(path))})
    reading = " ".join(f"(subpath {_quote(path)})" for path in named)
    return "\n".join(
        [
            "(version 1)",
            "(deny default)",
            "(allow process-fork) (allow process-exec)",  # the launcher's own; programs by RLIMIT_NPROC
            "(allow signal (target same-sandbox))",
            "(allow sysctl-read) (allow mach-lookup) (allow file-read-metadata)",
            f'(allow file-read* (literal "/") {reading})',
            f"(allow file-read* file-write* (subpath {_quote(folder)}))",
            '(allow file-write-data (literal "/dev/null") (literal "/dev/zero"))',
            "(deny network*)",
        ]
    )


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
