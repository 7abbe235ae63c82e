"""Tests that show nothing about a program: those that fail for reasons outside of it.

A test that fails on the unchanged file, on this machine, now, is unusable. It does not exclude a function: it
is left out, and listed with the reason. Unusable tests are found by one run of all tests on the original, in
the same way as later judgements. So effects of the sandbox or the set-up on a test never count against a
program.

`judge` has no original that passes its tests, so a test may fail for reasons outside of the program: a
missing fixture, plug-in, file, command or variable, or no network. A trial shows it. Each name of the program
becomes a stand-in that accepts every operation and satisfies every comparison. An error that a test also has
with it, whatever its size, and that it does not lose if no comparison holds, shows nothing about the program.
Two kinds need more. An error that code of the tests raises may follow from a comparison, so it must be the
same if none holds. A failed assertion may concern what the program is or raises, so it must also be the same
if any use of the stand-in raises.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.counting import plural
from counterlens.judging.base import Evidence, Judgement, Verdict, brief
from counterlens.python.judging.test_run import Reader, RunHistory, TestRun, in_lines
from counterlens.python.syntax.parsing import parse_module

_ATTEMPTS = 4
"""Maximum number of runs; after each one that a test ended or stopped, that test is left out."""


@dataclass(frozen=True, slots=True)
class Vetted:
    """The results of all tests on one program.

    Attributes:
        passed: The names of the cases that passed.
        without: The names of unusable cases, with the reason; the key of a reason for all of them is "all".
        broken: The test files that cannot be imported, with the reason.
        seconds: The time of the run.
        cpu_seconds: Its processor time; None if unknown.
    """

    passed: tuple[str, ...] = ()
    without: Mapping[str, str] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_seconds: float | None = None

    @property
    def failures(self) -> dict[str, str]:
        """The cases and test files that did not pass, with the reasons."""
        return {**self.broken, **self.without}

    @property
    def left_out(self) -> str:
        """The number of tests left out, and the first reason; empty if there are none."""
        if not self.failures:
            return ""
        name, why = next(iter(self.failures.items()))
        return brief(f"{plural(len(self.failures), 'test')} left out: {name.rpartition('/')[2]}: {why}")

    def verdict(self, attribution: str) -> Verdict:
        """The verdict on the original."""
        evidence = Evidence(attribution, len(self.passed), None, self.left_out)
        return Verdict(Judgement.PASSED, evidence, self.seconds, self.cpu_seconds)


def vet(test_run: TestRun, program: str, cancel: Event | None, listen: Reader | None = None) -> Vetted:
    """Run all cases on a program, also after a failure.

    Args:
        program: The program, usually the original.
        listen: Called with the runner's reports.

    Raises:
        Cancelled: `cancel` was set.
        SandboxError: the sandbox could not be set up.
    """
    without: dict[str, str] = {}
    for _ in range(_ATTEMPTS):
        heard: dict[str, Any] = {}

        def read(report: dict[str, Any], heard: dict[str, Any] = heard) -> tuple[Judgement, Evidence]:
            heard.update(report)
            if listen is not None:
                listen(report)
            return Judgement.PASSED, Evidence(test_run.attribution, 0)

        trial = test_run.with_task(every=True, without=sorted(without))
        verdict = trial.run(program, read, cancel)
        if heard.get("results") or heard.get("broken"):
            return _sort_out(heard, without, verdict)
        culprit = verdict.evidence.failed
        reason = str(heard.get("problem") or verdict.evidence.message or verdict.judgement)
        if culprit is None or culprit in without:
            return Vetted(without={**without, "all": reason})
        without[culprit] = reason
    return Vetted(without=without)


def _sort_out(heard: Mapping[str, Any], without: Mapping[str, str], verdict: Verdict) -> Vetted:
    results = [(str(name), str(outcome), str(message)) for name, outcome, message in heard["results"]]
    bad = {name: message or outcome for name, outcome, message in results if outcome != "passed"}
    passed = tuple(name for name, outcome, _ in results if outcome == "passed" and name not in bad)
    broken = {str(path): str(why) for path, why in heard.get("broken", {}).items()}
    return Vetted(passed, {**without, **bad}, broken, verdict.seconds, verdict.cpu_seconds)


_STAND_IN = """
_ANSWER, _SIZE = {answer}, {size}

class _Used(BaseException):
    pass

def _answer(*_, **__):
    if _ANSWER is None:
        raise _Used("the program was used")
    return _ANSWER

def _number(*_):
    _answer()
    return _SIZE

