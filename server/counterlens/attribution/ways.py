"""How each language finds judges: its attribution functions, and what it says where there is none.

Handwritten inputs count first: tests and doctests are found, and all of them must hold. Only if there are
none, the fallbacks are asked one after the other. The tests that come with a problem (`supplied_tests.py`)
are not included: their owner makes a judge and passes it on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from counterlens.attribution import coverage_tests, differential, doctests, unittests
from counterlens.attribution.base import Attribution, Judge, Setting
from counterlens.attribution.java import differential as java_differential
from counterlens.attribution.java import project_tests
from counterlens.errors import SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

WhyNot = Callable[[Document, Function, Setting], str | None]

ATTRIBUTIONS: dict[str, Attribution] = {unittests.ID: unittests.find, doctests.ID: doctests.find}
BY_LINES: dict[str, Attribution] = {**ATTRIBUTIONS, unittests.ID: coverage_tests.find_cases}
"""The same for runs over many functions, for which the whole suite is run once."""
TESTS_BY_RUNNING = "tests, found by running them"
FALLBACKS: dict[str, Attribution] = {
    TESTS_BY_RUNNING: coverage_tests.find,
    differential.ID: differential.find,
}


@dataclass(frozen=True, slots=True)
class Ways:
    """How the judge of a function is found in one language.

    Attributes:
        tests: Finds handwritten tests, by attribution function.
        surveyed: The same for runs over many functions.
        fallbacks: What is asked where there are none, in this order.
        behaviour: The judge by what the function does.
        untested: What it means that no tests were found.
        why_not: For each fallback, why it found nothing.
    """

    tests: Mapping[str, Attribution]
    surveyed: Mapping[str, Attribution]
    fallbacks: Mapping[str, Attribution]
    behaviour: Attribution
    untested: str
    why_not: Mapping[str, WhyNot]


PYTHON = Ways(
    ATTRIBUTIONS,
    BY_LINES,
    FALLBACKS,
    differential.find,
    "no test mentions it, and its docstring has no examples",
    {TESTS_BY_RUNNING: coverage_tests.why_not, differential.ID: differential.why_not},
)
JAVA = Ways(
    {project_tests.ID: project_tests.find},
    {project_tests.ID: project_tests.find},
    {differential.ID: java_differential.find},
    java_differential.find,
    "no test of its project mentions it",
    {differential.ID: java_differential.why_not},
)
_WAYS = {"python": PYTHON, "java": JAVA}


def ways_of(document: Document) -> Ways:
    """The ways of a document's language.

    Raises:
        SourceError: its programs are not judged.
    """
    if document.language not in _WAYS:
        raise SourceError(f"programs in {document.language} cannot be judged")
    return _WAYS[document.language]


def behaviour_of(document: Document, function: Function, setting: Setting) -> tuple[Judge | None, str]:
    """The judge of a function by what it does, or why there is none."""
    ways = ways_of(document)
    judge = ways.behaviour(document, function, setting)
    reason = None if judge is not None else ways.why_not[differential.ID](document, function, setting)
    return judge, reason or ""
