"""The judges of Java programs."""

from __future__ import annotations

from counterlens.errors import SandboxError
from counterlens.java.judging import judge
from counterlens.java.judging.cheats import cheats, raising
from counterlens.java.judging.judge import (
    JavaFileOfTestsJudge,
    JavaOutputJudge,
    JavaTestsJudge,
)
from counterlens.java.methods import is_private
from counterlens.judging.base import Judge, Setting
from counterlens.judging.languages import JudgedLanguage
from counterlens.sandbox.java.machine import find_jdk
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

NOT_COMPARED = "Java is judged by tests alone"
"""Why no inputs compare a method with another version of it."""


def _missing() -> str | None:
    """Why there is no development kit."""
    try:
        find_jdk()
    except SandboxError as error:
        return str(error)
    return None


def _judge_by_supplied(tests: str, _function: str, original: str, setting: Setting) -> Judge:
    return JavaTestsJudge(tests, original, setting)


def _entries(document: Document) -> list[Function]:
    """The methods that are not private."""
    return [each for each in functions(document) if not is_private(document, each)]


JAVA = JudgedLanguage(
    missing=_missing,
    by_file=JavaFileOfTestsJudge,
    by_output=JavaOutputJudge,
    supplied=_judge_by_supplied,
    entries=_entries,
    tests={judge.ID: judge.find},
    surveyed={judge.ID: judge.find},
    untested="no test of its project mentions it, and Java is judged by tests alone",
    behaviour=lambda *_: NOT_COMPARED,
    never_compared=lambda *_: NOT_COMPARED,
    cheats=cheats,
    raising=raising,
    fallbacks={},
    why_not={},
)
