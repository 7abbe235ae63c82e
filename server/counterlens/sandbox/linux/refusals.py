"""Hears of the system calls that the filter of a wide room refuses (kernel documentation, "Seccomp BPF").

The filter hands a refused call to the supervisor, which answers with the same error as a filter would by
itself, and tells the parent. So a refusal is known whatever the program makes of it. The program never has
the listener while it runs: whoever has it could allow a call.
"""

from __future__ import annotations

import _socket
import errno
import fcntl
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV and _SEND
_CALL = struct.Struct("<QIIiIQ6Q")  # id, thread, flags; number, architecture, instruction, arguments
_ANSWER = struct.Struct("<QqiI")  # id, value, error, flags
_MOST = 16  # calls that are told


class Refusals:
    """The connection between a program that is about to be filtered, and its supervisor, which creates it.

    Args:
        report: Called by the supervisor, once for each call: the word `refused`, the call's number and its
            first argument.
    """

    def __init__(self, report: Callable[..., None]) -> None:
        self._report = report
        self._ours, self._theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self._listener = -1
        self._told: set[int] = set()

    def hand_over(self, listener: int | None) -> None:
        """In the program: give the filter's listener away, if it has one."""
        if listener is not None:
            handle = struct.pack("i", listener)
            self._theirs.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handle)])
            os.close(listener)
        self._ours.close()
        self._theirs.close()

    def listen(self) -> None:
        """In the supervisor: the program has been forked."""
        self._theirs.close()

    @property
    def watched(self) -> list[int]:
        """What the supervisor has to watch now."""
        return [end for end in (self._ours.fileno(), self._listener) if end >= 0]

    def answer(self, ready: list[int]) -> None:
        """Take the listener, or refuse a call, if there is one."""
        if self._ours.fileno() >= 0 and self._ours.fileno() in ready:
            _, given, _, _ = self._ours.recvmsg(1, _socket.CMSG_SPACE(4))
            self._ours.close()
            if given:
                (self._listener,) = struct.unpack("i", given[0][2])
        if self._listener in ready:
            self._refuse()

    def _refuse(self) -> None:
        call = bytearray(_CALL.size)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, call)
            mark, _, _, number, _, _, first, *_ = _CALL.unpack(call)
            if number not in self._told and len(self._told) < _MOST:
                self._told.add(number)
                self._report("refused", number, first)
            fcntl.ioctl(self._listener, _SEND, _ANSWER.pack(mark, 0, -errno.EPERM, 0))
        except OSError:  # the process has ended meanwhile
            return
