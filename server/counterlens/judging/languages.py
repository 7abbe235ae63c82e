"""The languages whose programs are judged, each by a separate module that `Language.judge` names.

Handwritten tests come first: tests and doctests are found, and all of them must pass. Only if there are none,
the fallbacks are tried in order. The tests that come with a problem (`supplied`) are not included: their
owner creates a judge and passes it on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

from counterlens.errors import SourceError
from counterlens.judging.base import Attribution, Judge, Setting, WeakAssertion
from counterlens.judging.comparing import ComparingJudge
from counterlens.judging.comparison import PrintingCase
from counterlens.languages.part import LanguagePart
from counterlens.languages.registry import language_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

if TYPE_CHECKING:
    from counterlens.judging.versions import VersionRuns

WhyNot = Callable[[Document, Function, Setting], str | None]
Cheats = Callable[[Document, Function, Sequence[str]], Mapping[str, str]]
"""From a file, a function and texts of its tests to programs that should fail them, by their description."""


Behaviour = Callable[[Document, Function, Setting, Sequence[Any]], ComparingJudge | str]
"""Finds the judge by the behaviour of a function, or the reason why there is none.

The last argument has the calls that its tests make, as `Judge.recorded_calls` returns them.
"""
WhyTested = Callable[[Document, Function, Setting | None], str | None]
"""Says why a function of a project counts as tested; see `JudgedLanguage`."""
RunVersions = Callable[
    [Document, Function, Sequence[str], Setting, Sequence[Any], Sequence[str]], "VersionRuns | str"
]
"""Runs versions of a function on the same inputs; see `run_versions`."""


class TestProposer(Protocol):
    """Finds inputs on which mutants of a function behave differently, and writes tests for them."""

    def first_counterexample(self, program: str, *, cancel: Event | None = None) -> Any | None:
        """An input that distinguishes a mutant, with both results; None if none does.

        Raises:
            SandboxError, Cancelled: as `Judge.judge`, here and below.
        """
        ...

    def smallest_counterexample(self, program: str, first: Any, *, cancel: Event | None = None) -> Any:
        """The smallest such input found, by simplifying one."""
        ...

    def written(self, example: Any) -> str:
        """The call of a counterexample, as text."""
        ...

    def proposed_test(
        self, example: Any, program: str, line: int, names: set[str], *, cancel: Event | None = None
    ) -> str | None:
        """The text of a file with a test that passes on the original and fails on a mutant.

        Args:
            example: The counterexample.
            line: Its first changed line, for the name of the test.
            names: The names of other proposed tests; it adds that of this one.

        Returns:
            None if no such test was found.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLanguage:
    """How programs of a language are judged, and how the judge of a function is found.

    Attributes:
        missing: Why they cannot be judged on this machine; None if they can.
        by_file: The judge by a file of tests, from the file in whose place programs run, the tests, the
            setting, the function that they are about if it is named, the text of a program that passes, and
            the file of the original if there is one. Raises `SourceError` if the tests cannot be read.
        by_output: The judge of whole programs by their output, from the cases and the setting.
        supplied: The judge by supplied tests, from their text, the function, the original and the setting.
        entries: The functions that other files may call.
        classes: The classes whose objects are compared, method after method, as functions of that name.
        tests: Finds handwritten tests, by attribution function.
        surveyed: The same for runs over many functions.
        untested: The reason if no tests were found.
        unreadable: Why the examples of a text cannot be read; None if they can.
        by_running: Finds tests by running all of them once; None if the language does not do that.
        run_versions: Runs versions of a function on the same inputs, or says why it cannot.
        never_compared: Why no inputs could compare the behaviour of a function; None if some may. It runs
            nothing.
        cheats: The programs that tests of the function should fail.
        raising: The program with a body of a function that only raises, or, without a function, an empty
            one; None if there is none. Tests that pass it do not run the function.
        proposer: Proposes tests of a function, or the reason why none can be proposed.
        added_example: The edit (a byte range and its text) that adds a call and the value that it should
            return to the documentation of a function, as an example; None where it could not be tested there.
        stated_examples: The values that a text states in prose for calls of a function of that name, by call.
        contradicts: Whether an outcome in words is not what such examples state for a call.
        weak_assertion: The assertion in a function's tests that accepts nearly any result, told by its shape.
        find_why_tested: Returns what says of a function of a project why it counts as tested, for a walk over
            many functions while no file changes: given the setting for one run of all tests or None for no
            run, it returns a reason, such as `mentioned by a test`; None if the function does not count.
        circumstances: The data, besides some files, that verdicts on their functions depend on: plain data,
            for a manifest.
        fallbacks: Attribution functions for functions without handwritten tests, in the order tried.
        why_not: For each fallback, why it found nothing.
    """

    missing: Callable[[], str | None]
    by_file: Callable[[Path, Path, Setting, str | None, str, Path | None], Judge]
    by_output: Callable[[Sequence[PrintingCase], Setting], Judge]
    supplied: Callable[[str, str, str, Setting], Judge]
    entries: Callable[[Document], list[Function]]
    classes: Callable[[Document], list[Function]] = lambda _: []
    tests: Mapping[str, Attribution]
    surveyed: Mapping[str, Attribution]
    untested: str
    unreadable: Callable[[str], str | None] = lambda _: None
    by_running: Attribution | None = None
    behaviour: Behaviour
    run_versions: RunVersions = lambda *_: "versions in its language cannot be run beside each other"
    never_compared: Callable[[Document, Function], str | None] = lambda *_: None
    cheats: Cheats = lambda *_: {}
    raising: Callable[[Document, Function | None], str | None] = lambda *_: None
    proposer: Callable[[Document, Function, Setting], TestProposer | str] = lambda *_: (
        "no tests are proposed in its language"
    )
    added_example: Callable[[Document, Function, str, str], tuple[int, int, str] | None] = lambda *_: None
    stated_examples: Callable[[str, str], Mapping[str, Any]] = lambda *_: {}
    contradicts: Callable[[Mapping[str, Any], str, str], bool] = lambda *_: False
    weak_assertion: Callable[[Document, Function], WeakAssertion | None] = lambda *_: None
    find_why_tested: Callable[[], WhyTested] = lambda: lambda *_: None
    circumstances: Callable[[Iterable[Path]], dict[str, Any]] = lambda _: {}
    fallbacks: Mapping[str, Attribution]
    why_not: Mapping[str, WhyNot]


