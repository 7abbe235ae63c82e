"""Git, called without running code of the repository: no monitor, hook, filter, conversion, or transport.

The settings of a repository are text that came with it, and git runs the programs that they name. A bare
repository among the files of another one is also text that came with it, so it is ignored.

No answer depends on how somebody likes to see differences: git is asked only for names, which end with NUL,
and for the bytes of its objects; `changes.py` compares them with the files. Variables that send git to other
repositories, as in a hook, or that change what patterns and options mean, have no effect.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from subprocess import SubprocessError

from counterlens.datasets.base import UNKNOWN
from counterlens.environment import closed_environment
from counterlens.processes import find_program, run
from counterlens.regular_file import read_bytes

_SECONDS = 60.0  # time limit of one command
_LINK = "120000"
_LATEST = 253_402_300_799  # seconds until the end of the year 9999
_OFF = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.alternateRefsCommand": "",
    "blame.showRoot": "false",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
}
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # overrides the settings
    "GIT_TERMINAL_PROMPT": "0",
}
_THE_USERS = ("GIT_CONFIG_", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")


@dataclass(frozen=True, slots=True)
class Blob:
    """A file of a commit.

    Attributes:
        id: The hash of its content, by which git names it.
        is_link: Whether the content is the target of a symbolic link.
    """

    id: str
    is_link: bool

    def is_of(self, content: bytes) -> bool:
        """Whether a file has this content; its line ends do not count, which git may have converted."""
        algorithm = "sha1" if len(self.id) == 40 else "sha256"  # a repository has one of them
        return any(
            hashlib.new(algorithm, f"blob {len(text)}\0".encode() + text, usedforsecurity=False).hexdigest()
            == self.id
            for text in (content, content.replace(b"\r\n", b"\n"))
        )


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit that added a line.

    Attributes:
        id: Its hash.
        written: The day on which its author wrote it, in UTC, such as `2026-03-01`.
    """

    id: str
    written: str


def content(file: Path) -> bytes | None:
    """What git would store of a file or link; None for what is gone, cannot be read, or is neither."""
    try:
        if file.is_symlink():
            return os.fsencode(file.readlink())
        return read_bytes(file)
    except OSError:
        return None


def list_files(path: Path, *which: str) -> list[str] | None:
    """Names of files below a folder, from `git ls-files` with some options; None if git fails."""
    return _names(_git_output(path, "ls-files", "-z", *which))


def blobs(path: Path, revision: str) -> dict[str, Blob] | None:
    """The files of a revision below a folder by their names; None if git fails."""
    entries = _names(_git_output(path, "ls-tree", "-r", "-z", "--end-of-options", revision))
    if entries is None:
        return None
    fields = [(*about.split(), name) for about, _, name in (entry.partition("\t") for entry in entries)]
    return {name: Blob(of, mode == _LINK) for mode, kind, of, name in fields if kind == "blob"}


def contents(path: Path, which: Sequence[Blob]) -> list[bytes] | None:
    """The bytes of files of commits; None if git fails or lacks one of them."""
    ids = "".join(f"{blob.id}\n" for blob in which)
    output = _git_output(path, "cat-file", "--batch", given=ids.encode())
    if output is None:
        return None
    stream, texts = io.BytesIO(output), []
    for _ in which:
        header = stream.readline().split()  # the id, "blob" and the size, or the id and "missing"
        if len(header) != 3:
            return None
        texts.append(stream.read(int(header[2])))
        stream.readline()
    return texts


def line_commits(file: Path, text: bytes) -> list[Commit | None] | None:
    """The commit that added each line of a file with this content; None if git does not know the file.

    A line that was indented otherwise, or moved between lines that one commit changed, is as old as before.
    None also stands for a line of the oldest commit that is there, in which everything is new, and for one
    that was not committed.
    """
    own = ("--no-textconv", "--ignore-revs-file=")  # whatever the repository's settings say
    options = ("--porcelain", *own, "-w", "-M", "-C", "--contents", "-")
    output = _git_output(file.parent, "blame", *options, "--", file.name, given=text)
    if output is None:
        return None
    commits: dict[bytes, Commit | None] = {}
    lines: list[Commit | None] = []
    commit, fields = b"", dict[bytes, bytes]()
    for line in output.split(b"\n"):
        if line.startswith(b"\t"):
            if commit not in commits:
                new = b"boundary" not in fields and bool(commit.strip(b"0"))
                commits[commit] = Commit(commit.decode(), _day(fields[b"author-time"])) if new else None
            lines.append(commits[commit])
            commit, fields = b"", {}
        elif commit:
            name, _, value = line.partition(b" ")
            fields[name] = value
        else:
            commit = line.partition(b" ")[0]
    return lines


