"""The judges of Python programs."""

from __future__ import annotations

import ast

from counterlens.judging.languages import JudgedLanguage, judge_by_behaviour, why_no_behaviour
from counterlens.languages.part import FunctionAt
from counterlens.python.judging import differential, doctests, unittests
from counterlens.python.judging.cheats import cheats, raising
from counterlens.python.syntax.parsing import parse_module
from counterlens.python.syntax.versions import parse_error
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

_TESTS = {unittests.ID: unittests.find, doctests.ID: doctests.find}


def _at(place: str) -> FunctionAt:
    """What only some judgements need, imported then."""
    return FunctionAt(f"counterlens.python.judging.{place}")


_BY_RUNNING, _RUNNING = "tests, found by running them", _at("coverage_tests:find")


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
    by_file=_at("supplied_tests:FileOfTestsJudge"),
    by_output=_at("supplied_tests:PythonOutputJudge"),
    supplied=_at("supplied_tests:SuppliedTestsJudge"),
    entries=_entries,
    classes=_classes,
    tests=_TESTS,
    surveyed={**_TESTS, unittests.ID: _at("coverage_tests:find_cases")},
    untested="no test mentions it, and its docstring has no examples",
    unreadable=_why_unreadable,
    by_running=_RUNNING,
    behaviour=differential.find_behaviour,
    run_versions=_at("differential.versions:run_versions"),
    never_compared=differential.never_compared,
    cheats=cheats,
    raising=raising,
    proposer=_at("proposal:find_proposer"),
    added_example=_at("proposal:added_example"),
    stated_examples=_at("stated:stated_examples"),
    contradicts=_at("stated:contradicts"),
    weak_assertion=_at("proposal:weak_assertion"),
    find_why_tested=_at("coverage_tests:find_why_tested"),
    circumstances=_at("suite:circumstances"),
    fallbacks={
        _BY_RUNNING: _RUNNING,
        differential.ID: judge_by_behaviour,
    },
    why_not={
        _BY_RUNNING: _at("coverage_tests:why_not"),
        differential.ID: why_no_behaviour,
    },
)
