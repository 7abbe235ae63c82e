"""The right and wrong functions for `doubt.py`, from datasets and from the standard library.

There are two halves: even problems and every second module are for the margins; the others are reported.
"""

from __future__ import annotations

import difflib
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np
from bugsinpy import made_bugs_in

from counterlens.datasets import open_dataset
from counterlens.datasets.base import Problem
from counterlens.doubt.alternative import Alternative
from counterlens.doubt.fitting import code_lines
from counterlens.doubt.generating import alternatives_in, changed_text, scopes
from counterlens.doubt.passages import passages
from counterlens.doubt.scope import DoubtScope
from counterlens.errors import SourceError
from counterlens.syntax.document import Document

PACKAGES = ("", "json", "email", "http", "urllib", "xml/etree", "logging", "asyncio", "collections", "html")
"""Folders of the standard library."""
SHORTEST, LONGEST = 4, 30
"""Minimum and maximum number of lines of a function's body."""
IN_VIEW = 1500
"""Maximum number of bytes before a function in its context: long contexts take most of the time."""
MODULES = 30
"""Number of modules sampled for a half."""
LARGEST = 150_000
"""Maximum number of bytes of a module."""

Named = tuple[str, DoubtScope]


@dataclass(frozen=True)
class Bug:
    """A buggy solution of HumanEvalPack, or a function of BugsInPy.

    Attributes:
        id: The id of the problem.
        about: The type of the bug; for BugsInPy, its file.
        scope: The function.
        wrong: The lines that differ from the reference, and those beside a gap; 0-based.
        fixes: The alternatives that restore the reference.
    """

    id: str
    about: str
    scope: DoubtScope
    wrong: frozenset[int]
    fixes: tuple[Alternative, ...]


def bugs(data: Path) -> Iterator[Bug]:
    """The bugs of the reported half."""
    for problem in _problems_of("humanevalpack", data / "humanevalpack" / "python", reported=True):
        document, right = Document(problem.buggy or ""), problem.source
        (scope,) = [one for one in scopes(document) if one.function.qualname == problem.function]
        fixes = [o for o in alternatives_in(scope) if changed_text(document, o).strip() == right.strip()]
        wrong = code_lines(scope) & _wrong(document.text.splitlines(), right.splitlines())
        yield Bug(problem.id, str(problem.details.get("bug_type", "")), scope, wrong, tuple(fixes))


def made_bugs(data: Path, longest: int) -> Iterator[Bug]:
    """Bugs that people made: functions of BugsInPy of at most `longest` lines of code, shortest first."""
    usable = []
    for problem in made_bugs_in(data):
        if problem.unusable:
            continue
        document = Document(problem.buggy or "")
        scope = next(
            (scope for scope in scopes(document) if scope.function.qualname == problem.function), None
        )
        if scope is None or len(code_lines(scope)) > longest:
            continue
        fixes = [o for o in alternatives_in(scope) if changed_text(document, o) == problem.source]
        wrong = _wrong(document.text.splitlines(), problem.source.splitlines())
        usable.append(Bug(problem.id, problem.details["path"], scope, frozenset(wrong), tuple(fixes)))
    return iter(sorted(usable, key=lambda bug: len(code_lines(bug.scope))))


def _wrong(before: list[str], after: list[str]) -> set[int]:
    wrong: set[int] = set()
    for tag, low, high, *_ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        wrong |= {low - 1, low} if tag == "insert" else set(range(low, high)) if tag != "equal" else set()
    return wrong


def is_reported(number: str) -> bool:
    """Whether a problem is in the reported half: odd ones are."""
    return int(re.sub(r"\D", "", number)) % 2 == 1


def mixed(data: Path, seed: int, *, reported: bool) -> list[Named]:
    """Right functions of one half, shuffled, so that any number of the first ones is a sample."""
    rng = np.random.default_rng(seed)
    mbpp, humaneval, library = (
        [found[i] for i in rng.permutation(len(found))]
        for found in (
            list(_problems("mbpp", data / "mbpp", reported)),
            list(_problems("humanevalpack", data / "humanevalpack" / "python", reported)),
            list(_library(reported, rng)),
        )
    )
    rows = zip_longest(mbpp[::2], mbpp[1::2], humaneval, library[::2], library[1::2])
    return [one for row in rows for one in row if one is not None]


def _problems_of(loader: str, folder: Path, reported: bool) -> Iterator[Problem]:
    """The problems of one half of a dataset."""
    for problem in open_dataset(f"{loader}:{folder}"):
        if is_reported(problem.id) == reported:
            yield problem


def _problems(loader: str, folder: Path, reported: bool) -> Iterator[Named]:
    """The functions of a dataset's reference solutions."""
    for problem in _problems_of(loader, folder, reported):
        for scope in scopes(Document(problem.source)):
            if alternatives_in(scope):
                yield f"{problem.id}::{scope.function.qualname}", scope


def _library(reported: bool, rng: np.random.Generator) -> Iterator[Named]:
    """The functions of some of every second module."""
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = sorted(path for name in PACKAGES for path in (root / name).glob("*.py"))
    half = [path for path in paths if not path.name.startswith("__")][reported::2]
    for path in [half[i] for i in rng.permutation(len(half))[:MODULES].tolist()]:
        try:
            document = Document.read(path)
        except SourceError:
            continue
        for scope in scopes(document) if len(document.data) <= LARGEST else ():
            lines = document.data.count(b"\n", scope.start, scope.function.end) + 1
            if SHORTEST <= lines <= LONGEST and _is_short(scope):
                yield f"{path.relative_to(root)}::{scope.function.qualname}", scope


def _is_short(scope: DoubtScope) -> bool:
    """Whether the context before a function's body is short."""
    found = next(passages(scope, alternatives_in(scope)), None)
    return found is not None and len(found[0].context.encode()) <= IN_VIEW
