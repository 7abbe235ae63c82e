"""Test the claims of a back end with a program in it, on files, a process and sockets created for the test.

The claims follow from the kernel's features; a container, another security module or a kernel without user
namespaces can invalidate some of them. The results of the attempts are stored for each back end, machine and
start of the machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from subprocess import PIPE
from typing import Any

import platformdirs

from counterlens import __version__
from counterlens.atomic_file import make_folder, replace_file
from counterlens.errors import SandboxError
from counterlens.nested_text import read_json
from counterlens.processes import bare_python, start
from counterlens.sandbox.base import Job, Limits, Sandbox

ATTEMPTS: Mapping[str, tuple[str, ...]] = {
    "reads": ("reading a user's file", "listing a user's folder"),
    "originals": ("reading the original",),
    "writes": (
        "writing a user's file", "making a file", "linking", "renaming", "chmod", "utime", "chown",
        "setxattr",
    ),
    "names": ("stat", "inotify"),
    "signals": ("kill", "F_SETOWN"),
    "network": ("TCP", "UDP", "a Unix datagram", "a Unix datagram of a pair"),
}  # fmt: skip
"""The attempts of each claim. `originals`: the file that another program replaces; `names`: whether files
exist, their sizes, and when they change."""
UNTRIED = "untried"
_LONGEST = 70  # maximum characters of a folder's path; the path of a socket in it has at most 104
_PROGRAM = Path(__file__).with_name("attempts.py")
_ROOMS = (Limits(seconds=20.0), Limits(seconds=20.0, processes=16))
_WAITING = bare_python("import sys; sys.stdin.read()")


def failing_claims(sandbox: Sandbox, *, again: bool = False) -> dict[str, tuple[str, ...]]:
    """The claims that do not hold, each with the successful attempts; `UNTRIED` if no attempt could be made.

    Args:
        sandbox: The back end.
        again: Whether to ignore stored results.
    """
    place = Path(platformdirs.user_cache_dir("counterlens")) / "sandbox-claims" / f"{_key(sandbox)}.json"
    if not again:
        with contextlib.suppress(OSError, ValueError, AttributeError, TypeError, RecursionError):
            stored, checked = read_json(place)
            if checked == _digest(stored):
                return {str(claim): tuple(map(str, done)) for claim, done in stored.items()}
    try:
        claims = attempt_all(sandbox)
    except (SandboxError, OSError, ValueError, KeyError, AttributeError) as error:
        return {UNTRIED: (str(error),)}
    with contextlib.suppress(OSError):
        replace_file(place, json.dumps([claims, _digest(claims)]))
    return claims


def _digest(claims: object) -> str:
    """A digest that reveals a damaged file, which could make a weak back end look strong."""
    return hashlib.sha256(json.dumps(claims).encode()).hexdigest()


def attempt_all(sandbox: Sandbox) -> dict[str, tuple[str, ...]]:
    """Make each attempt once in each room, and check its effect from outside as well.

    Raises:
        SandboxError: the program cannot be run.
        OSError, ValueError, KeyError: the targets cannot be created, or the program did not finish.
    """
    with _world() as (given, project, changes):
        original, done = Path(given["original"]), set[str]()
        for limits in _ROOMS:
            job = Job(
                {"attempts.py": _PROGRAM.read_bytes()},
                "attempts.py",
                Path(sys.executable),
                (json.dumps(given),),
                (project,),
                limits,
                covers={original: b"covered"},
                writable=(project,),
            )
            reported = json.loads(sandbox.run(job).output)
            if not isinstance(reported, dict):
                raise ValueError("no outcome")
            tried = {*reported["tried"]}
            sent = {"UDP"}  # to a network of its own, perhaps: what counts is whether it arrives
            done |= {*reported["done"]} - sent | {
                *({name for names in ATTEMPTS.values() for name in names} - tried)
            }
        done.update(changes())
    return {
        claim: seen for claim, names in ATTEMPTS.items() if (seen := tuple(n for n in names if n in done))
    }


@contextlib.contextmanager
def _world() -> Iterator[tuple[dict[str, Any], Path, Any]]:
    """The targets of the attempts: the program's argument, a readable project, a check from outside."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=_among_the_users_files())))
        project, private = folder / "project", folder / "private"
        project.mkdir()
        private.mkdir()
        original, victim = project / "original.py", private / "victim"
        original.write_text("original")
        victim.write_text("private")
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        datagrams = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", 0))
        datagrams.setblocking(False)
        unix = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        unix.bind(str(private / "socket"))
        bystander = stack.enter_context(start(_WAITING, stdin=PIPE))
        stack.callback(bystander.kill)
        before = _file_state(private, victim)
        given = {
            "victim": str(victim), "original": str(original), "folder": str(private),
            "socket": str(private / "socket"), "port": server.getsockname()[1], "bystander": bystander.pid,
            "datagrams": datagrams.getsockname()[1],
        }  # fmt: skip

        def changes() -> list[str]:
            after = _file_state(private, victim)
            names = [name for name, state in before.items() if after.get(name) != state]
            with contextlib.suppress(BlockingIOError):
                datagrams.recv(1)
                names.append("UDP")
            return [*names, *(["kill"] if bystander.poll() is not None else [])]

        yield given, project, changes


def _file_state(folder: Path, victim: Path) -> dict[str, object]:
    """The state of the user's file, by the attempts that would change it."""
    if not victim.exists():
        return {}
    state = victim.stat()
    return {
        "writing a user's file": victim.read_bytes(), "making a file": sorted(folder.iterdir()),
        "chmod": state.st_mode, "utime": state.st_mtime_ns, "chown": (state.st_uid, state.st_gid),
    }  # fmt: skip


def _among_the_users_files() -> str | None:
    """A parent folder below `~/.local` if that belongs to the user; None for the temporary folder."""
    folder = Path(platformdirs.user_data_dir("counterlens"))
    try:
        make_folder(folder)
    except OSError:
        return None
    return str(folder) if os.access(folder, os.W_OK) and len(str(folder)) < _LONGEST else None


def _key(sandbox: Sandbox) -> str:
    """A key of all data that the outcome depends on."""
    try:
        started = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        started = ""
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    parts = (
        sandbox.name,
        sandbox.guarantees,
        platform.node(),
        platform.version(),
        started,
        user,
        __version__,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
