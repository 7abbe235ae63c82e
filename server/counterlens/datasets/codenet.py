"""CodeNet (Puri et al. 2021) and Avatar (Ahmad et al. 2021) programs, as Liu et al. 2024 publish them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from counterlens.datasets.base import Case, Problem, TestForm, Tests
from counterlens.datasets.folders import Folder, FolderLoader


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
        """Like `FolderLoader.problem`."""
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
        """Like `Loader.recognises`."""
        named = "avatar" in path.name.lower() or "avatar" in path.parent.name.lower()
        return 2 * super().recognises(path) if named else 0
