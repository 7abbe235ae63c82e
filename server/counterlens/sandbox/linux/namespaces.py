"""What a process may see and reach: namespaces, and Landlock within or without them.

Namespaces: no network, no view of other processes, a read-only file system with a small private part. An
ordinary user can do all of this inside a user namespace; root also enters one, and so loses its capabilities.

Landlock: limits on the files that a process may read and write, without namespaces and without root.

See the kernel's documentation, "Landlock: unprivileged access control". The limits are inherited and
irreversible.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from counterlens.sandbox.linux import syscalls as sys_

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NAMESPACES = (
    sys_.CLONE_NEWUSER
    | sys_.CLONE_NEWNS
    | sys_.CLONE_NEWPID
    | sys_.CLONE_NEWNET
    | sys_.CLONE_NEWIPC
    | sys_.CLONE_NEWUTS
)
_AT_RECURSIVE, _AT_FDCWD = 0x8000, -100
_OPEN_TREE_CLONE, _MOVE_MOUNT_F_EMPTY_PATH = 1, 4
_MOUNT_ATTR_RDONLY = 1
_MS_PRIVATE = 1 << 18
UNPRIVILEGED = 1000  # user id of root inside; not 0, so that `exec` drops the capabilities
FEWEST = 301  # processes and threads; the kernel's minimum
_CAPABILITIES = 0x20080522  # the version of the interface of `capset`
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_MAKE_DEVICE = (1 << 6) | (1 << 11)  # character and block devices
_NET_ALL = 0b11  # bind and connect, TCP
_SCOPE_ALL = 0b11  # abstract Unix sockets, signals
_PATH_BENEATH = 1
_VERSION_FLAG = 1
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def enter_namespaces() -> None:
    """Move the calling process to new namespaces; its next child is the first of a new PID namespace.

    Raises:
        OSError: the kernel, or the container around it, does not allow it.
    """
    uid, gid = os.geteuid(), os.getegid()
    sys_.unshare(_NAMESPACES)
    _map(uid, gid)


def fork_into_namespaces() -> Callable[[], None] | None:
    """Fork a process into new namespaces, the first of its PID namespace.

    Returns:
        In the child, a function that maps its user; None in the caller.

    Raises:
        OSError: the kernel, or the container around it, does not allow it.
    """
    uid, gid = os.geteuid(), os.getegid()
    return None if sys_.fork_into(_NAMESPACES) else lambda: _map(uid, gid)


def _map(uid: int, gid: int) -> None:
    """Map the user to itself in a new user namespace, or root to an ordinary user."""
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid or UNPRIVILEGED} {uid} 1")
    _write("/proc/self/gid_map", f"{gid or UNPRIVILEGED} {gid} 1")


def bound_processes(most: int) -> None:
    """Bound the number of processes and threads in the caller's PID namespace, whatever their user.

    The ordinary limit does not apply to root. Linux has this bound since 6.14, and rejects values below
    `FEWEST`.

    Raises:
        OSError: this kernel has only one such number, for the whole machine.
    """
    try:
        _write("/proc/sys/kernel/pid_max", str(most))
    except OSError:  # a `/proc` that is not our own has been made read-only by us
        _set_attributes(b"/proc", 0, take=_MOUNT_ATTR_RDONLY)
        try:
            _write("/proc/sys/kernel/pid_max", str(most))
        finally:
            _set_attributes(b"/proc", 0, give=_MOUNT_ATTR_RDONLY)


def be_expendable() -> None:
    """Let the kernel end this process and its descendants first if the machine is out of memory.

    Raises:
        OSError: the kernel does not allow it.
    """
    _write("/proc/self/oom_score_adj", "1000")


def drop_capabilities() -> None:
    """Drop the capabilities of a namespace's creator, as `exec` would.

    Raises:
        OSError: the kernel refused it.
    """
    head = ctypes.create_string_buffer(struct.pack("<II", _CAPABILITIES, 0), 8)
    sys_.capset(head, ctypes.create_string_buffer(24))


def read_only() -> None:
    """Make all mounts read-only in this mount namespace.

    Raises:
        OSError: the kernel does not allow it.
    """
    _set_attributes(b"/", _AT_RECURSIVE, give=_MOUNT_ATTR_RDONLY, spread=_MS_PRIVATE)


def private_folder(folder: str, size: int, *, again: bool = False) -> None:
    """Cover a folder with a separate, empty file system that vanishes at the end.

    Args:
        folder: An existing folder.
        size: Its maximum size in bytes; it can hold one file or folder per 4 KiB.
        again: Whether it is already covered, and only gets another size.

    Raises:
        OSError: the kernel does not allow it.
    """
    flags = sys_.MS_NOSUID | sys_.MS_NODEV | (sys_.MS_REMOUNT if again else 0)
    sys_.mount("tmpfs", folder, "tmpfs", flags, f"size={size},nr_inodes={64 + size // 4096},mode=700")


def layer(folder: str, upper: str, empty: str) -> None:
    """Let a folder be changed: what is written to it goes to another one, which covers it.

    What is mounted below the folder is still there, and cannot be changed.

    Args:
        upper: A folder that is made for the changes; nothing can be seen in it afterwards.
        empty: An empty folder.

    Raises:
        OSError: the kernel does not allow it.
    """
    changes, work = f"{upper}/changes", f"{upper}/work"
    os.makedirs(changes)  # noqa: PTH103
    os.mkdir(work)  # noqa: PTH102
    within = _copies(place for place in _mount_points() if place.startswith(folder + "/"))
    os.chdir(folder)  # its name could have commas and colons
    options = f"lowerdir=.,upperdir={changes},workdir={work},userxattr"
    sys_.mount("overlay", folder, "overlay", sys_.MS_NOSUID | sys_.MS_NODEV, options)
    os.chdir("/")
    sys_.mount(empty, upper, "none", sys_.MS_BIND)
    _show_again(within)


def replace_folder(folder: str, instead: str, kept: Iterable[str]) -> None:
    """Show one folder in place of another, except some places in it, which stay as they are.

    Raises:
        OSError: the kernel does not allow it.
    """
    within = _copies(place for place in kept if place.startswith(folder + "/"))
    sys_.mount(instead, folder, "none", sys_.MS_BIND)
    _show_again(within)


def _mount_points() -> list[str]:
    """The places at which something is mounted, outer ones first."""
    with open("/proc/self/mountinfo", "rb") as file:  # noqa: PTH123
        names = {row.split(b" ")[4] for row in file}
    return sorted(os.fsdecode(_unescape(name) if b"\\" in name else name) for name in names)


def _unescape(name: bytes) -> bytes:
    """A name of a mount, in which blanks are octal numbers."""
    return name.decode("unicode_escape").encode("latin-1")


def _copies(places: Iterable[str]) -> list[tuple[str, int]]:
    """What is mounted at some places, those that exist, as handles of copies that are mounted nowhere yet."""
    copies: list[tuple[str, int]] = []
    for place in places:
        if os.path.exists(place):  # noqa: PTH110
            path, flags = os.fsencode(place), _OPEN_TREE_CLONE | os.O_CLOEXEC | _AT_RECURSIVE
            copies.append((place, sys_.syscall(sys_.OPEN_TREE, _AT_FDCWD, path, flags)))
    return copies


def _show_again(copies: list[tuple[str, int]]) -> None:
    """Mount files and folders at their names, outer ones first."""
    for place, handle in copies:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            os.makedirs(place, exist_ok=True)  # noqa: PTH103
        else:
            os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
            os.close(os.open(place, os.O_CREAT | os.O_RDONLY))
        names = (b"", _AT_FDCWD, os.fsencode(place))
        sys_.syscall(sys_.MOVE_MOUNT, handle, *names, _MOVE_MOUNT_F_EMPTY_PATH)
        os.close(handle)


def cover_file(path: str, instead: str) -> None:
    """Show one file in place of another; it stays visible when its own name is removed.

    Raises:
        OSError: the kernel does not allow it.
    """
    sys_.mount(instead, path, "none", sys_.MS_BIND)
    _set_attributes(os.fsencode(path), 0, give=_MOUNT_ATTR_RDONLY)


def own_proc() -> None:
    """Show only the processes of this PID namespace under `/proc`.

    Raises:
        OSError: `/proc` is masked, as it is in most containers.
    """
    sys_.mount("proc", "/proc", "proc", sys_.MS_NOSUID | sys_.MS_NODEV | sys_.MS_NOEXEC)


def _set_attributes(path: bytes, flags: int, *, give: int = 0, take: int = 0, spread: int = 0) -> None:
    attributes = struct.pack("<QQQQ", give, take, spread, 0)
    sys_.syscall(sys_.MOUNT_SETATTR, _AT_FDCWD, path, flags, attributes, len(attributes))


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 - pathlib would slow the launcher's start
        file.write(text)


def landlock_version() -> int:
    """The version of Landlock's interface; 0 if there is none."""
    try:
        return sys_.syscall(sys_.LANDLOCK_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


class Ruleset:
    """The rights of a process; nothing is restricted before `enforce`.

    Signals and abstract sockets to processes outside are also closed, if the kernel's version supports that.

    Args:
        tcp: Whether TCP stays open: for a process in a network namespace of its own, where nothing but
            itself can be reached.

    Raises:
        OSError: there is no Landlock here.
    """

    def __init__(self, *, tcp: bool) -> None:
        version = landlock_version()
        if version == 0:
            raise OSError("this kernel has no Landlock")
        rights = (1 << 13) - 1
        for since, right in ((2, 1 << 13), (3, _TRUNCATE), (5, _IOCTL_DEVICE)):
            rights |= right if version >= since else 0
        attributes = struct.pack("<QQQ", rights, 0 if tcp else _NET_ALL, _SCOPE_ALL)
        attributes = attributes[: 24 if version >= 6 else 16 if version >= 4 else 8]
        self._rights, self._readable = rights, set[str]()
        self._handle = sys_.syscall(sys_.LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
        for path in DEVICES:
            _allow(self._handle, path, (_READ_FILE | _WRITE_FILE | _TRUNCATE) & rights)

    def allow_reading(self, paths: Iterable[str]) -> None:
        """Allow reading and executing below these paths; missing ones are left out."""
        for path in paths:
            if path not in self._readable:
                self._readable.add(path)
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
