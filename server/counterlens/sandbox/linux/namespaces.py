"""Namespaces: no network, no sight of other processes, a read-only file system with a small private part.

All of it is done by an ordinary user inside a user namespace; root goes the same way, and loses its
capabilities by it.
"""

from __future__ import annotations

import os
import struct

from counterlens.sandbox.linux import syscalls as sys_

_AT_RECURSIVE = 0x8000
_MOUNT_ATTR_RDONLY = 1
_MS_PRIVATE = 1 << 18
_UNPRIVILEGED = 1000  # who root is inside; anything but 0, so that `exec` drops the capabilities


def enter_namespaces() -> None:
    """Move the calling process to new namespaces; its next child is the first of a new PID namespace.

    Raises:
        OSError: the kernel, or the container around it, does not allow it.
    """
    uid, gid = os.getuid(), os.getgid()
    sys_.unshare(
        sys_.CLONE_NEWUSER
        | sys_.CLONE_NEWNS
        | sys_.CLONE_NEWPID
        | sys_.CLONE_NEWNET
        | sys_.CLONE_NEWIPC
        | sys_.CLONE_NEWUTS
    )
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid or _UNPRIVILEGED} {uid} 1")
    _write("/proc/self/gid_map", f"{gid or _UNPRIVILEGED} {gid} 1")


def private_filesystem(folder: str, size: int) -> None:
    """Make everything read-only, and `folder` an empty file system of its own that vanishes at the end.

    Args:
        folder: An existing folder.
        size: How much it can hold, bytes; with a file or folder for each 4 KiB.

    Raises:
        OSError: the kernel does not allow it.
    """
    attributes = struct.pack("<QQQQ", _MOUNT_ATTR_RDONLY, 0, _MS_PRIVATE, 0)
    sys_.syscall(sys_.MOUNT_SETATTR, -100, b"/", _AT_RECURSIVE, attributes, len(attributes))
    flags = sys_.MS_NOSUID | sys_.MS_NODEV
    sys_.mount("tmpfs", folder, "tmpfs", flags, f"size={size},nr_inodes={64 + size // 4096},mode=700")


def own_proc() -> None:
    """Show only the processes of this PID namespace under `/proc`.

    Raises:
        OSError: `/proc` is masked, as it is in most containers.
    """
    sys_.mount("proc", "/proc", "proc", sys_.MS_NOSUID | sys_.MS_NODEV | sys_.MS_NOEXEC)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 - pathlib would slow the launcher's start
        file.write(text)
