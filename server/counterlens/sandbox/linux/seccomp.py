"""A seccomp filter: no sockets, no processes beyond the limit, no hands on other processes or the kernel.

The filter is a classic BPF program (kernel documentation, "Seccomp BPF"). It denies with an error number
instead of killing, so that a program sees a `PermissionError` that it can report. Filters can count
nothing, so they forbid new processes altogether or not at all; threads are always allowed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from counterlens.sandbox.linux import syscalls as sys_

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32 = 0x40000000
_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020000
_AND = 0x54
_AF_UNIX, _SOCKET_KIND, _STREAM, _PACKETS = 1, 0xF, 1, 5

# Per machine: the value of `arch` in the filter's input, then the numbers of the calls it names.
_MACHINES: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "socket": 41, "socketpair": 53, "clone": 56, "fork": 57, "vfork": 58, "kill": 62,
            "tkill": 200, "tgkill": 234, "ptrace": 101, "prlimit64": 302,
            "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240,
            "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297,
            "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
            "unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
            "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "open_by_handle_at": 304,
            "add_key": 248, "request_key": 249, "keyctl": 250, "seccomp": 317,
            "init_module": 175, "finit_module": 313, "kexec_load": 246, "kexec_file_load": 320,
            "reboot": 169, "swapon": 167, "swapoff": 168, "settimeofday": 164, "clock_settime": 227,
            "acct": 163, "quotactl": 179, "syslog": 103, "ioperm": 173, "iopl": 172,
            "inotify_init": 253, "inotify_add_watch": 254, "inotify_init1": 294,
            "fanotify_init": 300, "fanotify_mark": 301,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "socket": 198, "socketpair": 199, "clone": 220, "kill": 129,
            "tkill": 130, "tgkill": 131, "ptrace": 117, "prlimit64": 261,
            "shmget": 194, "semget": 190, "msgget": 186, "mq_open": 180,
            "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240,
            "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
            "unshare": 97, "setns": 268, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51,
            "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "open_by_handle_at": 265,
            "add_key": 217, "request_key": 218, "keyctl": 219, "seccomp": 277,
            "init_module": 105, "finit_module": 273, "kexec_load": 104, "kexec_file_load": 294,
            "reboot": 142, "swapon": 224, "swapoff": 225, "settimeofday": 170, "clock_settime": 112,
            "acct": 89, "quotactl": 60, "syslog": 116,
            "inotify_init1": 26, "inotify_add_watch": 27, "fanotify_init": 262, "fanotify_mark": 263,
        },
    ),
}  # fmt: skip
_NEWER = {  # the same number on every machine
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432, "pidfd_getfd": 438,
    "process_madvise": 440, "mount_setattr": 442,
}  # fmt: skip
_CLONE3 = 435
_CONDITIONAL = {"socketpair", "clone", "fork", "vfork", "kill", "tgkill", "prlimit64"}

_Instruction = tuple[int, int, int, int]


def _argument(index: int) -> _Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * index)  # the low word; both machines are little-endian


def _error(number: int) -> _Instruction:
    return (_RETURN, 0, 0, _ERROR | number)


def _one_of(number: int, argument: int, values: tuple[int, ...]) -> list[_Instruction]:
    """Allow a call only where an argument has one of these values."""
    block = [_argument(argument)]
    for value in values:
        block += [(_JUMP_EQUAL, 0, 1, value & 0xFFFFFFFF), (_RETURN, 0, 0, _ALLOW)]
    block.append(_error(errno.EPERM))
    return [(_JUMP_EQUAL, 0, len(block), number), *block]


def _pairs_only(number: int) -> list[_Instruction]:
    """Allow pairs of sockets that reach each other and nobody else.

    A datagram socket sends to any address, also as one of a pair, and the kernel takes a raw one for such.
    """
    allow, deny = (_RETURN, 0, 0, _ALLOW), _error(errno.EPERM)
    block = [_argument(0), (_JUMP_EQUAL, 0, 4, _AF_UNIX), _argument(1), (_AND, 0, 0, _SOCKET_KIND)]
    block += [(_JUMP_EQUAL, 2, 0, _STREAM), (_JUMP_EQUAL, 1, 0, _PACKETS), deny, allow]
    return [(_JUMP_EQUAL, 0, len(block), number), *block]


def _program(machine: str, *, processes: bool, signals: bool) -> list[_Instruction]:
    arch, numbers = _MACHINES[machine]
    allow: _Instruction = (_RETURN, 0, 0, _ALLOW)
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_JUMP_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    if machine == "x86_64":
        code += [(_JUMP_GREATER_EQUAL, 0, 1, _X32), _error(errno.EPERM)]
    denied = [number for name, number in numbers.items() if name not in _CONDITIONAL] + list(_NEWER.values())
    if not processes:
        denied += [numbers[name] for name in ("fork", "vfork") if name in numbers]
    for number in denied:
        code += [(_JUMP_EQUAL, 0, 1, number), _error(errno.EPERM)]
    code += [(_JUMP_EQUAL, 0, 1, _CLONE3), _error(errno.ENOSYS)]  # its flags are in memory; libc has clone
    code += _pairs_only(numbers["socketpair"])
    own = os.getpid()
    code += _one_of(numbers["prlimit64"], 0, (0, own))
    if not signals:
        code += _one_of(numbers["kill"], 0, (0, own))
        code += _one_of(numbers["tgkill"], 0, (own,))
    unwanted = (_JUMP_SET, 1, 0, _CLONE_NAMESPACES) if processes else (_JUMP_SET, 0, 1, _CLONE_THREAD)
    clone = [_argument(0), unwanted, allow, _error(errno.EPERM)]
    return [*code, (_JUMP_EQUAL, 0, len(clone), numbers["clone"]), *clone, allow]


def restrict_calls(*, processes: bool, signals: bool) -> None:
    """Install the filter for the calling process and all that it becomes.

    Args:
        processes: Whether it may start other processes.
        signals: Whether it may signal others than itself.

    Raises:
        OSError: no filter can be installed here, or the machine is none that is known.
    """
    machine = os.uname().machine
    if machine not in _MACHINES:
        raise OSError(f"no seccomp filter is written for {machine}")
    code = _program(machine, processes=processes, signals=signals)
    packed = b"".join(struct.pack("<HBBI", *instruction) for instruction in code)
    instructions = ctypes.create_string_buffer(packed, len(packed))
    head = struct.pack("<HxxxxxxQ", len(code), ctypes.addressof(instructions))
    sys_.prctl(sys_.PR_SET_SECCOMP, 2, ctypes.create_string_buffer(head, len(head)))
