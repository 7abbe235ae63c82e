"""CoRe (Xie et al. 2025): functions of programs, people's labels of their dependences, and its questions."""

from __future__ import annotations

import ast
import json
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from counterlens.datasets.base import Loader, Problem
from counterlens.datasets.files import records
from counterlens.errors import DataError
from counterlens.syntax.python_ast import parse_module

_NAME = re.compile(r"(?P<program>.+)_(?P<first>\d+)_(?P<last>\d+)\.py")
_KEPT = ("task_id", "category", "src", "dst", "groundtruth", "prompt")
_LITE, _PROMPTS, _LANGUAGE = "lite.json", "prompts", "Python"


class Core(Loader):
    """A folder with `code/PROGRAM_FUNCTION_FIRST_LAST.py` and labels of the same names in `label/`.

    A problem is the function in the lines FIRST to LAST, at the place that it has in its program: the lines
    before it are empty, so that the labels' line numbers hold. A function that is no Python 3 is unusable,
    and says so. CoRe's repository is read, too: `raw_annotation/Python` in it is such a folder. If `prompts/`
    and `lite.json` are beside the two folders, or in the repository, a problem has its own.

    Details: `label`, the text of the labels; `questions`, a JSON list of CoRe's own questions (`task_id`,
    `category`, `src`, `dst`, `groundtruth`, `prompt`); `lite`, a JSON list of the ids in CoRe Lite.
    """

    id = "core"
    title = "CoRe"
    source = "github.com/CoReBench/CoRe"
    licence = "Apache-2.0"
    published: ClassVar[Mapping[str, str]] = {
        "aa7a15842452784de95ffb364d088765a10359ec700149a14ffa2a4d9147d56c": "30 Python functions (2025)"
    }

    def recognises(self, path: Path) -> int:
        """Like `Loader.recognises`: more than other formats of programs, because it names two folders."""
        root = _labelled(path)
        if not (root / "code").is_dir() or not (root / "label").is_dir():
            return 0
        first = next(iter(sorted((root / "code").glob("*.py"))), None)
        return 200 if first is not None and _NAME.fullmatch(first.name) else 0

    def problems(self, path: Path) -> Iterator[Problem]:
        """Like `Loader.problems`."""
        root = _labelled(path)
        asked, lite = _questions(path), _lite(path)
        for file in sorted((root / "code").glob("*.py")):
            named = _NAME.fullmatch(file.name)
            if named is None:
                raise DataError(f"{file.name}: the name does not end in the line numbers of its function")
            first, last = int(named["first"]), int(named["last"])
            lines = _text(file).split("\n")
            source = "\n" * (first - 1) + textwrap.dedent("\n".join(lines[first - 1 : last])) + "\n"
            function, unusable = _function(source)
            details = {"label": _text(root / "label" / f"{file.stem}.yaml")}
            if file.stem in asked:
                details["questions"] = json.dumps(asked[file.stem])
            if of_it := [one for one in lite if one.partition("_")[2].startswith(f"{file.stem}_")]:
                details["lite"] = json.dumps(of_it)
            yield Problem(
                id=file.stem,
                dataset=self.id,
                language="python",
                source=source,
                function=function,
                details=details,
                unusable=unusable,
            )


def _labelled(path: Path) -> Path:
    """The folder with `code` and `label`: the one that is named, or the one in CoRe's repository."""
    inside = path / "raw_annotation" / _LANGUAGE
    return inside if inside.is_dir() else path


def _questions(path: Path) -> dict[str, list[dict[str, Any]]]:
    """CoRe's questions about Python functions, by the name of the function's files."""
    found: dict[str, list[dict[str, Any]]] = {}
    for file in sorted((path / _PROMPTS).glob(f"*_{_LANGUAGE}_*.jsonl")):
        for record in records(file):
            name = record.text("label_file").removesuffix(".yaml")
            missing = [key for key in _KEPT if key not in record.fields]
            if missing:
                raise record.wrong(f"`{missing[0]}` is missing")
            found.setdefault(name, []).append({key: record.fields[key] for key in _KEPT})
    return found


def _lite(path: Path) -> list[str]:
    """The ids in CoRe Lite about Python functions."""
    if not (path / _LITE).is_file():
        return []
    try:
        document = json.loads(_text(path / _LITE))
        return [str(one) for languages in document.values() for one in languages.get(_LANGUAGE, ())]
    except (ValueError, AttributeError) as error:
        raise DataError(f"{path / _LITE} is not a list of CoRe's ids by task and language: {error}") from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"there is no file {file}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read: {error}") from error


def _function(source: str) -> tuple[str | None, str]:
    """The first function, and why the source is no Python 3; the name is then that in the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            found = next((one for one in parse_module(source).body if isinstance(one, ast.FunctionDef)), None)
        return (None if found is None else found.name), ""
    except SyntaxError as error:
        name = re.search(r"^\s*def\s+(\w+)", source, re.MULTILINE)
        return (None if name is None else name[1]), f"no Python 3, line {error.lineno}: {error.msg}"
