"""The judges of Java programs."""

from __future__ import annotations

from counterlens.errors import SandboxError
from counterlens.java.judging import differential, judge
from counterlens.java.judging.cheats import cheats
from counterlens.java.judging.differential.target import is_private
from counterlens.java.judging.judge import (
    JavaFileOfTestsJudge,
    JavaOutputJudge,
    JavaTestsJudge,
)
from counterlens.judging.base import Judge, Setting
from counterlens.judging.comparing import ID as DIFFERENTIAL
from counterlens.judging.languages import JudgedLanguage, judge_by_behaviour, why_no_behaviour
from counterlens.sandbox.java.machine import find_jdk
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions


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
    untested="no test of its project mentions it",
    behaviour=differential.find_behaviour,
    cheats=cheats,
    fallbacks={DIFFERENTIAL: judge_by_behaviour},
    why_not={DIFFERENTIAL: why_no_behaviour},
)
