"""CoRe (Xie et al. 2025): functions of programs, human labels of their dependences, and its questions.

Its labels say which variables of a function depend on which, by data and by control.

An instance is a variable in a line. A label lists the instances from which its value comes directly
(`datadep`) and those of the conditions that directly decide about its line (`controldep`); `reset: False`
marks an instance that its line only reads, and `Null` is the variable of a line without one. There are three
tasks:

- data: chains of `datadep`, between instances;
- control: chains of `controldep`, between lines;
- information flow: chains of both, between instances.

An instance that is only read is not a source of data or of information. Dependences, the sources of an
instance, and direct steps are defined as in CoRe's evaluation, including its corner cases: a line is a source
of its own control only through another variable in it.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from counterlens.datasets.base import Loader, Problem
from counterlens.datasets.files import records
from counterlens.errors import DataError
from counterlens.nested_text import parse_json
from counterlens.regular_file import read_text, reason_of
from counterlens.syntax.document import STRICT, Document
from counterlens.syntax.functions import functions

CoreNode = tuple[str, int]
"""A variable and its line; for control, the line with an empty name."""

NO_VARIABLE = "Null"
_HEAD = re.compile(r"  (\w+) (\d+): *")
_KEY = re.compile(r" *(datadep|controldep):")
_SOURCE = re.compile(r" *- (\w+) (\d+)")
_NAME = re.compile(r"(?P<program>.+)_(?P<first>\d+)_(?P<last>\d+)\.(py|java|c)")
_KEPT = ("task_id", "category", "src", "dst", "groundtruth", "prompt")
_LITE, _PROMPTS, _ANNOTATED = "lite.json", "prompts", "raw_annotation"
_LANGUAGES = {".py": "Python", ".java": "Java", ".c": "C"}
"""CoRe's names for the supported languages, by file extension."""


class CoreTask(StrEnum):
    """The subject of CoRe's questions; the values are CoRe's own."""

    DATA = "data"
    CONTROL = "control"
    FLOW = "infoflow"

    @property
    def words(self) -> str:
        """Its usual name."""
        return {"data": "data dependence", "control": "control dependence"}.get(
            self.value, "information flow"
        )


@dataclass(frozen=True, slots=True)
class LabelledInstance:
    """One variable in one line.

    Attributes:
        variable: Its name; `Null` if the line has none.
        binds: Whether the line assigns or changes it.
        data: The instances from which its value comes directly.
        control: The instances of the conditions that directly decide about its line.
    """

    variable: str
    line: int
    binds: bool
    data: frozenset[CoreNode]
    control: frozenset[CoreNode]

    @property
    def node(self) -> CoreNode:
        """Its variable and line."""
        return self.variable, self.line


