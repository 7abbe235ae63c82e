"""The system calls that Python 3.11's standard library does not offer."""

from __future__ import annotations

import ctypes
import os
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 1 << 1
MS_NODEV = 1 << 2
MS_NOEXEC = 1 << 3
MS_REMOUNT = 1 << 5
MS_BIND = 1 << 12

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

SIGCHLD = 17
_AF_INET, _DATAGRAMS, _UP = 2, 2 | os.O_CLOEXEC, 1
_SIOCSIFFLAGS = 0x8914

# The numbers of calls newer than Linux 5.0 are the same on every architecture.
OPEN_TREE = 428
MOVE_MOUNT = 429
CLONE3 = 435
MOUNT_SETATTR = 442
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_python = ctypes.PyDLL(None, use_errno=True)  # PyDLL keeps the interpreter's lock
_python.syscall.restype = ctypes.c_long


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, *arguments: int | ctypes.Array[ctypes.c_char] | bytes | None) -> int:
    """Any system call, by number.

    Raises:
        OSError: the kernel refused it.
    """
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _check(_libc.syscall(ctypes.c_long(number), *words), f"system call {number}")


def prctl(option: int, value: int, pointer: ctypes.Array[ctypes.c_char] | None = None) -> None:
    """`prctl(2)`.

    Raises:
        OSError: the kernel refused it.
    """
    third = pointer if pointer is not None else ctypes.c_ulong(0)
    zero = ctypes.c_ulong(0)
    _check(_libc.prctl(option, ctypes.c_ulong(value), third, zero, zero), f"prctl {option}")


def unshare(flags: int) -> None:
    """`unshare(2)`.

    Raises:
        OSError: the kernel refused it.
    """
    _check(_libc.unshare(flags), "unshare")


def fork_into(flags: int) -> int:
    """Fork as `os.fork` does, with the child in new namespaces: `clone3(2)`.

    The C library does not learn of it: in the child itself, but not in its forks, `raise` and `abort` signal
    the wrong thread id.

    Returns:
        0 in the child, in which only this thread runs; its process id in the caller.

    Raises:
        OSError: the kernel refused it.
    """
    arguments = struct.pack("<8Q", flags, 0, 0, 0, SIGCHLD, 0, 0, 0)
    _python.PyOS_BeforeFork()
    pid: int = _python.syscall(ctypes.c_long(CLONE3), arguments, ctypes.c_long(len(arguments)))
    if pid == 0:
        _python.PyOS_AfterFork_Child()
        return 0
    number = ctypes.get_errno()
    _python.PyOS_AfterFork_Parent()
    ctypes.set_errno(number)
    return _check(pid, "clone3")


def interface_up(name: bytes) -> None:
    """Set a network interface up: `netdevice(7)`.

    Raises:
        OSError: the kernel refused it.
    """
    line = _check(_libc.socket(_AF_INET, _DATAGRAMS, 0), "socket")
    try:
        request = ctypes.create_string_buffer(struct.pack("<16sH22x", name, _UP), 40)
        _check(_libc.ioctl(line, ctypes.c_ulong(_SIOCSIFFLAGS), request), "ioctl")
    finally:
        os.close(line)


def capset(head: ctypes.Array[ctypes.c_char], data: ctypes.Array[ctypes.c_char]) -> None:
    """`capset(2)`.

    Raises:
        OSError: the kernel refused it.
    """
    _check(_libc.capset(head, data), "capset")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """`mount(2)`.

    Raises:
        OSError: the kernel refused it.
    """
    words = [os.fsencode(word) for word in (source, target, kind)]
    _check(_libc.mount(*words, ctypes.c_ulong(flags), options.encode()), f"mount {kind} on {target}")