def _day(seconds: bytes) -> str:
    return datetime.fromtimestamp(min(int(seconds), _LATEST), UTC).date().isoformat()


def renamed_files(path: Path, revision: str) -> dict[str, str]:
    """The old names of files below a folder that have another name in the index, by their new ones."""
    options = ("--cached", "--find-renames", "-l1000", "--diff-filter=R", "--name-status", "-z", "--relative")
    command = ("diff-index", *options, "--ignore-submodules=all", "--end-of-options", revision, "--")
    fields = _names(_git_output(path, *command)) or []
    return dict(zip(fields[2::3], fields[1::3], strict=True))


def parting(path: Path, revision: str) -> str | None:
    """The commit at which the checked-out branch diverged from a revision; None if git finds none."""
    output = _git_output(path, "merge-base", "--end-of-options", revision, "HEAD")
    return output.decode().strip() if output else None


def commit(path: Path) -> str:
    """The commit of a folder, with a mark if tracked files have changed since."""
    output = _git_output(path, "rev-parse", "--verify", "HEAD")
    if output is None:
        return UNKNOWN
    return output.decode().strip()[:12] + ("+changes" if _has_changes(path) else "")


def _has_changes(path: Path) -> bool:
    options = ("--raw", "--no-abbrev", "--no-renames", "-z", "--relative", "--ignore-submodules=all")
    fields = _names(_git_output(path, "diff-index", *options, "HEAD", "--", ".")) or []
    for about, name in zip(fields[::2], fields[1::2], strict=True):
        old_mode, mode, old, new, _ = about.removeprefix(":").split()
        if mode != old_mode or new.strip("0"):
            return True
        now = content(path / name)  # git looked only at its time and size
        if now is None or not Blob(old, mode == _LINK).is_of(now):
            return True
    return False


def _names(output: bytes | None) -> list[str] | None:
    return None if output is None else [os.fsdecode(name) for name in output.split(b"\0") if name]


def _git_output(path: Path, *arguments: str, given: bytes = b"") -> bytes | None:
    """The output of a command; None if there is no git, no repository at a usual place, or it fails."""
    folder = _run(path, {}, "rev-parse", "--absolute-git-dir")
    if folder is None or not _is_usual(path, Path(os.fsdecode(folder.rstrip(b"\n")))):
        return None
    filters = _run(path, {}, "config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    off = {name: "false" if name.endswith(".required") else "" for name in _names(filters) or []}
    return _run(path, off, *arguments, given=given)


def _is_usual(path: Path, folder: Path) -> bool:
    """Whether git found a `.git` folder, whose name no file of a repository has, or a file of that name."""
    return ".git" in folder.parts or any((above / ".git").is_file() for above in (path, *path.parents))


def _run(path: Path, off: dict[str, str], *arguments: str, given: bytes = b"") -> bytes | None:
    git = find_program("git")
    if git is None:
        return None
    settings = [part for name, value in {**_OFF, **off}.items() for part in ("-c", f"{name}={value}")]
    try:
        command = [git, "--no-pager", *settings, *arguments]
        done = run(command, seconds=_SECONDS, cwd=path, environment=_environment(), given=given)
    except (OSError, SubprocessError):
        return None
    return done.stdout


def _environment() -> dict[str, str]:
    """A closed environment, without variables of git but for those that say how this user runs it."""
    kept = {
        name: value
        for name, value in closed_environment().items()
        if not name.upper().startswith("GIT_") or name.upper().startswith(_THE_USERS)
    }
    return kept | _ENVIRONMENT
