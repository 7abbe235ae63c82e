"""A seccomp filter: the system calls that interpreters need for themselves, their files and children.

Every other call is answered with an error number (`EPERM`; `ENOSYS` if it is newer than our list, so that a
libc falls back to an older one), never by killing, so that a program can report a `PermissionError`. The
filter is a classic BPF program (kernel documentation, "Seccomp BPF"). Filters can count nothing, so they
forbid new processes altogether or not at all; threads are always allowed.

Calls are looked up in a tree of ranges. When the filter is installed, the kernel determines which calls are
allowed whatever their arguments, and does not run the filter for these (since Linux 5.11).

The list of allowed calls, by purpose, contains the calls of the standard library and compiled packages on the
program itself, its files and its children. Names and numbers: the kernel's `asm/unistd_64.h` and
`asm-generic/unistd.h`.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
from collections.abc import Sequence

from counterlens.sandbox.linux import syscalls as sys_

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16
_AND = 0x54
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # `arch` in the filter's input
_X32 = 0x40000000

_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020000
_AF_UNIX, _SOCKET_KIND, _STREAM, _PACKETS = 1, 0xF, 1, 5
_SOL_SOCKET = 1
_SOCKET_OPTIONS = (2, 7, 8, 9, 16, 20, 21)  # reuse, sizes of buffers, keep-alive, credentials, time-outs
_TERMINAL_REQUESTS = (0x5401, 0x5413, 0x541B, 0x802C542A)  # TCGETS, TIOCGWINSZ, FIONREAD, TCGETS2
_FILE_REQUESTS = (0x5421, 0x5450, 0x5451, 0x40049409)  # FIONBIO, FIONCLEX, FIOCLEX, FICLONE
_FILE_COMMANDS = (
    *range(8),  # duplicates, flags, locks
    9,  # F_GETOWN; not F_SETOWN and F_SETSIG, which send signals
    36, 37, 38,  # locks of open files
    1025,  # F_GETLEASE; not F_SETLEASE, which delays other openers, nor F_NOTIFY, which watches folders
    *range(1030, 1035),  # duplicates, sizes of pipes, seals
)  # fmt: skip
_PROCESS_OPTIONS = (
    1, 2, 3,  # the signal when the parent ends; PR_GET_DUMPABLE
    15, 16, 21, 23, 27,  # its name; PR_GET_SECCOMP, PR_CAPBSET_READ, PR_GET_SECUREBITS
    36, 37, 38, 39, 41, 42,  # subreaper, no new privileges, huge pages
    51, 56, 0x53564D41, 0x41555856,  # vector length, tagged addresses, names of memory, PR_GET_AUXV
)  # fmt: skip

_INSTRUCTION = 8  # bytes of one instruction
_Instruction = tuple[int, int, int, int]
_ALLOWED: _Instruction = (_RETURN, 0, 0, _ALLOW)
_REFUSE, _ABSENT = _ERROR | errno.EPERM, _ERROR | errno.ENOSYS
_DECISIONS = (_ALLOW, _REFUSE, _ABSENT)


def _argument(index: int) -> _Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * index)  # the low word; both machines are little-endian


def _error(number: int) -> _Instruction:
    return (_RETURN, 0, 0, _ERROR | number)


def _call(number: int, block: list[_Instruction]) -> list[_Instruction]:
    """The instructions for one call; the block ends in a decision."""
    return [(_JUMP_EQUAL, 0, len(block), number), *block]


def _one_of(
    number: int, *conditions: tuple[int, tuple[int, ...]], otherwise: int = errno.EPERM
) -> list[_Instruction]:
    """Allow a call only if each of the given arguments has one of its values."""
    block: list[_Instruction] = []
    for argument, values in conditions:
        block.append(_argument(argument))
        for at, value in enumerate(values):
            block.append((_JUMP_EQUAL, len(values) - at, 0, value & 0xFFFFFFFF))
        block.append(_error(otherwise))
    return _call(number, [*block, _ALLOWED])


def _pairs_only(number: int) -> list[_Instruction]:
    """Allow pairs of sockets that reach only each other.

    A datagram socket, even one of a pair, can send to any address, and the kernel treats a raw one as such.
    """
    block = [_argument(0), (_JUMP_EQUAL, 0, 4, _AF_UNIX), _argument(1), (_AND, 0, 0, _SOCKET_KIND)]
    block += [(_JUMP_EQUAL, 2, 0, _STREAM), (_JUMP_EQUAL, 1, 0, _PACKETS), _error(errno.EPERM), _ALLOWED]
    return _call(number, block)


def _clones(number: int, *, processes: bool) -> list[_Instruction]:
    """Allow threads, and processes if `processes`; never namespaces."""
    block = [_argument(0), (_JUMP_SET, 1, 0, _CLONE_NAMESPACES)]
    block.append(_ALLOWED if processes else (_JUMP_SET, 1, 0, _CLONE_THREAD))
    return _call(number, [*block, _error(errno.EPERM), *([] if processes else [_ALLOWED])])


def _tree(edges: list[tuple[int, int]], rest: int = 0) -> list[_Instruction]:
    """Look a number up among ranges: (first number, decision), in order.

    Args:
        edges: At least two.
        rest: Instructions between this part of the tree and `_DECISIONS`, to which it jumps.
    """
    middle = len(edges) // 2
    low, high = edges[:middle], edges[middle:]
    above = _tree(high, rest) if len(high) > 1 else []
    below = _tree(low, len(above) + rest) if len(low) > 1 else []
    if_below = 0 if below else len(above) + rest + _DECISIONS.index(low[0][1])
    if_above = len(below) if above else len(below) + rest + _DECISIONS.index(high[0][1])
    return [(_JUMP_GREATER_EQUAL, if_above, if_below, high[0][0]), *below, *above]


def _ranges(machine: str, *, processes: bool, signals: bool) -> list[tuple[int, int]]:
    """The numbers at which the decision changes, from 0 on."""
    free = {*(["fork", "vfork"] if processes else []), *(["kill", "tgkill"] if signals else [])}
    some = conditional(machine)
    allowed = {*allowed_calls(machine).values(), *(some[name] for name in free & some.keys())}
    unavailable = {*absent(machine).values()}
    edges: list[tuple[int, int]] = []
    for number in range(NEWEST + 2):
        newer = number in unavailable or number > NEWEST
        decision = _ALLOW if number in allowed else _ABSENT if newer else _REFUSE
        if not edges or decision != edges[-1][1]:
            edges.append((number, decision))
    return [*edges, (_X32, _REFUSE)]


@functools.lru_cache
def _always(machine: str, *, processes: bool, signals: bool) -> tuple[_Instruction, ...]:
    """The part of the filter that is the same for every process."""
    some = conditional(machine)
    code = _pairs_only(some["socketpair"])
    code += _one_of(some["setsockopt"], (1, (_SOL_SOCKET,)), (2, _SOCKET_OPTIONS))
    code += _one_of(some["fcntl"], (1, _FILE_COMMANDS))
    code += _one_of(some["ioctl"], (1, (*_TERMINAL_REQUESTS, *_FILE_REQUESTS)), otherwise=errno.ENOTTY)
    code += _one_of(some["prctl"], (0, _PROCESS_OPTIONS))
    code += _clones(some["clone"], processes=processes)
    code += _tree(_ranges(machine, processes=processes, signals=signals))
    return (*code, *((_RETURN, 0, 0, decision) for decision in _DECISIONS))


@functools.lru_cache
def _packed_always(machine: str, *, processes: bool, signals: bool) -> bytes:
    return _pack(_always(machine, processes=processes, signals=signals))


def _pack(code: Sequence[_Instruction]) -> bytes:
    """Instructions in the kernel's binary format."""
    return struct.pack("<" + "HBBI" * len(code), *(word for instruction in code for word in instruction))


