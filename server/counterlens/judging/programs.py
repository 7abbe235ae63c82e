"""The verdict on a single program, read from a file: by another program, or by the tests found beside it."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Container, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event

from counterlens.counting import plural
from counterlens.errors import SourceError
from counterlens.judging.base import (
    CheatTrial,
    Evidence,
    Judge,
    Judgement,
    OriginalComparison,
    OriginalSays,
    Setting,
    Verdict,
    brief,
)
from counterlens.judging.languages import behaviour_of, judging_of, program_language
from counterlens.judging.registry import find_judge, why_no_judge
from counterlens.judging.witnesses import NOT_RUN, WitnessedJudge, is_run
from counterlens.regular_file import read_bytes, read_text, reason_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

_MAKERS = ("__init__", "__new__")
_MOST_FUNCTIONS = 8  # maximum functions of a file about which the witnesses are heard
LARGEST = 4 << 20  # maximum bytes of a candidate


def judge_by_file(
    program: str,
    path: Path,
    tests: Path,
    setting: Setting,
    *,
    function: str | None = None,
    against: Path | None = None,
    cancel: Event | None = None,
) -> Verdict:
    """Judge a program by a file of tests, and hear the other witnesses if it passes.

    Args:
        program: Its text.
        setting: Their sandbox and interpreter.
        function: The function that they are about; by default every one at the top level.
        against: The original, if there is one.

    Raises:
        SourceError: the tests or the original cannot be read.
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    original = Document.read(against).text if against else ""
    by_file = judging_of(program_language(path)).by_file
    judge = by_file(path, tests, setting, function, original or program, against)
    verdict = _run_by_tests(judge, program, path, function, cancel)
    if not verdict.passed:
        return verdict
    document = Document(original or program, path, program_language(path))
    every = _compared_functions(document, against or path, function, methods=True)
    about = every[:_MOST_FUNCTIONS]
    texts = [read_text(tests, errors="replace")]
    witnessed = [
        WitnessedJudge(judge, document, each, setting, texts, has_original=bool(against)) for each in about
    ]
    compared = zip(about, witnessed, strict=True) if against else ()
    comparisons = {each.qualname: w.compare(program, cancel) for each, w in compared}
    classes = judging_of(document.language).classes(document) if against and not function else []
    objects = {
        each.qualname: WitnessedJudge(judge, document, each, setting) for each in classes[:_MOST_FUNCTIONS]
    }
    comparisons = _with_objects(
        comparisons,
        {name: each.compare(program, cancel) for name, each in objects.items()},
        {f"{name}.{method}" for name, each in objects.items() for method in (*_MAKERS, *each.covered)},
    )
    left_out = len(every) - len(about)
    trials = {each.qualname: w.try_cheats(cancel) for each, w in zip(about, witnessed, strict=True)}
    evidence = replace(
        verdict.evidence,
        comparison=_joined_comparison(comparisons, len(comparisons) + left_out) if against else None,
        cheats=_joined_trial(trials),
    )
    return replace(verdict, evidence=evidence)


def _run_by_tests(
    judge: Judge, program: str, path: Path, function: str | None, cancel: Event | None
) -> Verdict:
    """The verdict of tests on a program; refused if they pass, and do not run it."""
    verdict = judge.judge(program, cancel=cancel)
    if not verdict.passed:
        return verdict
    document = Document(program, path, program_language(path))
    every = _compared_functions(document, path, None, methods=True)
    about: list[Function | None] = [each for each in every if function in {None, each.qualname}]
    about = about[:_MOST_FUNCTIONS] or [None]
    ignored = [each for each in about if not is_run(judge, document, each, cancel)]
    names = ", ".join(each.qualname if each else "the program" for each in ignored)
    note = NOT_RUN.format(names=names) if ignored else ""
    if len(ignored) == len(about):
        evidence = Evidence(judge.attribution, 0, None, note)
        return replace(verdict, judgement=Judgement.REFUSED, evidence=evidence)
    message = brief("\n".join(filter(None, (verdict.evidence.message, note))))
    return replace(verdict, evidence=replace(verdict.evidence, message=message))


