"""Git, called without running code of the repository: no monitor, hook, filter, conversion, or transport.

The settings of a repository are text that came with it, and git runs the programs that they name. A bare
repository among the files of another one is also text that came with it, so it is ignored.
"""

from __future__ import annotations

import os
from pathlib import Path
from subprocess import SubprocessError

from counterlens.datasets.base import UNKNOWN
from counterlens.environment import closed_environment
from counterlens.processes import find_program, run

_SECONDS = 60.0  # time limit of one command
_OFF = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "core.alternateRefsCommand": "",
    "safe.bareRepository": "explicit",
}
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # overrides the settings
    "GIT_TERMINAL_PROMPT": "0",
}
_COMPARING = ("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")


def listed(path: Path, *which: str) -> list[str] | None:
    """Names of files below a folder, from `git ls-files` with some options; None if git fails."""
    names = _git_output(path, "ls-files", "-z", *which)
    return None if names is None else [name for name in names.split("\0") if name]


def difference(path: Path, revision: str) -> str | None:
    """The lines that differ from a revision, without context; None if git fails."""
    return _git_output(path, "diff", *_COMPARING, "--unified=0", "--relative", revision, "--")


def parting(path: Path, revision: str) -> str | None:
    """The commit at which the checked-out branch diverged from a revision; None if git finds none."""
    found = _git_output(path, "merge-base", "--end-of-options", revision, "HEAD")
    return found.strip() if found else None


def commit(path: Path) -> str:
    """The commit of a folder, with a mark if tracked files have changed since."""
    found = _git_output(path, "rev-parse", "HEAD")
    if found is None:
        return UNKNOWN
    options = ("--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    return found.strip()[:12] + ("+changes" if _git_output(path, "status", *options, "--", ".") else "")


def _git_output(path: Path, *arguments: str) -> str | None:
    """The output of a command; None if there is no git, no repository at a usual place, or it fails."""
    folder = _run(path, {}, "rev-parse", "--absolute-git-dir")
    if folder is None or not _is_usual(path, Path(folder.rstrip("\n"))):
        return None
    filters = _run(path, {}, "config", "--null", "--name-only", "--get-regexp", r"^filter\.") or ""
    off = {name: "false" if name.endswith(".required") else "" for name in filters.split("\0") if name}
    return _run(path, off, *arguments)


def _is_usual(path: Path, folder: Path) -> bool:
    """Whether git found a `.git` folder, whose name no file of a repository has, or a file of that name."""
    return ".git" in folder.parts or any((above / ".git").is_file() for above in (path, *path.parents))


def _run(path: Path, off: dict[str, str], *arguments: str) -> str | None:
    git = find_program("git")
    if git is None:
        return None
    settings = [part for name, value in {**_OFF, **off}.items() for part in ("-c", f"{name}={value}")]
    try:
        command = [git, "--no-pager", *settings, *arguments]
        done = run(command, seconds=_SECONDS, cwd=path, environment=closed_environment(_ENVIRONMENT))
    except (OSError, SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")