@dataclass(frozen=True)
class CoreLabels:
    """The instances of one function, in the order of the labels: those of one variable are adjacent."""

    instances: tuple[LabelledInstance, ...]

    @classmethod
    def of(cls, instances: Sequence[LabelledInstance]) -> CoreLabels:
        """Labels from instances in any order."""
        names = list(dict.fromkeys(instance.variable for instance in instances))
        return cls(tuple(sorted(instances, key=lambda instance: names.index(instance.variable))))

    @classmethod
    def read(cls, text: str) -> CoreLabels:
        """Read the labels in a file of CoRe: a small, fixed subset of YAML."""
        return cls.of(
            list({instance.node: instance for instance in _read(text)}.values())
        )  # the last of two is used

    @cached_property
    def by_node(self) -> dict[CoreNode, LabelledInstance]:
        """The instances by variable and line."""
        return {instance.node: instance for instance in self.instances}

    def targets(self, task: CoreTask) -> list[CoreNode]:
        """Instances that can depend on others."""
        if task is CoreTask.CONTROL:
            return [("", line) for line in sorted({instance.line for instance in self.instances})]
        return [instance.node for instance in self.instances if instance.variable != NO_VARIABLE]

    def candidates(self, task: CoreTask) -> list[CoreNode]:
        """Instances that others can depend on."""
        if task is CoreTask.CONTROL:
            return [
                ("", line)
                for line in sorted({line for instance in self.instances for _, line in instance.control})
            ]
        return [instance.node for instance in self.instances if instance.binds]

    def direct(self, task: CoreTask) -> dict[CoreNode, set[CoreNode]]:
        """For each node, the nodes that depend on it in one step."""
        dependents: dict[CoreNode, set[CoreNode]] = {}
        if task is CoreTask.CONTROL:
            first: dict[int, LabelledInstance] = {}
            for instance in self.instances:
                first.setdefault(instance.line, instance)
            for line, instance in first.items():
                for _, before in instance.control:
                    dependents.setdefault(("", before), set()).add(("", line))
            return dependents
        for instance in self.instances:
            for source in self._before(instance, task):
                dependents.setdefault(source, set()).add(instance.node)
        return dependents

    def sources(self, task: CoreTask, target: CoreNode) -> frozenset[CoreNode]:
        """Every node on which a node depends, over any number of steps; itself, too, if it is on a cycle."""
        if task is CoreTask.CONTROL:
            return self._control_sources(target[1])
        start = self.by_node.get(target)
        if start is None:
            return frozenset()
        reached = self._reached(start, task)
        nodes = {node for node in reached if node != target and self._binds(node)}
        if target in reached and (task is CoreTask.DATA or start.binds):
            nodes.add(target)
        return frozenset(nodes)

    def _control_sources(self, line: int) -> frozenset[CoreNode]:
        start = next((instance for instance in self.instances if instance.line == line), None)
        if start is None:
            return frozenset()
        reached = self._reached(start, CoreTask.CONTROL) - {start.node}
        return frozenset(("", before) for _, before in reached)

    def _reached(self, start: LabelledInstance, task: CoreTask) -> set[CoreNode]:
        """The instances on which an instance depends, over one step or more."""
        reached: set[CoreNode] = set()
        open_ = [start]
        while open_:
            for node in self._before(open_.pop(), task) - reached:
                reached.add(node)
                if node in self.by_node:
                    open_.append(self.by_node[node])
        return reached

    def _before(self, instance: LabelledInstance, task: CoreTask) -> Set[CoreNode]:
        if task is CoreTask.DATA:
            return instance.data
        return instance.control if task is CoreTask.CONTROL else instance.data | instance.control

    def _binds(self, node: CoreNode) -> bool:
        return node in self.by_node and self.by_node[node].binds


def _read(text: str) -> Iterator[LabelledInstance]:
    head: CoreNode | None = None
    binds, into = True, ""
    sources: dict[str, set[CoreNode]] = {}
    for line in text.partition("variables:")[2].splitlines():
        if named := _HEAD.fullmatch(line):
            if head is not None:
                yield _instance(head, sources, binds=binds)
            head, binds, into, sources = (named[1], int(named[2])), True, "", {}
        elif re.match(r" *reset: *[Ff]alse", line):
            binds = False
        elif key := _KEY.match(line):
            into = key[1]
        elif into and (source := _SOURCE.match(line)):
            sources.setdefault(into, set()).add((source[1], int(source[2])))
    if head is not None:
        yield _instance(head, sources, binds=binds)


def _instance(head: CoreNode, sources: dict[str, set[CoreNode]], *, binds: bool) -> LabelledInstance:
    variable, line = head
    data, control = (frozenset(sources.get(key, ())) for key in ("datadep", "controldep"))
    return LabelledInstance(variable, line, binds and variable != NO_VARIABLE, data, control)


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
        root = _labelled_folder(path)
        files = _files(root)
        languages = {_LANGUAGES[file.suffix] for file in files}
        by_language = {
            language: (_questions(path, language), _lite(path, language)) for language in languages
        }
        for file in files:
            asked, lite = by_language[_LANGUAGES[file.suffix]]
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
        document = parse_json(_text(file))
        return [
            str(identifier) for languages in document.values() for identifier in languages.get(language, ())
        ]
    except (ValueError, AttributeError) as error:
        raise DataError(f"{file} is not a list of CoRe's ids by task and language: {error}") from None


def _text(file: Path) -> str:
    try:
        return read_text(file)
    except FileNotFoundError:
        raise DataError(f"there is no file {file}") from None
    except OSError as error:
        raise DataError(f"{file} cannot be read: {reason_of(error)}") from error


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