def _value(*_, **__):
    _answer()
    return Exception.__new__(_Value)

def _await(self):
    _answer()
    return self
    yield

def _attribute(self, name):
    if name.startswith("_"):
        raise AttributeError(name)
    return _value()

def _create(kind, *_, **__):
    _answer()
    return kind.__new__(kind)

_OPERATORS = {{"__getattr__": _attribute, "__await__": _await, "__hash__": lambda self: 0,
    "__iter__": lambda self: iter([_value() for _ in range(_number())]),
    "__float__": lambda self: float(_number()), "__exit__": lambda self, *_: None,
    "__setitem__": lambda self, *_: None, "__delitem__": lambda self, *_: None}}
for _name in "eq ne lt le gt ge contains bool".split():
    _OPERATORS["__" + _name + "__"] = _answer
for _name in "len int index".split():
    _OPERATORS["__" + _name + "__"] = _number
for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    _OPERATORS["__" + _name + "__"] = _OPERATORS["__r" + _name + "__"] = _value
for _name in "call getitem enter neg pos abs invert".split():
    _OPERATORS["__" + _name + "__"] = _value

_Kind = type("_Kind", (type,), {{**_OPERATORS, "__call__": _create}})
_Value = _Kind("_Value", (Exception,), {{**_OPERATORS, "__init__": lambda self, *_, **__: None}})

def _stand_in(name):
    return _Kind(name, (_Value,), {{}})

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _stand_in(name)

for _name in {names}:
    globals()[_name] = _stand_in(_name)
