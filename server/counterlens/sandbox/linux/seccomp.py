"""A seccomp filter: the system calls that interpreters need for themselves, their files and children.

Every other call is answered with an error number (`EPERM`; `ENOSYS` if it is newer than our list, so that a
libc falls back to an older one), never by killing, so that a program can report a `PermissionError`. The
filter is a classic BPF program (kernel documentation, "Seccomp BPF"). Filters can count nothing, so they
forbid new processes altogether or not at all; threads are always allowed.

The filter of a wide room also allows processes, signals, and sockets of the internet protocols: their
namespaces have nothing else in them. It tells the supervisor of each call that it refuses, if the kernel can
do that. Unix sockets stay closed: a path leads to a socket outside even through namespaces and read-only
mounts.

Calls are looked up in a tree of ranges. When the filter is installed, the kernel determines which calls are
allowed whatever their arguments, and does not run the filter for these (since Linux 5.11).
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
from collections.abc import Mapping, Sequence

from counterlens.sandbox.linux import syscalls as sys_
from counterlens.sandbox.linux.calls import (
    AF_UNIX,
    NEWEST,
    absent,
    allowed_calls,
    conditional,
    wide_calls,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from counterlens.sandbox.linux.refusals import Refusals

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR, _TELL = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16
_AND = 0x54
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # `arch` in the filter's input
_X32 = 0x40000000

_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020000
_SOCKET_KIND, _STREAM, _PACKETS = 0xF, 1, 5
_INTERNET, _DATAGRAMS = (2, 10), 2
_NAME_SERVICE, _ADDRESSES = (
    (1, 0x80801),
    (16, 0x80003),
)  # families and kinds of its sockets to `nscd` and netlink
_SOL_SOCKET, _TCP, _UDP, _IPV6 = 1, 6, 17, 41
_SOCKET_OPTIONS = (2, 7, 8, 9, 16, 20, 21)  # reuse, sizes of buffers, keep-alive, credentials, time-outs
_INTERNET_OPTIONS = {
    _SOL_SOCKET: (*_SOCKET_OPTIONS, 6, 10, 13, 15),  # broadcast, urgent data, lingering, shared ports
    _TCP: (1, 4, 5, 6, 9, 12, 18),  # no delay, keep-alive, deferred and quick acknowledgement, time-out
    _IPV6: (26,),  # only IPv6
}
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

_SECCOMP, _SET_FILTER, _NEW_LISTENER = {"x86_64": 317, "aarch64": 277}, 1, 8
_INSTRUCTION = 8  # bytes of one instruction
_Instruction = tuple[int, int, int, int]
_ALLOWED: _Instruction = (_RETURN, 0, 0, _ALLOW)
_TOLD: _Instruction = (_RETURN, 0, 0, _TELL)
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


def _options(number: int, options: Mapping[int, tuple[int, ...]]) -> list[_Instruction]:
    """Allow `setsockopt` with the options of some levels."""
    block: list[_Instruction] = []
    for level, names in options.items():
        part = [_argument(2)]
        part += [(_JUMP_EQUAL, len(names) - at, 0, name) for at, name in enumerate(names)]
        part += [_error(errno.EPERM), _ALLOWED]
        block += [_argument(1), (_JUMP_EQUAL, 0, len(part), level), *part]
    return _call(number, [*block, _error(errno.EPERM)])


def _pairs_only(number: int) -> list[_Instruction]:
    """Allow pairs of sockets that reach only each other.

    A datagram socket, even one of a pair, can send to any address, and the kernel treats a raw one as such.
    """
    block = [_argument(0), (_JUMP_EQUAL, 0, 4, AF_UNIX), _argument(1), (_AND, 0, 0, _SOCKET_KIND)]
    block += [(_JUMP_EQUAL, 2, 0, _STREAM), (_JUMP_EQUAL, 1, 0, _PACKETS), _error(errno.EPERM), _ALLOWED]
    return _call(number, block)


def _internet(number: int) -> list[_Instruction]:
    """Allow TCP and UDP sockets; the C library is told that there are no others when it looks up a name."""
    block = [_argument(0)]
    for family, kind in (_NAME_SERVICE, _ADDRESSES):
        block += [(_JUMP_EQUAL, 0, 4, family), _argument(1), (_JUMP_EQUAL, 0, 1, kind)]
        block += [_error(errno.EAFNOSUPPORT), _error(errno.EPERM)]
    block += [(_JUMP_EQUAL, 1, 0, _INTERNET[0]), (_JUMP_EQUAL, 0, 8, _INTERNET[1])]
    block += [_argument(1), (_AND, 0, 0, _SOCKET_KIND)]
    block += [(_JUMP_EQUAL, 1, 0, _STREAM), (_JUMP_EQUAL, 0, 4, _DATAGRAMS)]
    block += [_argument(2), (_JUMP_EQUAL, 3, 0, 0), (_JUMP_EQUAL, 2, 0, _TCP), (_JUMP_EQUAL, 1, 0, _UDP)]
    return _call(number, [*block, _error(errno.EPERM), _ALLOWED])


def _clones(number: int, *, wide: bool) -> list[_Instruction]:
    """Allow threads, and processes in a wide room; never namespaces."""
    block = [_argument(0), (_JUMP_SET, 1, 0, _CLONE_NAMESPACES)]
    block.append(_ALLOWED if wide else (_JUMP_SET, 1, 0, _CLONE_THREAD))
    return _call(number, [*block, _error(errno.EPERM), *([] if wide else [_ALLOWED])])


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


def _ranges(machine: str, *, wide: bool) -> list[tuple[int, int]]:
    """The numbers at which the decision changes, from 0 on."""
    allowed = {*(wide_calls(machine) if wide else allowed_calls(machine)).values()}
    unavailable = {*absent(machine).values()}
    edges: list[tuple[int, int]] = []
    for number in range(NEWEST + 2):
        newer = number in unavailable or number > NEWEST
        decision = _ALLOW if number in allowed else _ABSENT if newer else _REFUSE
        if not edges or decision != edges[-1][1]:
            edges.append((number, decision))
    return [*edges, (_X32, _REFUSE)]


@functools.lru_cache
def _always(machine: str, *, wide: bool) -> tuple[_Instruction, ...]:
    """The part of the filter that is the same for every process."""
    some = conditional(machine)
    code = _pairs_only(some["socketpair"])
    code += _options(some["setsockopt"], _INTERNET_OPTIONS if wide else {_SOL_SOCKET: _SOCKET_OPTIONS})
    code += _internet(some["socket"]) if wide else []
    code += _one_of(some["fcntl"], (1, _FILE_COMMANDS))
    code += _one_of(some["ioctl"], (1, (*_TERMINAL_REQUESTS, *_FILE_REQUESTS)), otherwise=errno.ENOTTY)
    code += _one_of(some["prctl"], (0, _PROCESS_OPTIONS))
    code += _clones(some["clone"], wide=wide)
    code += _tree(_ranges(machine, wide=wide))
    return (*code, *((_RETURN, 0, 0, decision) for decision in _DECISIONS))


@functools.lru_cache
def _packed_always(machine: str, *, wide: bool, reporting: bool) -> bytes:
    return _pack(_always(machine, wide=wide), reporting=reporting)


def _pack(code: Sequence[_Instruction], *, reporting: bool) -> bytes:
    """Instructions in the kernel's binary format; if `reporting`, the supervisor hears of refused calls."""
    if reporting:
        code = [_TOLD if instruction == _error(errno.EPERM) else instruction for instruction in code]
    return struct.pack("<" + "HBBI" * len(code), *(word for instruction in code for word in instruction))