def _with_objects(
    functions: Mapping[str, OriginalComparison],
    objects: Mapping[str, OriginalComparison],
    covered: Container[str],
) -> dict[str, OriginalComparison]:
    """The comparisons of functions and classes together.

    What objects give, method after method, speaks for these methods in place of a comparison of each on new
    objects, whose attributes need not have the same names. Classes whose objects cannot be compared count
    only if there is no function.

    Args:
        functions: Those of functions and methods.
        covered: The methods that the latter call.
    """
    comparable = {
        name: each
        for name, each in objects.items()
        if each.agreement is not OriginalSays.NOT_COMPARABLE or not functions
    }
    kept = {
        name: each
        for name, each in functions.items()
        if name.partition(".")[0] not in comparable or name not in covered
    }
    return {**kept, **comparable}


def _joined_comparison(comparisons: Mapping[str, OriginalComparison], every: int) -> OriginalComparison:
    """The comparison of a program from those of its functions.

    Args:
        comparisons: Those of the functions that were compared; the first that differs decides.
        every: The number of all functions of the program: it agrees only if all of them do.
    """
    if not comparisons:
        return OriginalComparison(OriginalSays.NOT_COMPARABLE, reason="the original defines no function")
    if len(comparisons) == every == 1:
        return next(iter(comparisons.values()))
    for comparison in comparisons.values():
        if comparison.agreement is OriginalSays.DIFFERS:
            return comparison
    agreeing = [each for each in comparisons.values() if each.agreement is OriginalSays.AGREES]
    reasons = [f"{name}: {each.reason}" for name, each in comparisons.items() if each.reason]
    if every > len(comparisons):
        reasons.append(f"{plural(every - len(comparisons), 'further function')} not compared")
    agreement = OriginalSays.AGREES if len(agreeing) == every else OriginalSays.NOT_COMPARABLE
    return OriginalComparison(
        agreement,
        sum(each.inputs for each in agreeing),
        reason="; ".join(reasons),
        others=sum(each.others for each in agreeing),
        kinds=tuple(dict.fromkeys(kind for each in agreeing for kind in each.kinds)),
        elsewhere=next((each.elsewhere for each in agreeing if each.elsewhere), None),
        traces=tuple(dict.fromkeys(trace for each in agreeing for trace in each.traces)),
    )


def _joined_trial(trials: Mapping[str, CheatTrial | None]) -> CheatTrial | None:
    by_name = {name: trial for name, trial in trials.items() if trial is not None}
    several = len(by_name) > 1
    passing = [
        f"{name}: {cheat}" if several else cheat for name, trial in by_name.items() for cheat in trial.passing
    ]
    return CheatTrial(sum(trial.tried for trial in by_name.values()), tuple(passing)) if by_name else None


def _compared_functions(
    document: Document, file: Path, function: str | None, *, methods: bool = False
) -> list[Function]:
    """The named function of a program, or those that other files may call.

    Args:
        methods: Whether methods count, too; then there may be none.

    Raises:
        SourceError: there is none.
    """
    entries = judging_of(document.language).entries(document)
    every = functions(document)
    if methods:
        inside = {each.qualname for each in every}
        entries = [each for each in every if each.qualname.rpartition(".")[0] not in inside]
    compared = [each for each in every if each.qualname == function] if function else entries
    if function and not compared:
        names = ", ".join(each.qualname for each in entries)
        raise SourceError(f"{file} does not define {function}", f"It defines: {names or 'none'}")
    if not compared and not methods:
        raise SourceError(f"{file} defines no function", "Give a file with the functions to compare")
    return compared


