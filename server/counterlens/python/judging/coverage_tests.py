"""Tests selected by the lines that they run, whether or not they mention the function.

The project's baseline (`baseline.py`) says which test runs which line. A function is judged by the tests
that ran a line of its body and passed in the baseline: at most `MOST`, the nearest first.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from counterlens.counting import plural
from counterlens.judging.base import Judge, Setting
from counterlens.judging.languages import WhyTested
from counterlens.python.judging import doctests, unittests
from counterlens.python.judging.baseline import FAILED, PASSED, Baseline, BaselineTest, baseline_of
from counterlens.python.judging.cheats import body_lines
from counterlens.python.judging.discovery import (
    CaseName,
    TestFileIndex,
    cases_for,
    files_with_tests,
    read_text,
)
from counterlens.python.judging.layout import LARGEST, Layout, layout_of
from counterlens.python.judging.sandboxed.recorder.exclusion import REASON as EXCLUDED
from counterlens.python.judging.unittests import RanBy, statement_lines
from counterlens.python.syntax.parsing import parse_module
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

MOST = 40
"""Maximum number of tests that judge one function, unless more are needed to run all its lines."""
_SHARE = 4
"""Tests that took more than 1/`_SHARE` of a program's time limit are used only for lines that no other test
runs."""


def find_cases(document: Document, function: Function, setting: Setting) -> Judge | None:
    """The judge by the tests that run a function; by those that mention it if there is no baseline."""
    coverage = _coverage_of(document, function, setting)
    if coverage is None or not coverage.baseline.tests:
        return unittests.find(document, function, setting)
    judge = _by_cases(coverage, document, function, setting)
    return judge or (unittests.find(document, function, setting) if coverage.baseline.partial else None)


def find(document: Document, function: Function, setting: Setting) -> Judge | None:
    """The judge by the tests that run a function, or by docstrings of its file; None if there are none.

    After a survey, `find_cases` has already been called, so tests are not searched for again.
    """
    coverage = _coverage_of(document, function, setting)
    if coverage is None:
        return None
    cases = None if setting.surveyed else _by_cases(coverage, document, function, setting)
    if cases is not None:
        return cases
    names = [
        test.name
        for test in coverage.tests
        if test.kind == "doctest" and Path(test.file) == coverage.place.path
    ]
    judges = (doctests.judge_by(_docstring(document.text, name), document, setting, name) for name in names)
    return next((judge for judge in judges if judge is not None), None)


def find_why_tested() -> WhyTested:
    """Finds for many functions why each counts as tested; see `JudgedLanguage`.

    That is an example, a test that runs it, or one that mentions it.
    """
    index = TestFileIndex()

    def why_tested(document: Document, function: Function, setting: Setting | None) -> str | None:
        assert document.path is not None
        if b">>>" in document.data[function.body : function.end]:
            return "doctest"
        reached = is_reached(document, function, setting) if setting is not None else None
        if reached:
            return "reached by a test"
        place = layout_of(document.path, document.text)
        mentioned = reached is None and index.cases_for(function.qualname, place)
        return "mentioned by a test" if mentioned else None

    return why_tested


def is_reached(document: Document, function: Function, setting: Setting) -> bool | None:
    """Whether any usable test runs a function; None if that is unknown for some test."""
    coverage = _coverage_of(document, function, setting)
    if coverage is None or not coverage.baseline.tests:
        return None
    if any(test.outcome == PASSED for test in coverage.tests):
        return True
    return None if coverage.baseline.partial else False


def why_not(document: Document, function: Function, setting: Setting) -> str:
    """Why running the tests found none for the function, after `find` found none."""
    coverage = _coverage_of(document, function, setting)
    if coverage is None:
        return "there are no tests beside it"
    baseline = coverage.baseline
    if baseline.why is not None:
        return f"the tests could not be run: {baseline.why}"
    unfinished = f"; not all finished in {baseline.spent:.0f} s" if baseline.partial else ""
    if coverage.tests:
        many = plural(len(coverage.tests), "test")
        outcomes = Counter(test.outcome for test in coverage.tests)
        parts = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common())
        reason = next((f": {test.reason}" for test in coverage.tests if test.reason), "")
        return f"{many} that reach it cannot be used ({parts}{reason}){unfinished}"
    broken = "".join(
        f"; {Path(file).name} cannot be imported: {why}"
        for file, why in list(baseline.broken.items())[:1]
        if why != EXCLUDED
    )
    return f"none of the {plural(len(baseline.tests), 'test')} that were run reaches it{unfinished}{broken}"


class _FunctionCoverage:
    """The baseline's data on one function."""

    def __init__(self, place: Layout, baseline: Baseline, lines: range) -> None:
        self.place, self.baseline, self.lines = place, baseline, lines
        self.numbers = baseline.running(place.path, lines)

    @property
    def tests(self) -> list[BaselineTest]:
        return [self.baseline.tests[number] for number in self.numbers]


