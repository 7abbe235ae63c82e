"""Reports files outside of the sandbox that a program in a wide room asks for: there it finds none.

A plain run may find them, so a failure of such a program may be the sandbox's, whatever it makes of that.
This is for honest programs; one that keeps it from that is only judged by its failure.
"""

from __future__ import annotations

import _json
import builtins
import os
import sys

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_CHANGES = {
    "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink",
    "os.truncate", "os.utime", "sqlite3.connect"
}  # fmt: skip
_READS = {"open", "os.chdir", "os.listdir", "os.scandir"}
_CHANGING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PATHS = {"os.link": 2, "os.rename": 2, "os.symlink": 2}  # how many of the arguments are paths, if not one
_MOST, _LONGEST = 1 << 14, 1000  # characters of all names that are reported, and of one


def watch_files(readable: str, writable: str, report: Callable[[str], None]) -> None:
    """Call `report` with `reads NAME` or `writes NAME`, a name in JSON, once for each file that is outside.

    Folders that are moved are reported as well (`moves NAME`): a layer cannot move one that was there before.

    Args:
        readable: The folders and files that the program may read, joined as a search path is.
        writable: Those that it may change.
    """
    inside = {"writes": {*writable.split(os.pathsep)}}
    inside["reads"] = inside["writes"] | {*readable.split(os.pathsep)}
    # A folder of packages below /tmp, which is writable, is none that the program may change.
    outside: dict[str, set[str]] = {"writes": inside["reads"] - inside["writes"], "reads": set()}
    cached_answers: dict[tuple[str, str], bool] = {}
    reports: set[str] = set()
    left = _MOST
    join, norm, folder, is_folder = os.path.join, os.path.normpath, os.path.dirname, os.path.isdir
    here, quote = os.getcwd, _json.encode_basestring_ascii

    def is_inside(use: str, name: str) -> bool:
        above = folder(name)
        if (use, above) not in cached_answers:
            cached_answers[use, above] = above not in outside[use] and (
                above in inside[use] or (above != name and is_inside(use, above))
            )
        return cached_answers[use, above] or name in inside[use]

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if (event not in _READS and event not in _CHANGES) or left <= 0:
            return
        flags = arguments[2] if event == "open" else 0
        use = "writes" if event in _CHANGES or (isinstance(flags, int) and flags & _CHANGING) else "reads"
        for path in arguments[: _PATHS.get(event, 1)]:
            name = _name(path)
            if not name or (name[0] != "/" and ".." not in name and event != "os.rename"):
                continue  # a descriptor, or below the current folder
            name = norm(join(here(), name))
            word = "moves" if event == "os.rename" and is_folder(name) else use
            if (word == "moves" or not is_inside(use, name)) and name not in reports:
                reports.add(name)
                left -= len(name)
                report(f"{word} {quote(name[:_LONGEST])}")

    sys.addaudithook(hear)


def _name(path: Any) -> str:
    """The name of a file; empty for a descriptor."""
    if isinstance(path, os.PathLike):
        path = path.__fspath__()
    if isinstance(path, bytes):
        path = path.decode("utf-8", "replace")
    return str(path) if isinstance(path, str) else ""
