"""Runs inside a sandbox, as any program would: attacks the claims of the sandbox, and reports the successes.

Keeps to Python 3.8 and the standard library. Its argument is JSON with the targets of the attempts; it prints
JSON with the names of all attempts, and of those that succeeded.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_WATCHED = 0x00000FFF  # IN_ALL_EVENTS
_NEW_MODE = 0o601


def _reach(family: int, kind: int, address: Any) -> None:
    with socket.socket(family, kind) as line:
        line.settimeout(1)
        line.sendto(b"x", address) if kind == socket.SOCK_DGRAM else line.connect(address)


def _reach_from_a_pair(address: str) -> None:
    sender, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with sender, other:
        sender.sendto(b"x", address)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read()


def _read_original(path: str) -> None:
    if b"original" not in _read(path):
        raise OSError


def _write(path: str, mode: str) -> None:
    with open(path, mode, encoding="utf-8") as file:  # noqa: PTH123
        file.write("x")


def _rename(path: str) -> None:
    os.rename(path, path + "2")  # noqa: PTH104
    os.rename(path + "2", path)  # noqa: PTH104


def _own_a_pipe(bystander: int) -> None:
    import fcntl

    reading, writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, bystander)
    fcntl.fcntl(reading, fcntl.F_SETFL, fcntl.fcntl(reading, fcntl.F_GETFL) | os.O_ASYNC)
    os.write(writing, b"x")


def _watch(folder: str) -> None:
    libc = ctypes.CDLL(None)
    if libc.inotify_add_watch(libc.inotify_init1(0), os.fsencode(folder), _WATCHED) < 0:
        raise OSError


def attempts(given: dict[str, Any]) -> dict[str, Callable[[], object]]:
    """The attempts by name; each raises if it is prevented.

    Args:
        given: `victim` and `original`, files; `folder`, the victim's; `socket`, of a Unix datagram server;
            `datagrams`, the port of a UDP server; `port`, of a TCP server; `bystander`, the id of a process.
    """
    victim, folder, bystander = given["victim"], given["folder"], given["bystander"]
    loopback, datagrams = ("127.0.0.1", given["port"]), ("127.0.0.1", given["datagrams"])
    return {
        "reading a user's file": lambda: _read(victim),
        "listing a user's folder": lambda: os.listdir(folder),  # noqa: PTH208
        "reading the original": lambda: _read_original(given["original"]),
        "writing a user's file": lambda: _write(victim, "a"),
        "making a file": lambda: _write(os.path.join(folder, "made"), "w"),  # noqa: PTH118
        "linking": lambda: os.link(victim, os.path.join(folder, "link")),  # noqa: PTH118
        "renaming": lambda: _rename(victim),
        "chmod": lambda: os.chmod(victim, _NEW_MODE),  # noqa: PTH101
        "utime": lambda: os.utime(victim, (1, 1)),
        "chown": lambda: os.chown(victim, os.getuid(), os.getgid()),
        "setxattr": lambda: os.setxattr(victim, "user.counterlens", b"x"),
        "stat": lambda: os.stat(victim),  # noqa: PTH116
        "inotify": lambda: _watch(folder),
        "kill": lambda: os.kill(bystander, signal.SIGTERM),
        "F_SETOWN": lambda: _own_a_pipe(bystander),
        "TCP": lambda: _reach(socket.AF_INET, socket.SOCK_STREAM, loopback),
        "UDP": lambda: _reach(socket.AF_INET, socket.SOCK_DGRAM, datagrams),
        "a Unix datagram": lambda: _reach(socket.AF_UNIX, socket.SOCK_DGRAM, given["socket"]),
        "a Unix datagram of a pair": lambda: _reach_from_a_pair(given["socket"]),
    }


def main() -> None:
    """Make all attempts, and print the result."""
    todo = attempts(json.loads(sys.argv[1]))
    done = []
    for name, action in todo.items():
        try:
            action()
        except Exception:  # noqa: S112 - prevented in some way
            continue
        done.append(name)
    print(json.dumps({"tried": list(todo), "done": done}))


if __name__ == "__main__":
    main()