def _coverage_of(document: Document, function: Function, setting: Setting) -> _FunctionCoverage | None:
    if document.path is None:
        return None
    place = layout_of(document.path, document.text)
    on_disk = read_text(place.path, LARGEST)
    lines = None if on_disk is None else body_lines(on_disk, function.qualname)
    if lines is None:
        return None
    baseline = baseline_of(place, setting)
    return None if baseline is None else _FunctionCoverage(place, baseline, lines)


def _by_cases(
    coverage: _FunctionCoverage, document: Document, function: Function, setting: Setting
) -> Judge | None:
    """The judge by the nearest usable cases; None if there are none."""
    tests = coverage.baseline.tests
    cases = [number for number in coverage.numbers if tests[number].kind == "case"]
    usable = [number for number in cases if tests[number].outcome in {PASSED, FAILED}]
    passing = [number for number in usable if tests[number].outcome == PASSED]
    if not setting.vetted or not passing:
        passing = usable  # the function may have a bug, which they reveal
    if not passing:
        return None
    place = coverage.place
    named = {
        (str(case.file), case.owner, case.name)
        for case in cases_for(function.qualname, place, files_with_tests(place))
    }
    longest = setting.limits.seconds / _SHARE
    chosen = nearest(coverage.baseline, passing, coverage.place.path, coverage.lines, named, longest)
    case_names = [CaseName(Path(tests[n].file), tests[n].owner, tests[n].name) for n in chosen]
    items: dict[str, list[str]] = {}
    for number in chosen:
        items.setdefault(tests[number].file, []).append(tests[number].item)
    judging = sorted(dict.fromkeys(case_names), key=lambda case: str(case.file))
    rejected = [n for n in coverage.numbers if n not in passing] + [
        n for n, test in enumerate(tests) if (test.file, test.owner, test.name) in named
    ]
    left_out = {
        f"{Path(test.file).name}::{test.item}": test.reason
        for test in (tests[number] for number in sorted(set(rejected)))
        if test.kind == "case" and test.outcome != PASSED
    }
    left_out |= {
        Path(file).name: coverage.baseline.broken[file]
        for file, *_ in named
        if file in coverage.baseline.broken
    }
    choice = unittests.Choice(items, len(usable), left_out, _ran_by(coverage, document, chosen))
    return unittests.judge_by(judging, place, document.text, setting, choice)


def _ran_by(coverage: _FunctionCoverage, document: Document, chosen: Collection[int]) -> RanBy | None:
    """Return, for each line of the function, the chosen tests that run it."""
    if document.text != read_text(coverage.place.path, LARGEST):
        return None
    tests = coverage.baseline.tests
    ran = coverage.baseline.lines.get(str(coverage.place.path), {})
    return {
        line: [(tests[n].file, tests[n].item) for n in ran.get(line, ()) if n in chosen]
        for line in statement_lines(document.text, coverage.lines)
    }


def nearest(
    baseline: Baseline,
    numbers: Sequence[int],
    path: Path,
    lines: range,
    named: Collection[tuple[str, str, str]],
    longest: float,
) -> list[int]:
    """The tests that judge a function, ascending: all that are needed to cover its lines, and the nearest.

    A test is near if it mentions the function and runs little else. Every test's first parameters come before
    any test's second ones, so that a parametrised test does not displace others.

    Args:
        baseline: The baseline of the project.
        numbers: The positions of the usable tests.
        path: The function's file.
        lines: The lines of its body.
        named: File, class and name of the tests that mention the function.
        longest: Maximum seconds of a test, unless no other test runs some line.
    """
    tests, width = baseline.tests, baseline.width()
    turn: Counter[tuple[str, str, str]] = Counter()
    order = []
    for number in numbers:
        test = tests[number]
        name = (test.file, test.owner, test.name)
        order.append((test.seconds > longest, turn[name], name not in named, width[number], number))
        turn[name] += 1
    order.sort()
    left = {
        line: ran
        for line in lines
        if (ran := set(baseline.lines.get(str(path), {}).get(line, ())) & set(numbers))
    }
    chosen: set[int] = set()
    for *_, number in order:
        if any(number in ran for ran in left.values()):
            chosen.add(number)
            left = {line: ran for line, ran in left.items() if number not in ran}
    for slow, *_, number in order:
        if len(chosen) >= MOST or slow:
            break
        chosen.add(number)
    return sorted(chosen)


def _docstring(text: str, name: str) -> str | None:
    """The docstring of an object of a module, by its dotted name; an empty name means the module itself."""
    definition: Any = parse_module(text)
    for part in name.split(".") if name else ():
        definition = next((node for node in definition.body if getattr(node, "name", None) == part), None)
        if definition is None or not hasattr(definition, "body"):
            return None
    return ast.get_docstring(definition, clean=False)
