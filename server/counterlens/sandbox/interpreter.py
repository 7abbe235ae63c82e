"""Files of a Python interpreter, so that a confined program can still start it."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from counterlens.errors import SandboxError

_QUESTION = """
import json, os, site, sys
print(json.dumps({
    "prefixes": [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix],
    "path": [p for p in sys.path if os.path.exists(p)],
    "version": list(sys.version_info[:2]),
    "user_base": site.getuserbase() if site.ENABLE_USER_SITE else None,
}))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter's folders.

    Attributes:
        folders: What must be readable for it to start and to import what is installed for it.
        user_base: Where `pip install --user` puts packages, if they are used.
        version: Its major and minor version.
    """

    folders: tuple[str, ...]
    user_base: str | None
    version: tuple[int, int]


def describe(python: Path) -> Interpreter:
    """Ask an interpreter where it lives; asked once for each version of the file.

    Raises:
        SandboxError: it does not exist or does not answer.
    """
    try:
        stamp = python.stat().st_mtime_ns
    except OSError as error:
        raise SandboxError(
            f"there is no Python interpreter at {python}: {error.strerror}", "Choose another one"
        ) from None
    return _describe(str(python), stamp)


@lru_cache(maxsize=32)
def _describe(python: str, _stamp: int) -> Interpreter:
    environment = {
        key: value for key, value in os.environ.items() if key in {"PATH", "HOME", "LD_LIBRARY_PATH"}
    }
    command = [python, "-B", "-c", _QUESTION]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=20,
            env=environment,
            check=True,
            cwd="/",
            stdin=subprocess.DEVNULL,
        )
        answer = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SandboxError(f"{python} does not work as a Python interpreter: {error}") from error
    folders = {
        *answer["prefixes"],
        *(path for path in answer["path"] if path != "/"),
        str(Path(python).parent),
        str(Path(python).resolve().parent),
    }
    if answer["user_base"]:
        folders.add(answer["user_base"])
    return Interpreter(tuple(sorted(folders)), answer["user_base"], (*answer["version"],))