def program(machine: str, own: int, *, processes: bool, signals: bool) -> list[tuple[int, int, int, int]]:
    """The filter, as instructions: code, jump offsets if true and if false, and a constant.

    Args:
        machine: The machine's name from `uname`.
        own: The process's id.
        processes: Whether it may start other processes.
        signals: Whether it may signal other processes.
    """
    always = _always(machine, processes=processes, signals=signals)
    return [*_of_process(machine, own, signals=signals), *always]


def _of_process(machine: str, own: int, *, signals: bool) -> list[_Instruction]:
    """The part that depends on the process, which precedes the rest."""
    some = conditional(machine)
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_JUMP_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    code += _one_of(some["prlimit64"], (0, (0, own)))
    code += _one_of(some["sched_setaffinity"], (0, (0, own)))
    code += _one_of(some["setpriority"], (0, (0,)), (1, (0, own)))
    if not signals:
        code += _one_of(some["kill"], (0, (0, own)))
        code += _one_of(some["tgkill"], (0, (own,)))
    return code


def prepare() -> None:
    """Build the parts common to all forks of this process in advance."""
    machine = os.uname().machine
    if machine in _ARCHITECTURES:
        for processes in (False, True):
            _packed_always(machine, processes=processes, signals=processes)


def restrict_calls(*, processes: bool, signals: bool) -> None:
    """Install the filter for the calling process and its descendants.

    Args:
        processes: Whether it may start other processes.
        signals: Whether it may signal other processes.

    Raises:
        OSError: no filter can be installed here, or the machine is unknown.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise OSError(f"there is no seccomp filter for {machine}")
    packed = _pack(_of_process(machine, os.getpid(), signals=signals))
    packed += _packed_always(machine, processes=processes, signals=signals)
    instructions = ctypes.create_string_buffer(packed, len(packed))
    head = struct.pack("<HxxxxxxQ", len(packed) // _INSTRUCTION, ctypes.addressof(instructions))
    sys_.prctl(sys_.PR_SET_SECCOMP, 2, ctypes.create_string_buffer(head, len(head)))


MACHINES = {"x86_64": 0, "aarch64": 1}
"""Index of a machine's number in the pairs below."""
NEWEST = 469
"""`file_setattr` of Linux 6.17, the newest call that was considered for this list."""
_NONE = -1  # the machine has no such call

