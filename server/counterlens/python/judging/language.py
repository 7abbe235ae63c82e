"""The judges of Python programs."""

from __future__ import annotations

import ast

from counterlens.judging.languages import JudgedLanguage, judge_by_behaviour, why_no_behaviour
from counterlens.python.judging import coverage_tests, differential, doctests, unittests
from counterlens.python.judging.cheats import cheats, raising
from counterlens.python.judging.proposal import added_example, find_proposer, weak_assertion
from counterlens.python.judging.stated import contradicts, stated_examples
from counterlens.python.judging.suite import circumstances
from counterlens.python.judging.supplied_tests import (
    FileOfTestsJudge,
    PythonOutputJudge,
    SuppliedTestsJudge,
)
from counterlens.python.syntax.parsing import parse_module
from counterlens.python.syntax.versions import parse_error
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

_BY_RUNNING = "tests, found by running them"
_TESTS = {unittests.ID: unittests.find, doctests.ID: doctests.find}


def _entries(document: Document) -> list[Function]:
    """The functions at the top level."""
    return [each for each in functions(document) if "." not in each.qualname]


def _classes(document: Document) -> list[Function]:
    """The classes at the top level."""
    try:
        module = parse_module(document.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    return [
        Function(node.name, node.name, 0, 0, 0, 0, node.lineno, node.end_lineno or node.lineno, 0)
        for node in nodes
    ]


def _why_unreadable(text: str) -> str | None:
    """Why this Python cannot parse a text."""
    try:
        parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return parse_error(text, error).message
    return None


PYTHON = JudgedLanguage(
    missing=lambda: None,
    by_file=FileOfTestsJudge,
    by_output=PythonOutputJudge,
    supplied=SuppliedTestsJudge,
    entries=_entries,
    classes=_classes,
    tests=_TESTS,
    surveyed={**_TESTS, unittests.ID: coverage_tests.find_cases},
    untested="no test mentions it, and its docstring has no examples",
    unreadable=_why_unreadable,
    by_running=coverage_tests.find,
    behaviour=differential.find_behaviour,
    run_versions=differential.run_versions,
    never_compared=differential.never_compared,
    cheats=cheats,
    raising=raising,
    proposer=find_proposer,
    added_example=added_example,
    stated_examples=stated_examples,
    contradicts=contradicts,
    weak_assertion=weak_assertion,
    find_why_tested=coverage_tests.find_why_tested,
    circumstances=circumstances,
    fallbacks={_BY_RUNNING: coverage_tests.find, differential.ID: judge_by_behaviour},
    why_not={_BY_RUNNING: coverage_tests.why_not, differential.ID: why_no_behaviour},
)
