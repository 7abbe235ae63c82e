"""Holes that people filled: statements that commits added to functions, in place of usual cuts.

A hole has statements of one block that one commit added: what precedes them is the prompt, what follows them
is the suffix for models that fill. A first statement is never cut out, and neither is more than `LONGEST`
lines: of more statements, the last ones are. The whole function is judged, as it is for other completions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tree_sitter

from counterlens.errors import OptionError, SourceError
from counterlens.languages.registry import LANGUAGES
from counterlens.mutations import Concept, Counterfactual, Cut
from counterlens.mutations.edits import render
from counterlens.probes.options import option
from counterlens.probes.probe import Target
from counterlens.probes.prompts.function_text import behind_docstring
from counterlens.probes.prompts.language import definition_node, prompting_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, Function, find_function
from counterlens.syntax.statements import is_statement
from counterlens.text import line_start

if TYPE_CHECKING:
    from counterlens.datasets.git import Commit

MOST, LONGEST = 3, 12
"""Maximum number of holes of a function, and of lines of a hole."""

UNCHANGED = "commit-hole"
"""The mutation of the unchanged function in refusals."""


class Holes(StrEnum):
    """The origin of holes."""

    USUAL = "usual"
    COMMITS = "commits"


def _check_day(day: str | None) -> None:
    try:
        if day is None or date.fromisoformat(day).isoformat() == day:
            return
    except ValueError:
        pass
    raise OptionError(
        f"a training cutoff must be a day such as 2024-09-30, not {day!r}",
        "If only the month is known, take its last day",
    )


HoleChoice = Annotated[
    Holes,
    option(
        "Code to complete: usual, the rest of the function after a cut; or commits: statements that commits "
        f"added to it, the newest {MOST} holes of at most {LONGEST} lines (Python, in a git repository).",
    ),
]
TrainingCutoff = Annotated[
    str | None,
    option(
        "Last day of the training data of the models, such as 2024-09-30: figures for holes whose code was "
        "written later are shown separately (with --holes commits).",
        metavar="DAY",
        check=_check_day,
    ),
]


@dataclass(frozen=True, slots=True)
class CommitHole:
    """Statements of a function that a commit added.

    Attributes:
        start: The first byte of their first line.
        end: The byte after the last statement.
    """

    start: int
    end: int
    commit: Commit

    def lines(self, document: Document) -> tuple[int, int]:
        """The first and the last line, 1-based."""
        return document.positions.line_of(self.start) + 1, document.positions.line_of(self.end) + 1


def holes_of(target: Target) -> list[CommitHole]:
    """The newest holes of a function, in the order of its text.

    Raises:
        SourceError: it is not in a git repository, or no commit added statements to it, or none that
            `--since` selects.
        OptionError: holes of its language cannot be completed.
    """
    document, function = target.document, find_function(target.document, target.qualname)
    prompting_of(document.language).inner_stop(document, function.header, function.end)
    if document.path is None or function.name == MODULE:
        raise SourceError(
            f"--holes commits needs a function in a file of a git repository, and {target.name} is none",
            "Use it with --data repo:PATH, or probe FILE::FUNCTION",
        )
    commits = _line_commits(document.path, document.data)
    if commits is None:
        raise SourceError(
            f"--holes commits needs the history of {document.path.name}, and git gives none",
            "Use it in a git repository, with committed files that git can annotate within a minute",
        )
    every = list(_holes(document, function, commits))
    holes = [hole for hole in every if not target.lines or _touches(document, hole, target.lines)]
    if every and not holes:
        raise SourceError(
            f"no commit added a statement that differs from --since to {function.qualname}",
            "Give an earlier revision, or omit --since",
        )
    if not holes:
        raise SourceError(
            f"no commit added a statement after its first one to {function.qualname}",
            "The first commit of a repository, or of a shallow clone, adds to nothing",
        )
    newest = sorted(holes, key=lambda hole: hole.commit.written, reverse=True)[:MOST]
    return sorted(newest, key=lambda hole: hole.start)


@lru_cache(maxsize=16)
def _line_commits(path: Path, text: bytes) -> list[Commit | None] | None:
    from counterlens.datasets.git import line_commits

    return line_commits(path, text)


def _touches(document: Document, hole: CommitHole, lines: Sequence[tuple[int, int]]) -> bool:
    first, last = hole.lines(document)
    return any(a <= last and first <= b for a, b in lines)


def _holes(document: Document, function: Function, commits: Sequence[Commit | None]) -> Iterator[CommitHole]:
    data, after = document.data, behind_docstring(document, function)
    for run in _added_statements(document, function, commits):
        last = run[-1].end_point.row
        statements = [
            node
            for node in run
            if last - node.start_point.row < LONGEST and line_start(data, node.start_byte) > after
        ]
        commit = commits[last]
        if statements and commit is not None:
            end = statements[-1].end_byte
            end += len(_rest_of_line(data, end))
            yield CommitHole(line_start(data, statements[0].start_byte), end, commit)


def _added_statements(
    document: Document, function: Function, commits: Sequence[Commit | None]
) -> Iterator[list[tree_sitter.Node]]:
    """Neighbouring statements of a block that one commit added; comments between them do not count."""
    data, comment = document.data, LANGUAGES[document.language].comment.encode()
    lines = data.split(b"\n")

    def commit_of(node: tree_sitter.Node) -> Commit | None:
        """The commit that added all lines of a statement, which shares them with no other; None otherwise."""
        first, last = node.start_point.row, node.end_point.row
        rest = _rest_of_line(data, node.end_byte).strip()
        alone = not data[line_start(data, node.start_byte) : node.start_byte].strip()
        if not alone or last - first >= LONGEST or (rest and not rest.startswith(comment)):
            return None
        rows = (row for row in range(first, last + 1) if lines[row].strip())
        added = {commits[row] if row < len(commits) else None for row in rows}
        return added.pop() if len(added) == 1 else None

    nodes = [definition_node(document, function)]
    while nodes:
        run: list[tree_sitter.Node] = []
        commit: Commit | None = None
        for node in nodes.pop().named_children:
            if node.type == "comment":
                continue
            added = commit_of(node) if is_statement(node.type) else None
            if run and added != commit:
                yield run
                run = []
            if added is None:
                nodes.append(node)
            else:
                run.append(node)
                commit = added
        if run:
            yield run


def _rest_of_line(data: bytes, offset: int) -> bytes:
    """What follows on a line, without blanks at its end."""
    return data[offset:].partition(b"\n")[0].rstrip()


def at_hole(made: Counterfactual, hole: CommitHole) -> Counterfactual | None:
    """A counterfactual that is cut at a hole; None if its change is not before the hole, or reorders it."""
    end = len(made.original)
    rendered = render(made.original, made.edits, (hole.start, hole.end))
    points = {end: len(rendered.data), **rendered.points}
    first, last = points.get(hole.start), points.get(hole.end)
    if first is None or last is None or not any(edit.start < hole.start for edit in made.edits):
        return None
    lines = made.original.count(b"\n", hole.start, hole.end)
    if last < first or rendered.data.count(b"\n", first, last) != lines:
        return None
    return replace(made, cut=Cut(hole.start, first, original_end=hole.end, mutated_end=last))


def unchanged_function(document: Document, function: Function, hole: CommitHole) -> Counterfactual:
    """The function as it is, cut at a hole: a counterfactual without a change."""
    first, last = hole.lines(document)
    return Counterfactual(
        mutation=UNCHANGED,
        concept=Concept.NOTHING,
        preserving=True,
        function=function.qualname,
        start_line=first,
        end_line=last,
        description="",
        original=document.data,
        edits=(),
        cut=Cut(hole.start, hole.start, original_end=hole.end, mutated_end=hole.end),
        seed=0,
    )
