"""Whole programs that read and print: CodeContests (Li et al. 2022), CodeNet (Puri et al. 2021), and Avatar.

The last two are read as Liu et al. 2024 publish them; Avatar is by Ahmad et al. 2021.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from counterlens.datasets.base import Case, Problem, TestForm, Tests
from counterlens.datasets.files import JsonRecord, RecordLoader
from counterlens.datasets.folders import Folder, FolderLoader

_SOURCE = "github.com/google-deepmind/code_contests"
_LICENCE = "CC-BY-4.0"
_INPUT = re.compile(r"tests/input_(\d+)\.txt")
_PYTHON3, _JAVA, _CPP = "python", "java", "cpp"
_LANGUAGES = {3: _PYTHON3, "PYTHON3": _PYTHON3, 4: _JAVA, "JAVA": _JAVA, 2: _CPP, "CPP": _CPP}


class CodeContests(RecordLoader):
    """The records of the published protocol buffers, in the JSON of the hub.

    The first correct solution in Python 3 is the reference, else one in Java or C++, which are only read; a
    problem without any has an empty program.
    """

    id = "codecontests"
    title = "CodeContests"
    source = _SOURCE
    licence = _LICENCE
    hub = ("deepmind/code_contests", None, "valid")
    fields = ("name", "description", "public_tests", "private_tests", "solutions")

    def problem(self, record: JsonRecord) -> Problem:
        language, solution = _best(record, "solutions")
        wrong, incorrect = _best(record, "incorrect_solutions")
        cases = [case for kind in ("public", "private", "generated") for case in _cases(record, kind)]
        return Problem(
            id=record.text("name"),
            dataset=self.id,
            language=language,
            source=solution,
            description=record.text("description"),
            tests=Tests(TestForm.STDIO, cases=tuple(cases)) if cases else None,
            buggy=incorrect if incorrect and wrong == language else None,
        )


class CodeContestsFolders(FolderLoader):
    """`PROBLEM/main.py` with `PROBLEM.md`, `tags.txt`, `tests/input_N.txt` and `tests/output_N.txt`."""

    id = "codecontests-folders"
    title = "CodeContests (folders)"
    family = CodeContests.id
    source = _SOURCE
    licence = _LICENCE
    published: ClassVar[Mapping[str, str]] = {
        "690c8cb3c2d8772134781987f8c1ce46ed6c653ae1694d068fd450fc421caca6": "300 graph problems"
    }
    marker = "PROBLEM.md"

    def problem(self, folder: Folder) -> Problem:
        program, language = folder.program
        numbers = sorted(int(match[1]) for file in folder.files if (match := _INPUT.fullmatch(file)))
        cases = tuple(
            Case(folder.text(f"tests/input_{n}.txt"), folder.text(f"tests/output_{n}.txt")) for n in numbers
        )
        tags = folder.text("tags.txt").split("\n") if "tags.txt" in folder.files else []
        return Problem(
            id=folder.name.rpartition("/")[2],
            dataset=self.id,
            language=language,
            source=folder.text(program),
            description=folder.text("PROBLEM.md"),
            tests=Tests(TestForm.STDIO, cases=cases) if cases else None,
            details={"tags": ", ".join(tag for tag in tags if tag)},
        )


def _best(record: JsonRecord, field: str) -> tuple[str, str]:
    """The language and text of a solution: Python 3 before Java before C++, else an empty one."""
    solutions = record.fields.get(field) or {}
    languages, texts = _columns(record, field, solutions, "language", "solution")
    pairs = [(_LANGUAGES.get(name, ""), text) for name, text in zip(languages, texts, strict=True)]
    for language in (_PYTHON3, _JAVA, _CPP):
        for name, text in pairs:
            if name == language:
                return language, text
    return _PYTHON3, ""


def _cases(record: JsonRecord, kind: str) -> list[Case]:
    field = f"{kind}_tests"
    inputs, outputs = _columns(record, field, record.fields.get(field) or {}, "input", "output")
    if not all(isinstance(text, str) for text in (*inputs, *outputs)):
        raise record.wrong(f"`{field}` contains a value that is not a string")
    return [Case(given, due) for given, due in zip(inputs, outputs, strict=True)]


def _columns(record: JsonRecord, field: str, table: Any, key: str, other: str) -> tuple[list[Any], list[Any]]:
    """Two lists of the same length, published as an object of lists, or as a list of objects."""
    if isinstance(table, list) and all(isinstance(row, dict) for row in table):
        return [row.get(key) for row in table], [row.get(other) for row in table]
    if not isinstance(table, dict):
        raise record.wrong(f"`{field}` is neither an object of lists nor a list of objects")
    first, second = table.get(key, []), table.get(other, [])
    if not isinstance(first, list) or not isinstance(second, list) or len(first) != len(second):
        raise record.wrong(f"`{field}` needs `{key}` and `{other}` of one length")
    return first, second


class CodeNet(FolderLoader):
    """`PROBLEM_SUBMISSION/main.py` (or `Main.java`) with `input.txt` and `output.txt`."""

    id = "codenet"
    title = "CodeNet"
    source = "github.com/Intelligent-CAT-Lab/CodeMind"
    licence = "NCSA; the programs as in CodeNet"
    published: ClassVar[Mapping[str, str]] = {
        "f4d40f33b214282838120ab8593d5d57c1e2929c53b95c173ba2694abac566b6": "CodeMind, Python (2024)"
    }
    marker = "input.txt"

    def problem(self, folder: Folder) -> Problem:
        program, language = folder.program
        case = Case(folder.text("input.txt"), folder.text("output.txt"))
        return Problem(
            id=folder.name.rpartition("/")[2],
            dataset=self.id,
            language=language,
            source=folder.text(program),
            tests=Tests(TestForm.STDIO, cases=(case,)),
        )


class Avatar(CodeNet):
    """The same layout; distinguished from CodeNet by its name."""

    id = "avatar"
    title = "Avatar"
    licence = "NCSA; the programs as in Avatar"
    published: ClassVar[Mapping[str, str]] = {}

    def recognises(self, path: Path) -> int:
        named = "avatar" in path.name.lower() or "avatar" in path.parent.name.lower()
        return 2 * super().recognises(path) if named else 0
