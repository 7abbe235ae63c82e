"""CoRe (Xie et al. 2025): functions of programs, human labels of their dependences, and its questions."""

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
from counterlens.syntax.document import STRICT, Document
from counterlens.syntax.functions import functions

_NAME = re.compile(r"(?P<program>.+)_(?P<first>\d+)_(?P<last>\d+)\.(py|java|c)")
_KEPT = ("task_id", "category", "src", "dst", "groundtruth", "prompt")
_LITE, _PROMPTS, _ANNOTATED = "lite.json", "prompts", "raw_annotation"
_LANGUAGES = {".py": "Python", ".java": "Java", ".c": "C"}
"""CoRe's names for the supported languages, by file extension."""


class Core(Loader):
    """A folder with `code/PROGRAM_FUNCTION_FIRST_LAST.py`, `.java` or `.c`, and `label/` with these names.

    A problem is the function in the lines FIRST to LAST, at its place in the program: for Python, the lines
    before it are empty, so that the labels' line numbers are valid; for Java and C, the whole program is
    kept, because a method needs its class, and a function its declarations. A function that is not Python 3
    is unusable, with a reason. CoRe's repository is read, too: `raw_annotation/Python`, `raw_annotation/Java`
    and `raw_annotation/C` in it are such folders, and the first one is the default. Problems have the
    questions of `prompts/` and `lite.json` if these are beside the two folders, or in the repository.

    Details: `label`, the text of the labels; `questions`, a JSON list of CoRe's own questions (`task_id`,
    `category`, `src`, `dst`, `groundtruth`, `prompt`); `lite`, a JSON list of the ids in CoRe Lite.
    """

    id = "core"
    title = "CoRe"
    source = "github.com/CoReBench/CoRe"
    licence = "Apache-2.0"
    published: ClassVar[Mapping[str, str]] = {
        "aa7a15842452784de95ffb364d088765a10359ec700149a14ffa2a4d9147d56c": "30 Python functions (2025)",
        "ad4dfd6c95608cea131422ec244049345c442f8ee783d3e9a19ca2a02fd714ab": "30 Java functions (2025)",
        "f05bdbaeb72040d44c75153120ef2294aec55c91f4028aa9c2b8dcefe107da06": "30 C functions (2025)",
    }

    def recognises(self, path: Path) -> int:
        """Like `Loader.recognises`: higher than other program formats, because it requires two folders."""
        root = _labelled_folder(path)
        if not (root / "code").is_dir() or not (root / "label").is_dir():
            return 0
        first = next(iter(_files(root)), None)
        return 200 if first is not None and _NAME.fullmatch(first.name) else 0

    def problems(self, path: Path) -> Iterator[Problem]:
        """Like `Loader.problems`."""
        root = _labelled_folder(path)
        files = _files(root)
        languages = {_LANGUAGES[file.suffix] for file in files}
        known = {language: (_questions(path, language), _lite(path, language)) for language in languages}
        for file in files:
            asked, lite = known[_LANGUAGES[file.suffix]]
            named = _NAME.fullmatch(file.name)
            if named is None:
                raise DataError(f"{file.name}: the name does not end in the line numbers of its function")
            first, last = int(named["first"]), int(named["last"])
            read = {".py": _python, ".java": _java, ".c": _c}[file.suffix]
            source, function, unusable = read(_text(file), first, last)
            details = {"label": _text(root / "label" / f"{file.stem}.yaml")}
            if file.stem in asked:
                details["questions"] = json.dumps(asked[file.stem])
            if of_it := [
                identifier for identifier in lite if identifier.partition("_")[2].startswith(f"{file.stem}_")
            ]:
                details["lite"] = json.dumps(of_it)
            yield Problem(
                id=file.stem,
                dataset=self.id,
                language=_LANGUAGES[file.suffix].lower(),
                source=source,
                function=function,
                details=details,
                unusable=unusable,
            )


def _labelled_folder(path: Path) -> Path:
    """The folder with `code` and `label`: the given one, or the one in CoRe's repository."""
    inside = (path / _ANNOTATED / language for language in _LANGUAGES.values())
    return next((folder for folder in inside if folder.is_dir()), path)


def _question_folder(path: Path) -> Path:
    """The folder with the questions: the given one, or the repository around it."""
    return path.parent.parent if path.absolute().parent.name == _ANNOTATED else path


def _files(root: Path) -> list[Path]:
    return sorted(file for file in (root / "code").glob("*") if file.suffix in _LANGUAGES)


def _questions(path: Path, language: str) -> dict[str, list[dict[str, Any]]]:
    """CoRe's questions about functions in a language, by the name of the function's files."""
    questions: dict[str, list[dict[str, Any]]] = {}
    for file in sorted((_question_folder(path) / _PROMPTS).glob(f"*_{language}_*.jsonl")):
        for record in records(file):
            name = record.text("label_file").removesuffix(".yaml")
            missing = [key for key in _KEPT if key not in record.fields]
            if missing:
                raise record.wrong(f"`{missing[0]}` is missing")
            questions.setdefault(name, []).append({key: record.fields[key] for key in _KEPT})
    return questions


def _lite(path: Path, language: str) -> list[str]:
    """The ids in CoRe Lite about functions in a language."""
    file = _question_folder(path) / _LITE
    if not file.is_file():
        return []
    try:
        document = json.loads(_text(file))
        return [
            str(identifier) for languages in document.values() for identifier in languages.get(language, ())
        ]
    except (ValueError, AttributeError) as error:
        raise DataError(f"{file} is not a list of CoRe's ids by task and language: {error}") from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"there is no file {file}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read: {error}") from error


def _java(text: str, first: int, last: int) -> tuple[str, str | None, str]:
    """The program, the method in some of its lines, and the reason if there is none."""
    document = Document(text, language="java")
    inside = [
        method
        for method in functions(document)
        if text.encode().count(b"\n", 0, method.header) + 1 >= first and method.end_line <= last
    ]
    if not inside:
        return text, None, f"no method in lines {first} to {last}"
    return text, inside[0].qualname, ""


def _c(text: str, first: int, last: int) -> tuple[str, str | None, str]:
    """The program, the function in some of its lines, and the reason if there is none."""
    nodes = [Document(text, language="c").tree.root_node]
    while nodes:
        node = nodes.pop()
        if node.type == "function_definition" and first <= node.end_point.row + 1 <= last:
            declarator = node.child_by_field_name("declarator")
            while declarator is not None and declarator.type != "identifier":
                declarator = declarator.child_by_field_name("declarator")
            if declarator is not None:
                return text, (declarator.text or b"").decode(), ""
        nodes += reversed(node.children)
    return text, None, f"no function in lines {first} to {last}"


def _python(text: str, first: int, last: int) -> tuple[str, str | None, str]:
    """The function in some lines of a program, its name, and the reason if it is not Python 3."""
    lines = text.split("\n")
    source = "\n" * (first - 1) + textwrap.dedent("\n".join(lines[first - 1 : last])) + "\n"
    return source, *_function(source)


def _function(source: str) -> tuple[str | None, str]:
    """The name of the first function, and the reason if the source is not Python 3."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = STRICT.require("python")(source)
        body = tree.body if isinstance(tree, ast.Module) else []
        function = next((node for node in body if isinstance(node, ast.FunctionDef)), None)
        return (None if function is None else function.name), ""
    except SyntaxError as error:
        name = re.search(r"^\s*def\s+(\w+)", source, re.MULTILINE)
        return (None if name is None else name[1]), f"no Python 3, line {error.lineno}: {error.msg}"