"""
_USUAL, _UNEQUAL, _UNUSABLE = ((True, 1), (True, 7)), (False, 0), (None, 1)
"""Answers and sizes of stand-ins."""
_ASSERTION = re.compile(r"^(assert |AssertionError|Failed: |got: )", re.MULTILINE)
_NOT_RAISING = re.compile(r"^(\S+:\d+: |line \d+: |expected: )(?!.*(raise |exit|fail))")
_LACKING = re.compile(r"name '\w+' is not defined|the program (does not define|defines no)")
"""Failures of a program that lacks a definition, which its stand-ins lack, too."""
_VARYING = re.compile(r"0x[0-9a-fA-F]+|counterlens-\w+")
_WHATEVER = "it fails in the same way whatever the program does: "
_ADVICE = (
    "see what `python -m pytest` says. Here tests have no network, no variables of your environment, and of "
    "your files only those of the project. Install what is missing, or leave the test out (--excluded-tests)"
)
_HIDDEN = (
    "the tests or the program read {names} from the environment, which the sandbox does not pass on; let the "
    "tests set what they need"
)
_LIBRARY = (
    "{name} of the project has the name of a module of the standard library, which had been loaded before or "
    "which pytest itself needs; rename it"
)
_NAMED_MODULE = re.compile(r"(?:from|module) '(\w+)'")


def refuse_harness(
    test_run: TestRun, verdict: Verdict, program: str, read: Reader, cancel: Event | None
) -> Verdict:
    """The verdict on a program whose failure may be the harness's.

    Cases that fail whatever the program does are left out; the verdict is refused if no others are left.

    Args:
        test_run: How the verdict was reached.
        verdict: The verdict; only "failed" is questioned, and not if an original passes these tests, or
            another program has.
        read: As for `TestRun.run`.

    Raises:
        SandboxError, Cancelled: as `TestRun.run`.
    """
    history = test_run.history
    history.any_passed |= verdict.passed
    if verdict.judgement is not Judgement.FAILED or history.any_passed:
        return verdict
    if test_run.passes_original(read, cancel):
        return verdict
    trial = StandInTrial(test_run, program, read, cancel)
    unusable = trial.independent_failures()
    if not unusable:
        return trial.refuse_unclear(verdict)
    name = verdict.evidence.failed if verdict.evidence.failed in unusable else next(iter(unusable))
    why = f"{name}: {_WHATEVER}{unusable[name]}"
    if "files" in test_run.task:
        again = without_cases(test_run, unusable).run(program, read, cancel)
        if again.passed:
            message = in_lines(again.evidence.message, f"{plural(len(unusable), 'test')} left out: {why}")
            return replace(again, evidence=replace(again.evidence, message=brief(message)))
        if len(unusable) < len(trial.failures_of(program)):
            return trial.refuse_unclear(again)
    library = _library_module(test_run, unusable[name])
    advice = _LIBRARY.format(name=library) if library else _ADVICE
    return Verdict(
        Judgement.REFUSED,
        Evidence(test_run.attribution, 0, None, in_lines(brief(why), advice)),
        verdict.seconds,
    )


def _library_module(test_run: TestRun, message: str) -> str | None:
    """A module of the project that may have been mixed up with one of the standard library; None if none has.

    It is the program itself, if the error is outside of the tests, or one that the message names.
    """
    place = test_run.place
    if place is None or "files" not in test_run.task:
        return None
    own = place.module.partition(".")[0]
    names = [
        name
        for name in _NAMED_MODULE.findall(message)
        for root in place.roots
        if name != own
        if (root / f"{name}.py").is_file() or (root / name / "__init__.py").is_file()
    ]
    files = test_run.task["files"]
    if not any(file.get("examples") or message.startswith(Path(file["path"]).name) for file in files):
        names.append(own)
    return next((name for name in names if name in sys.stdlib_module_names), None)


def without_cases(test_run: TestRun, names: Collection[str]) -> TestRun:
    """The same tests without some cases and files, and with nothing known about the others."""
    files = [file for file in test_run.task["files"] if file["path"] not in names]
    task = {**test_run.task, "files": files, "without": sorted(names)}
    return replace(test_run, task=task, history=RunHistory())


class StandInTrial:
    """Runs a program and its stand-ins; each only once."""

    def __init__(self, test_run: TestRun, program: str, read: Reader, cancel: Event | None) -> None:
        self._test_run, self._read, self._cancel = test_run, read, cancel
        self._program = program
        self._known: dict[str, Mapping[str, str]] = {}
        self._unset: set[str] = set()

    def independent_failures(self) -> dict[str, str]:
        """The failures that the stand-ins have, too: the case, or "all", and the message."""
        return {
            name: message
            for name, message in self.failures_of(self._program).items()
            if self._is_independent(name, message)
        }

    def _is_independent(self, name: str, message: str) -> bool:
        if _LACKING.search(message) or not all(self._has_too(kind, name, message) for kind in _USUAL):
            return False
        if _ASSERTION.search(message):
            return self._has_too(_UNUSABLE, name, message)
        if _NOT_RAISING.match(message):
            return name in self.failures_of(stand_in_for(self._program, *_UNEQUAL))
        return self._has_too(_UNEQUAL, name, message)

    def _has_too(self, kind: tuple[bool | None, int], name: str, message: str) -> bool:
        """Whether a stand-in has the same failure."""
        other = self.failures_of(stand_in_for(self._program, *kind)).get(name)
        return other is not None and _VARYING.sub("", other) == _VARYING.sub("", message)

    def failures_of(self, program: str) -> Mapping[str, str]:
        """The cases and files that fail, with their messages."""
        if program not in self._known:
            self._known[program] = self._run(program)
        return self._known[program]

    def _run(self, program: str) -> Mapping[str, str]:
        if "files" in self._test_run.task:
            return vet(self._test_run, program, self._cancel, self._listen).failures
        verdict = self._test_run.run(program, self._listen, self._cancel)
        return {} if verdict.passed else {verdict.evidence.failed or "all": verdict.evidence.message}

    def refuse_unclear(self, verdict: Verdict) -> Verdict:
        """A verdict, or a refusal if it may be due to removed variables, or to a library that is mixed up."""
        if verdict.judgement is not Judgement.FAILED:
            return verdict
        hidden = sorted(name for name in self._unset if name in os.environ)
        library = _library_module(self._test_run, verdict.evidence.message)
        if not hidden and library is None:
            return verdict
        reason = _HIDDEN.format(names=", ".join(hidden)) if hidden else _LIBRARY.format(name=library)
        reason = in_lines(reason, verdict.evidence.message)
        evidence = replace(verdict.evidence, message=brief(reason))
        return replace(verdict, judgement=Judgement.REFUSED, evidence=evidence)

    def _listen(self, report: dict[str, Any]) -> tuple[Judgement, Evidence]:
        self._unset.update(map(str, report.get("unset", ())))
        return self._read(report)


def stand_in_for(program: str, answer: bool | None, size: int) -> str:
    """The stand-in of a program: comparisons with it give an answer, or if that is None, any use raises."""
    return _STAND_IN.format(answer=answer, size=size, names=sorted(_defined_names(program)))


def _defined_names(program: str) -> set[str]:
    """The names that a program defines at its top level; those that it imports are not among them."""
    try:
        tree = parse_module(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {name for name in _names_below(tree) if not name.startswith("__")}


def _names_below(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child.name
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif isinstance(child, ast.stmt | ast.expr | ast.ExceptHandler | ast.match_case):
            yield from _names_below(child)