JUDGED: LanguagePart[JudgedLanguage] = LanguagePart(
    "judge", JudgedLanguage, "programs in {0} cannot be judged", "Those in {0} can"
)
"""How programs are judged, by language."""


judging_of = JUDGED.require
"""How programs of a language are judged; a `SourceError` if they are not."""


def program_language(path: Path) -> str:
    """The language of a program by the name of its file; Python by default."""
    try:
        return language_of(path)
    except SourceError:
        return "python"


def behaviour_of(
    document: Document, function: Function, setting: Setting, recorded: Sequence[Any] = ()
) -> ComparingJudge | str:
    """The judge of a function by its behaviour, or the reason why there is none; see `Behaviour`."""
    return judging_of(document.language).behaviour(document, function, setting, recorded)


def run_versions(
    document: Document,
    function: Function,
    programs: Sequence[str],
    setting: Setting,
    *,
    recorded: Sequence[Any] = (),
    texts: Sequence[str] = (),
) -> VersionRuns | str:
    """Run a function, and other versions of it, on the same inputs, each in a process of its own.

    Inputs are the given ones, and others that are drawn from types, literals and these. The examples in the
    docstring and the calls in the project's tests are always given. The document itself need not be right: a
    given input counts whatever it does, and a drawn one if the document returns or raises in the same way
    each time.

    Args:
        programs: The whole text of the file in each version, with another body of the function.
        setting: The sandbox, interpreter and limits of each program.
        recorded: Calls that tests make, as `Judge.recorded_calls` returns them.
        texts: Further texts that may call the function with literal arguments, such as `median([3, 1])`.

    Returns:
        The outcome of each version for each input, or the reason why there are no inputs.

    Raises:
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    language = judging_of(document.language)
    return language.run_versions(document, function, programs, setting, recorded, texts)


def judge_by_behaviour(document: Document, function: Function, setting: Setting) -> Judge | None:
    """The judge of a function by its behaviour, as an attribution function; None if there is none."""
    judge = behaviour_of(document, function, setting)
    return None if isinstance(judge, str) else judge


def why_no_behaviour(document: Document, function: Function, setting: Setting) -> str | None:
    """Why a function cannot be judged by its behaviour; None if it can."""
    judge = behaviour_of(document, function, setting)
    return judge if isinstance(judge, str) else None
