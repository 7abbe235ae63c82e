"""CoRe (Xie et al. 2025): functions of programs, with people's labels of their dependences."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from counterlens.datasets.base import Loader, Problem
from counterlens.errors import DataError

_NAME = re.compile(r"(?P<program>.+)_(?P<first>\d+)_(?P<last>\d+)\.py")


class Core(Loader):
    """A folder with `code/PROGRAM_FUNCTION_FIRST_LAST.py` and labels of the same names in `label/`.

    A problem is the function in the lines FIRST to LAST, at the place that it has in its program: the lines
    before it are empty, so that the labels' line numbers hold. A function that is no Python 3 is left to
    whoever reads the source; `label` in the details is the text of the labels.
    """

    id = "core"
    title = "CoRe"
    source = "github.com/CoReBench/CoRe"
    licence = "Apache-2.0"
    published: ClassVar[Mapping[str, str]] = {
        "aa7a15842452784de95ffb364d088765a10359ec700149a14ffa2a4d9147d56c": "30 Python functions (2025)"
    }

    def recognises(self, path: Path) -> int:
        """As `Loader.recognises`: more than other formats of programs, because it names two folders."""
        if not (path / "code").is_dir() or not (path / "label").is_dir():
            return 0
        first = next(iter(sorted((path / "code").glob("*.py"))), None)
        return 200 if first is not None and _NAME.fullmatch(first.name) else 0

    def problems(self, path: Path) -> Iterator[Problem]:
        """As `Loader.problems`."""
        for file in sorted((path / "code").glob("*.py")):
            named = _NAME.fullmatch(file.name)
            if named is None:
                raise DataError(f"{file.name}: the name does not end in the lines of its function")
            first, last = int(named["first"]), int(named["last"])
            lines = _text(file).split("\n")
            source = "\n" * (first - 1) + textwrap.dedent("\n".join(lines[first - 1 : last])) + "\n"
            yield Problem(
                id=file.stem,
                dataset=self.id,
                language="python",
                source=source,
                function=_function(source),
                details={"label": _text(path / "label" / f"{file.stem}.yaml")},
            )


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"there is no file {file}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read: {error}") from error


def _function(source: str) -> str | None:
    """The first function; its name in the text where the program is no Python 3."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            found = next((one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef)), None)
        return None if found is None else found.name
    except SyntaxError:
        name = re.search(r"^\s*def\s+(\w+)", source, re.MULTILINE)
        return None if name is None else name[1]
