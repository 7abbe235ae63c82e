"""Root's way into bubblewrap: a user namespace with two users, one that owns root's files and one to count.

Run as `python -I -S`, with bubblewrap's command as arguments, which it becomes.
"""

from __future__ import annotations

import os
import sys

from counterlens.sandbox.linux import namespaces, syscalls


def main() -> None:
    """Make the namespace in a child, keep hold of it, and let bubblewrap enter it."""
    made, make = os.pipe()
    mapped, finish = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(finish)
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        os.write(make, b".")
        os.read(mapped, 1)
        os._exit(0)
    os.read(made, 1)
    inside, spare = namespaces.UNPRIVILEGED, namespaces.UNPRIVILEGED + 1
    try:
        for which in ("uid_map", "gid_map"):
            with open(f"/proc/{child}/{which}", "w") as file:  # noqa: PTH123
                file.write(f"{inside} 0 1\n{spare} {namespaces.COUNTED} 1\n")
        space = os.open(f"/proc/{child}/ns/user", os.O_RDONLY)
    except OSError:  # root inside of a container that maps no other user
        way = ["--unshare-user"]
    else:
        os.set_inheritable(space, True)
        way = ["--userns", str(space), "--cap-drop", "ALL", "--cap-add", "CAP_SETUID"]
    os.close(finish)
    os.waitpid(child, 0)
    program, *arguments = sys.argv[1:]
    os.execv(program, [program, *way, *arguments])  # noqa: S606
