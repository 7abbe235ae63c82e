"""BugsInPy (Widyasari et al. 2020): bugs that people made in Python projects, with their fixes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from counterlens.datasets import git
from counterlens.datasets.base import Problem
from counterlens.errors import DataError, SourceError
from counterlens.regular_file import read_text, reason_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

_PROJECTS, _REPOSITORIES = "projects", "repositories"
_ASSIGNMENT = re.compile(r'^(\w+)="(.*?)"', re.MULTILINE)
_FILE = re.compile(r"^diff --git a/(?P<old>\S+) b/(?P<new>\S+)$", re.MULTILINE)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", re.MULTILINE)


def made_bugs_in(path: Path) -> Iterator[Problem]:
    """The bugs of a clone of BugsInPy: `projects/PROJECT/project.info`, `bugs/N/bug.info`, `bug_patch.txt`.

    The files of a bug are in the history of its project, which is not part of the data: a clone of it is read
    from `repositories/PROJECT`, beside `projects`. A bug without one is unusable, with the command that makes
    it; so is one whose fix changes several functions, or code outside functions.

    A problem is the changed function: `source` has the fix, `buggy` the bug. The tests are the project's own
    and need its environment of that time, so there are none here. Details: `project`, `bug`, `buggy_commit`,
    `fixed_commit`, `path`, `test_file`, and `licence` (that of the project, which its repository names).
    """
    for folder in sorted(_bugs(path), key=lambda bug: (bug.parts[-3], int(bug.name))):
        yield _problem(path, folder)


def _bugs(path: Path) -> Iterator[Path]:
    """The folders of the bugs."""
    files = (path / _PROJECTS).glob("*/bugs/*/bug.info")
    return (file.parent for file in files if file.parent.name.isdecimal())


def _problem(path: Path, folder: Path) -> Problem:
    """The problem of a bug.

    Raises:
        DataError: a file of it cannot be read, or names no commit.
    """
    project = folder.parts[-3]
    info = dict(_ASSIGNMENT.findall(_read(folder / "bug.info")))
    address = dict(_ASSIGNMENT.findall(_read(folder.parents[1] / "project.info"))).get("github_url", "")
    if not {"buggy_commit_id", "fixed_commit_id"} <= info.keys():
        raise DataError(f"{folder / 'bug.info'} names no commits", "Clone BugsInPy again")
    patch = _read(folder / "bug_patch.txt")
    details = {
        "project": project,
        "bug": folder.name,
        "buggy_commit": info["buggy_commit_id"],
        "fixed_commit": info["fixed_commit_id"],
        "test_file": info.get("test_file", ""),
        "licence": f"see {address}",
    }
    repository = path / _REPOSITORIES / project
    change = _change(repository, info["buggy_commit_id"], patch, address)
    name = f"{project}/{folder.name}"
    if isinstance(change, str):
        return Problem(name, "bugsinpy", "python", "", details=details, unusable=change)
    return Problem(
        id=name,
        dataset="bugsinpy",
        language="python",
        source=change.fixed,
        function=change.function,
        buggy=change.buggy,
        details={**details, "path": change.path},
    )


@dataclass(frozen=True, slots=True)
class FunctionFix:
    """The fix of a function in a file."""

    path: str
    function: str
    buggy: str
    fixed: str


def _change(repository: Path, revision: str, patch: str, address: str) -> FunctionFix | str:
    """What a patch changes; or why it cannot be used."""
    files = [(match["old"], match["new"]) for match in _FILE.finditer(patch)]
    python = [new for _, new in files if new.endswith(".py")]
    if len(python) != 1:
        return f"its fix changes {len(python)} Python files"
    if not repository.is_dir():
        return f"its project is not here: git clone {address} {repository}"
    (name,) = python
    blob = (git.blobs(repository, revision) or {}).get(name)
    texts = None if blob is None else git.contents(repository, [blob])
    if texts is None:
        return f"{repository} has no {name} at commit {revision[:12]}: clone all of {address}"
    buggy = texts[0].decode("utf-8", "replace")
    part = patch[patch.index(f" b/{name}\n") :]
    following = _FILE.search(part)
    fixed = apply_patch(buggy, part[: following.start()] if following else part)
    if fixed is None:
        return "its patch does not fit the file of its commit"
    try:
        before, after = Document(buggy), Document(fixed)
        changed = _changed_function(before, after)
    except SourceError as error:
        return f"{name} cannot be read: {error.message}"
    if changed is None:
        return "its fix changes several functions, or code outside functions"
    return FunctionFix(name, changed, buggy, fixed)


def apply_patch(text: str, patch: str) -> str | None:
    """A text after the hunks of a unified patch; None if they do not fit it exactly, except for line ends."""
    lines, result, at = text.splitlines(keepends=True), [], 0
    for match, following in _with_next(list(_HUNK.finditer(patch))):
        body = patch[match.end() : following].split("\n")[1:]
        first = int(match[1]) - (match[2] != "0")
        if not at <= first <= len(lines):
            return None
        result += lines[at:first]
        at = first
        for row in body:
            if row.startswith("+"):
                result.append(row[1:] + "\n")
            elif row.startswith((" ", "-")):
                if at >= len(lines) or lines[at].rstrip("\r\n") != row[1:].rstrip("\r"):
                    return None
                if row.startswith(" "):
                    result.append(lines[at])
                at += 1
    return "".join([*result, *lines[at:]])


def _with_next(matches: list[re.Match[str]]) -> Iterator[tuple[re.Match[str], int | None]]:
    starts = [match.start() for match in matches[1:]]
    return zip(matches, [*starts, None], strict=True)


def _changed_function(before: Document, after: Document) -> str | None:
    """The qualified name of the only outermost function that differs; None if anything else differs."""
    names: list[str] = []
    rest: list[list[bytes]] = []
    outer = [_outermost(document) for document in (before, after)]
    for document, known in zip((before, after), outer, strict=True):
        at, pieces = 0, []
        for function in known:
            pieces.append(document.data[at : function.start])
            at = function.end
        rest.append([*pieces, document.data[at:]])
    if rest[0] != rest[1]:
        return None
    for old, new in zip(*outer, strict=True):
        texts = before.data[old.start : old.end], after.data[new.start : new.end]
        if old.qualname != new.qualname:
            return None
        if texts[0] != texts[1]:
            names.append(new.qualname)
    return names[0] if len(names) == 1 else None


def _outermost(document: Document) -> list[Function]:
    known = functions(document)
    return [function for function in known if not any(other.holds(function) for other in known)]


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {reason_of(error)}", "Clone BugsInPy again") from error