def program(machine: str, own: int, *, wide: bool) -> list[tuple[int, int, int, int]]:
    """The filter, as instructions: code, jump offsets if true and if false, and a constant.

    Args:
        machine: The machine's name from `uname`.
        own: The process's id.
        wide: Whether it is in a wide room.
    """
    return [*_of_process(machine, own, wide=wide), *_always(machine, wide=wide)]


def _of_process(machine: str, own: int, *, wide: bool) -> list[_Instruction]:
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
    if not wide:
        code += _one_of(some["kill"], (0, (0, own)))
        code += _one_of(some["tgkill"], (0, (own,)))
    return code


def prepare() -> None:
    """Build the parts common to all forks of this process in advance."""
    machine = os.uname().machine
    if machine in _ARCHITECTURES:
        for wide in (False, True):
            _packed_always(machine, wide=wide, reporting=wide)


def restrict_calls(refusals: Refusals | None = None) -> None:
    """Install the filter for the calling process and its descendants.

    Args:
        refusals: For a wide room: who hears of refused calls.

    Raises:
        OSError: no filter can be installed here, or the machine is unknown.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise OSError(f"there is no seccomp filter for {machine}")
    if refusals is None:
        _install(machine, wide=False, reporting=False)
        return
    try:
        listener = _install(machine, wide=True, reporting=True)
    except OSError:  # Linux before 5.0, or somebody listens already
        listener = _install(machine, wide=True, reporting=False)
    refusals.hand_over(listener)


def _install(machine: str, *, wide: bool, reporting: bool) -> int | None:
    """Install a filter; its listener, if it is `reporting`."""
    packed = _pack(_of_process(machine, os.getpid(), wide=wide), reporting=reporting)
    packed += _packed_always(machine, wide=wide, reporting=reporting)
    instructions = ctypes.create_string_buffer(packed, len(packed))
    head = struct.pack("<HxxxxxxQ", len(packed) // _INSTRUCTION, ctypes.addressof(instructions))
    filter_ = ctypes.create_string_buffer(head, len(head))
    if reporting:
        return sys_.syscall(_SECCOMP[machine], _SET_FILTER, _NEW_LISTENER, filter_)
    sys_.prctl(sys_.PR_SET_SECCOMP, 2, filter_)
    return None