def judge_against(
    program: str,
    original: Path,
    setting: Setting,
    *,
    function: str | None = None,
    cancel: Event | None = None,
) -> Verdict:
    """Compare the behaviour of a program with that of another one, function by function.

    Args:
        program: Its text.
        original: The other program, which is right.
        setting: Their sandbox and interpreter.
        function: The function to compare; by default every one that both define at their top level.

    Raises:
        SourceError: the original cannot be read, or does not define the function.
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    document = Document.read(original)
    compared = _compared_functions(document, original, function)
    passed: list[Verdict] = []
    reasons: list[str] = []
    for each in compared:
        judge = behaviour_of(document, each, replace(setting, cancel=cancel))
        if isinstance(judge, str):
            reasons.append(f"{each.qualname}: {judge}")
            continue
        verdict = judge.judge(program, cancel=cancel)
        if not verdict.passed:
            return verdict
        passed.append(verdict)
    if not passed:
        return Verdict(Judgement.REFUSED, Evidence("differential", 0, None, "\n".join(reasons)))
    return _join_verdicts(passed, reasons)


def judge_by_itself(
    program: str, path: Path, setting: Setting, *, function: str | None = None, cancel: Event | None = None
) -> Verdict:
    """Judge a program by its own docstring examples, and by the tests beside it.

    The whole suite runs once if no test mentions it, to find the tests that reach it.
    """
    document = Document(program, path, program_language(path))
    names = [each for each in functions(document) if function in {None, each.qualname}]
    if function and not names:
        raise SourceError(f"{path} does not define {function}")
    verdicts = []
    for each in names:
        judge = find_judge(
            document,
            each,
            replace(setting, vetted=False),
            fallback=False,
            witnessed=False,
        )
        if judge is not None:
            judge = WitnessedJudge(judge, document, each, setting, has_original=False)
            verdicts.append(judge.judge(program, cancel=cancel))
            if not verdicts[-1].passed:
                return verdicts[-1]
    by_running = judging_of(document.language).by_running
    for each in names if not verdicts else ():
        judge = by_running(document, each, setting) if by_running is not None else None
        if judge is not None:
            verdicts.append(judge.judge(program, cancel=cancel))
            if not verdicts[-1].passed:
                return verdicts[-1]
    if verdicts:
        return _join_verdicts(verdicts, [])
    lacking = judging_of(document.language).unreadable(program) or (
        why_no_judge(document, names[0], setting, fallback=False)
        if len(names) == 1
        else "it has no tests and no examples that run its functions"
    )
    reason = f"nothing can judge it: {lacking}; give --tests or --against"
    return Verdict(Judgement.REFUSED, Evidence("none", 0, None, reason))


def _join_verdicts(passed: list[Verdict], left_out: list[str]) -> Verdict:
    """All verdicts as one."""
    first = passed[0].evidence
    notes = [each.evidence.message for each in passed if each.evidence.message] + left_out
    trials = [each.evidence.cheats for each in passed if each.evidence.cheats]
    cheats = CheatTrial(
        sum(trial.tried for trial in trials), tuple(cheat for trial in trials for cheat in trial.passing)
    )
    evidence = replace(
        first,
        tests=sum(each.evidence.tests for each in passed),
        message=brief("\n".join(notes)),
        cheats=cheats if trials else None,
    )
    return Verdict(Judgement.PASSED, evidence, sum(each.seconds for each in passed))


def read_program(path: Path) -> str | Verdict:
    """A candidate's text, or the verdict that the file is not a program.

    Raises:
        SourceError: the file cannot be read.
    """
    try:
        data = read_bytes(path)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {reason_of(error)}", "Check the path") from None
    if len(data) > LARGEST:
        reason = f"it is larger than {LARGEST >> 20} MiB"
        return Verdict(Judgement.REFUSED, Evidence("none", 0, None, reason))
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding).read()
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        return Verdict(Judgement.INVALID, Evidence("none", 0, None, f"it is not text: {error}"))
