"""Tests selected by coverage: those that execute a function, whether or not they mention it.

The whole suite runs once, in the sandbox, with coverage.py noting which test runs which line. The map is
kept by the content of the project's files, so it is made again only when one of them changes.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import platformdirs

from counterlens.attribution import doctests, unittests
from counterlens.attribution.base import Judge, Setting
from counterlens.attribution.differential.testable import find_node
from counterlens.attribution.discovery import CaseName, files_with_tests, read_text
from counterlens.attribution.layout import Layout, layout_of
from counterlens.attribution.recording import run
from counterlens.counting import plural
from counterlens.errors import SandboxError
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.python_ast import parse_module

ID = "tests"
SECONDS = 60.0  # for the whole suite
_MOST_FILES, _LARGEST = 4000, 2 << 20  # what is looked at to see whether a project has changed
_LIMITS = Limits(
    seconds=SECONDS + 20,
    cpu_seconds=int(SECONDS) + 20,
    memory_bytes=2 << 30,
    open_files=256,
    output_bytes=64 << 20,
)
_SKIPPED = {"__pycache__", "node_modules", "site-packages", ".git", ".venv", "venv", "build", "dist"}
_NOTABLE = {"pyproject.toml", "setup.cfg", "pytest.ini", "tox.ini", "conftest.py"}
_failed: dict[str, TestMap] = {}
"""Suites that gave no map in the life of this process, by their contents: not tried for every function."""


@dataclass(frozen=True, slots=True)
class TestMap:
    """Which test runs which line.

    Attributes:
        tests: Kind (`case` or `doctest`), file, class and name of each.
        lines: File to line to numbers of tests.
        partial: Whether there was no time for all of them.
        why: Why there is no map, if there is none.
    """

    __test__ = False

    tests: tuple[tuple[str, str, str, str], ...] = ()
    lines: dict[str, dict[int, tuple[int, ...]]] | None = None
    partial: bool = False
    why: str | None = None

    def running(self, path: Path, lines: range) -> list[tuple[str, str, str, str]]:
        """The tests that run any of some lines of a file."""
        of_file = (self.lines or {}).get(str(path), {})
        found = {number for line in lines for number in of_file.get(line, ())}
        return [self.tests[number] for number in sorted(found) if number < len(self.tests)]


def find(document: Document, function: Function, setting: Setting) -> Judge | None:
    """The judge by the tests that execute a function; None when none does, or that cannot be found out."""
    reached = _reaching(document, function, setting)
    if reached is None or document.path is None:
        return None
    place, found, _ = reached
    cases = [CaseName(Path(file), owner, name) for kind, file, owner, name in found if kind == "case"]
    if cases:
        return unittests.judge_by(
            sorted(cases, key=lambda case: str(case.file)), place, document.text, setting
        )
    names = [name for kind, _, _, name in found if kind == "doctest"]
    judges = (doctests.judge_by(_docstring(document.text, name), document, setting, name) for name in names)
    return next((judge for judge in judges if judge is not None), None)


def why_not(document: Document, function: Function, setting: Setting) -> str:
    """Why no test was found by running them, after `find` found none."""
    reached = _reaching(document, function, setting)
    if reached is None:
        return "there are no tests beside it"
    of_project = reached[2]
    if of_project.why is not None:
        return f"the tests could not be run: {of_project.why}"
    unfinished = f"; not all were run in {SECONDS:.0f} s" if of_project.partial else ""
    return f"none of the {len(of_project.tests)} tests that were run reaches it{unfinished}"


def _reaching(
    document: Document, function: Function, setting: Setting
) -> tuple[Layout, list[tuple[str, str, str, str]], TestMap] | None:
    """Where a function stands, the tests that run it, and the map; None where there are no tests at all."""
    if document.path is None or document.language != "python":
        return None
    place = layout_of(document.path, document.text)
    on_disk = read_text(place.path, _LARGEST)
    if on_disk is None:
        return None
    files = files_with_tests(place)
    if not files and ">>>" not in on_disk:
        return None
    lines = body_lines(on_disk, function.qualname)
    if lines is None:
        return None
    found = map_of(place, files, setting)
    return place, found.running(place.path, lines), found


def map_of(place: Layout, files: Sequence[Path], setting: Setting, folder: Path | None = None) -> TestMap:
    """The map of the project that a file belongs to, made now or when its files were last the same.

    Args:
        place: The file.
        files: Its test files.
        setting: Where and how tests run.
        folder: Where maps are kept.

    Raises:
        Cancelled: the setting's `cancel` was set.
    """
    folder = folder or Path(platformdirs.user_cache_dir("counterlens")) / "test-maps"
    digest = _digest(place, files, setting)
    if digest in _failed:
        return _failed[digest]
    kept = folder / f"{digest}.json"
    try:
        return _map(json.loads(kept.read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    if setting.report:
        many = plural(len(files), "test file")
        name = place.project.name
        setting.report(f"running {many} of {name} once, at most {SECONDS:.0f} s, to see what they reach")
    try:
        report = _run(place, files, setting)
    except SandboxError as error:
        return TestMap(why=error.message)
    made = _map(report)
    if made.why is None:
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(report))
    else:
        _failed[digest] = made
    return made


def _run(place: Layout, files: Sequence[Path], setting: Setting) -> dict[str, Any]:
    described = [(path, layout_of(path)) for path in files]
    top = place.root / place.module.partition(".")[0] if "." in place.module else None
    task = {
        "files": [{"path": str(path), "module": at.module, "root": str(at.root)} for path, at in described],
        "module": place.module,
        "roots": [str(root) for root in place.roots],
        "measured": [str(place.path), *([f"{top}/*"] if top else [])],
        "folder": str(place.project),
        "seconds": SECONDS,
    }
    inside = replace(setting, limits=_LIMITS)
    outcome = run(inside, "mapping", task, place.readable, setting.cancel, lent_coverage())
    try:
        report = json.loads(outcome.result)
    except ValueError:
        return {
            "why": f"the tests did not come to an end within {_LIMITS.seconds:.0f} s, or ended the process"
        }
    return report if isinstance(report, dict) else {"why": "the report makes no sense"}


def lent_coverage() -> dict[str, bytes]:
    """coverage.py without its compiled part, for interpreters that do not have it."""
    spec = find_spec("coverage")
    if spec is None or spec.origin is None:
        return {}
    package = Path(spec.origin).parent
    return {f"lent/coverage/{path.name}": path.read_bytes() for path in package.glob("*.py")}


def body_lines(text: str, qualname: str) -> range | None:
    """The lines of a function that run when it is called, without its header and docstring."""
    try:
        found, _ = find_node(parse_module(text), qualname)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if found is None:
        return None
    first = found.body[1 if ast.get_docstring(found) is not None and len(found.body) > 1 else 0]
    return range(first.lineno, (found.end_lineno or first.lineno) + 1)


def _docstring(text: str, name: str) -> str | None:
    """The docstring of what has a dotted name in a module; of the module itself for no name."""
    found: Any = parse_module(text)
    for part in name.split(".") if name else ():
        found = next((node for node in found.body if getattr(node, "name", None) == part), None)
        if found is None or not hasattr(found, "body"):
            return None
    return ast.get_docstring(found, clean=False)


def _map(report: Any) -> TestMap:
    if "why" in report:
        return TestMap(why=str(report["why"]))
    tests = tuple((str(a), str(b), str(c), str(d)) for a, b, c, d in report["tests"])
    lines = {
        str(path): {int(line): tuple(map(int, ran)) for line, ran in found}
        for path, found in report["lines"].items()
    }
    return TestMap(tests, lines, bool(report["partial"]))


def _digest(place: Layout, files: Sequence[Path], setting: Setting) -> str:
    """Of everything that the map depends on."""
    found = hashlib.sha256(f"1 {setting.python} {place.path} {place.project}".encode())
    sources = _sources(place.root if "." in place.module else place.path.parent)
    notable = [place.project / name for name in sorted(_NOTABLE)]
    for path in [*sorted({*sources, *files})[:_MOST_FILES], *notable]:
        text = read_text(path, _LARGEST)
        if text is not None:
            found.update(f"\0{path}\0{text}".encode("utf-8", "replace"))
    return found.hexdigest()


def _sources(folder: Path) -> list[Path]:
    found: list[Path] = []
    waiting = [folder]
    while waiting and len(found) < _MOST_FILES:
        for path in sorted(waiting.pop().iterdir()):
            if path.is_dir() and path.name not in _SKIPPED and not path.name.startswith("."):
                waiting.append(path)
            elif path.suffix == ".py":
                found.append(path)
    return found
