"""The languages whose programs are judged: one line for each, and nothing above asks which one it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from counterlens.attribution import programs
from counterlens.attribution.base import Judge, Setting, Verdict
from counterlens.attribution.java.judge import JavaTestsJudge, judge_java_by_tests
from counterlens.attribution.java.output import JavaOutputJudge
from counterlens.attribution.output import PrintingCase, PythonOutputJudge
from counterlens.attribution.supplied_tests import SuppliedTestsJudge
from counterlens.errors import SandboxError, SourceError
from counterlens.sandbox.java.jdk import find_jdk


class ByFile(Protocol):
    """Judges a program by another file, or by its own."""

    def __call__(self, program: str, path: Path, setting: Setting, /, *, function: str | None) -> Verdict: ...


@dataclass(frozen=True, slots=True)
class JudgedLanguage:
    """How programs of a language are judged.

    Attributes:
        id: Its id, as documents have it.
        title: Its name for people.
        by_tests: By a file of tests; see `judge_by_tests`.
        supplied: The judge by tests that are text: the tests, the function, the original, the setting.
        missing: Why they cannot be judged on this machine; None if they can.
        against: By comparison with another program.
        by_itself: By its own tests and examples.
        by_output: The judge of whole programs by what they print: of the cases and the setting.
    """

    id: str
    title: str
    by_tests: Callable[..., Verdict]
    supplied: Callable[[str, str, str, Setting], Judge]
    missing: Callable[[], str | None]
    against: ByFile
    by_itself: ByFile
    by_output: Callable[[Sequence[PrintingCase], Setting], Judge]


def _java(tests: str, _function: str, original: str, setting: Setting) -> Judge:
    return JavaTestsJudge(tests, original, setting)


def _no_java() -> str | None:
    try:
        find_jdk()
    except SandboxError as error:
        return str(error)
    return None


_LANGUAGES: Mapping[str, JudgedLanguage] = {
    known.id: known
    for known in (
        JudgedLanguage(
            "python",
            "Python",
            programs.judge_by_tests,
            SuppliedTestsJudge,
            lambda: None,
            programs.judge_against,
            programs.judge_by_itself,
            PythonOutputJudge,
        ),
        JudgedLanguage(
            "java",
            "Java",
            judge_java_by_tests,
            _java,
            _no_java,
            programs.judge_against,
            programs.judge_by_itself,
            JavaOutputJudge,
        ),
    )
}


def judged_languages() -> tuple[str, ...]:
    """The ids of the languages whose programs are judged."""
    return tuple(_LANGUAGES)


def judged(language: str) -> JudgedLanguage:
    """How programs of a language are judged.

    Raises:
        SourceError: they are not.
    """
    if language not in _LANGUAGES:
        titles = " and ".join(known.title for known in _LANGUAGES.values())
        raise SourceError(f"programs in {language} cannot be judged", f"Those in {titles} can")
    return _LANGUAGES[language]


def judged_file(path: Path) -> JudgedLanguage:
    """How the program in a file is judged: by the language of its name; in doubt it is Python.

    Raises:
        SourceError: programs in its language are not judged.
    """
    return judged(programs.program_language(path))