Numbers = dict[str, tuple[int, int]]

_FILES: Numbers = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "pwrite64": (18, 68), "preadv": (295, 69), "pwritev": (296, 70), "preadv2": (327, 286),
    "pwritev2": (328, 287), "lseek": (8, 62), "open": (2, _NONE), "creat": (85, _NONE),
    "openat": (257, 56), "openat2": (437, 437), "close": (3, 57), "close_range": (436, 436),
    "dup": (32, 23), "dup2": (33, _NONE), "dup3": (292, 24), "pipe": (22, _NONE), "pipe2": (293, 59),
    "flock": (73, 32), "fsync": (74, 82), "fdatasync": (75, 83), "sync_file_range": (277, 84),
    "truncate": (76, 45), "ftruncate": (77, 46), "fallocate": (285, 47), "fadvise64": (221, 223),
    "readahead": (187, 213), "sendfile": (40, 71), "copy_file_range": (326, 285),
    "memfd_create": (319, 279), "stat": (4, _NONE), "fstat": (5, 80), "lstat": (6, _NONE),
    "newfstatat": (262, 79), "statx": (332, 291), "statfs": (137, 43), "fstatfs": (138, 44),
    "access": (21, _NONE), "faccessat": (269, 48), "faccessat2": (439, 439), "readlink": (89, _NONE),
    "readlinkat": (267, 78), "getdents": (78, _NONE), "getdents64": (217, 61), "getxattr": (191, 8),
    "lgetxattr": (192, 9), "fgetxattr": (193, 10), "listxattr": (194, 11), "llistxattr": (195, 12),
    "flistxattr": (196, 13), "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50),
    "mkdir": (83, _NONE), "mkdirat": (258, 34), "mknod": (133, _NONE), "mknodat": (259, 33),
    "rmdir": (84, _NONE), "unlink": (87, _NONE), "unlinkat": (263, 35), "rename": (82, _NONE),
    "renameat": (264, 38), "renameat2": (316, 276), "link": (86, _NONE), "linkat": (265, 37),
    "symlink": (88, _NONE), "symlinkat": (266, 36), "chmod": (90, _NONE), "fchmod": (91, 52),
    "fchmodat": (268, 53), "fchmodat2": (452, 452), "umask": (95, 166), "utime": (132, _NONE),
    "utimes": (235, _NONE), "futimesat": (261, _NONE), "utimensat": (280, 88),
}  # fmt: skip
_MEMORY: Numbers = {
    "brk": (12, 214), "mmap": (9, 222), "munmap": (11, 215), "mremap": (25, 216), "mprotect": (10, 226),
    "madvise": (28, 233), "mincore": (27, 232), "msync": (26, 227), "membarrier": (324, 283),
    "get_mempolicy": (239, 236), "map_shadow_stack": (453, 453), "mseal": (462, 462),
}  # fmt: skip
_WAITING: Numbers = {
    "poll": (7, _NONE), "ppoll": (271, 73), "select": (23, _NONE), "pselect6": (270, 72),
    "epoll_create": (213, _NONE), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
    "epoll_wait": (232, _NONE), "epoll_pwait": (281, 22), "epoll_pwait2": (441, 441),
    "eventfd": (284, _NONE), "eventfd2": (290, 19), "signalfd": (282, _NONE), "signalfd4": (289, 74),
    "timerfd_create": (283, 85), "timerfd_settime": (286, 86), "timerfd_gettime": (287, 87),
    "pause": (34, _NONE), "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "alarm": (37, _NONE),
    "getitimer": (36, 102), "setitimer": (38, 103), "restart_syscall": (219, 128),
}  # fmt: skip
_SIGNALS: Numbers = {
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132),
}  # fmt: skip
_ITSELF: Numbers = {
    "execve": (59, 221), "exit": (60, 93), "exit_group": (231, 94), "wait4": (61, 260),
    "waitid": (247, 95), "pidfd_open": (434, 434), "futex": (202, 98), "set_tid_address": (218, 96),
    "set_robust_list": (273, 99), "get_robust_list": (274, 100), "rseq": (334, 293),
    "arch_prctl": (158, _NONE), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121), "sched_getscheduler": (145, 120), "sched_rr_get_interval": (148, 127),
    "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126), "getpriority": (140, 141),
    "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getuid": (102, 174),
    "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getgroups": (115, 158),
    "getresuid": (118, 148), "getresgid": (120, 150), "getpgrp": (111, _NONE), "getpgid": (121, 155),
    "setpgid": (109, 154), "getsid": (124, 156), "setsid": (112, 157), "getrlimit": (97, 163),
    "setrlimit": (160, 164), "getrusage": (98, 165), "times": (100, 153), "time": (201, _NONE),
    "gettimeofday": (96, 169), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "getcpu": (309, 168), "getrandom": (318, 278), "uname": (63, 160), "sysinfo": (99, 179),
}  # fmt: skip
_SOCKET_PAIRS: Numbers = {
    "sendto": (44, 206), "sendmsg": (46, 211), "recvfrom": (45, 207), "recvmsg": (47, 212),
    "shutdown": (48, 210), "getsockname": (51, 204), "getpeername": (52, 205), "getsockopt": (55, 209),
}  # fmt: skip
_CONDITIONAL: Numbers = {
    "socketpair": (53, 199), "setsockopt": (54, 208), "clone": (56, 220), "fork": (57, _NONE),
    "vfork": (58, _NONE), "kill": (62, 129), "tgkill": (234, 131), "prlimit64": (302, 261),
    "prctl": (157, 167), "fcntl": (72, 25), "ioctl": (16, 29), "sched_setaffinity": (203, 122),
    "setpriority": (141, 140),
}  # fmt: skip
_UNAVAILABLE: Numbers = {
    "clone3": (435, 435), "execveat": (322, 281),
}  # fmt: skip


def allowed_calls(machine: str) -> dict[str, int]:
    """Calls that are allowed with any arguments."""
    return _of(machine, {**_FILES, **_MEMORY, **_WAITING, **_SIGNALS, **_ITSELF, **_SOCKET_PAIRS})


def conditional(machine: str) -> dict[str, int]:
    """Calls that are allowed with some arguments, or to some programs."""
    return _of(machine, _CONDITIONAL)


def absent(machine: str) -> dict[str, int]:
    """Calls that are answered as by an older kernel (`ENOSYS`), because libc has a fallback."""
    return _of(machine, _UNAVAILABLE)


def _of(machine: str, calls: Numbers) -> dict[str, int]:
    column = MACHINES[machine]
    return {name: pair[column] for name, pair in calls.items() if pair[column] != _NONE}
