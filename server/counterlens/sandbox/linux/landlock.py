"""Landlock: limits on the files that a process may read and write, without namespaces and without root.

See the kernel's documentation, "Landlock: unprivileged access control". The limits are inherited and
irreversible.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable

from counterlens.sandbox.linux import syscalls as sys_

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_MAKE_DEVICE = (1 << 6) | (1 << 11)  # character and block devices
_NET_ALL = 0b11  # bind and connect, TCP
_SCOPE_ALL = 0b11  # abstract Unix sockets, signals
_PATH_BENEATH = 1
_VERSION_FLAG = 1
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def landlock_version() -> int:
    """The version of Landlock's interface; 0 if there is none."""
    try:
        return sys_.syscall(sys_.LANDLOCK_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


class Ruleset:
    """The rights of a process; nothing is restricted before `enforce`.

    TCP, signals and abstract sockets to processes outside are also closed, if the kernel's version supports
    that.

    Raises:
        OSError: there is no Landlock here.
    """

    def __init__(self) -> None:
        version = landlock_version()
        if version == 0:
            raise OSError("this kernel has no Landlock")
        rights = (1 << 13) - 1
        for since, right in ((2, 1 << 13), (3, _TRUNCATE), (5, _IOCTL_DEVICE)):
            rights |= right if version >= since else 0
        attributes = struct.pack("<QQQ", rights, _NET_ALL, _SCOPE_ALL)
        attributes = attributes[: 24 if version >= 6 else 16 if version >= 4 else 8]
        self._rights, self._known = rights, set[str]()
        self._handle = sys_.syscall(sys_.LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
        for path in _DEVICES:
            _allow(self._handle, path, (_READ_FILE | _WRITE_FILE | _TRUNCATE) & rights)

    def allow_reading(self, paths: Iterable[str]) -> None:
        """Allow reading and executing below these paths; missing ones are left out."""
        for path in paths:
            if path not in self._known:
                self._known.add(path)
                _allow(self._handle, path, _READ & self._rights)

    def allow_writing(self, paths: Iterable[str]) -> None:
        """Allow everything below these paths, except creating devices."""
        for path in paths:
            _allow(self._handle, path, self._rights & ~_MAKE_DEVICE & ~_IOCTL_DEVICE)

    def enforce(self) -> None:
        """Restrict the calling process irreversibly."""
        try:
            sys_.syscall(sys_.LANDLOCK_RESTRICT_SELF, self._handle, 0)
        finally:
            os.close(self._handle)


def restrict_files(ruleset: Ruleset, writable: Iterable[str]) -> None:
    """Let the calling process read only what the rules allow, and write only below `writable`."""
    ruleset.allow_writing(writable)
    ruleset.enforce()


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - pathlib would double the launcher's start
            rights &= _FILE_RIGHTS
        rule = struct.pack("<Qi", rights, handle)
        sys_.syscall(sys_.LANDLOCK_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(handle)
