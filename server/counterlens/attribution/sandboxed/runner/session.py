"""One run: read the task, run it, report, and exit."""

from __future__ import annotations

import builtins
import ctypes
import importlib.util
import json
import os
import sys
import time

from ..imported_ahead import forget_hidden, own_modules
from ..job import take_descriptor, take_task
from ..kept_code import KeptCode
from .candidate import INVALID, Candidate, invalid
from .cases import FAILED, LONGEST_NAME, Cases
from .examples import run_examples
from .isolated.connection import CandidateConnection
from .isolated.known_reliance import KnownReliance
from .isolated.proxy_module import ProxyCandidate
from .result_pipe import open_pipe
from .script import run_script
from .tamper_check import NoTamperCheck, TamperCheck
from .wording import describe

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_UNDUMPABLE = 4  # PR_SET_DUMPABLE
_SEEN = 0.03  # seconds


def main() -> None:
    """Run the task and exit; never returns."""
    task, descriptor = take_task()
    case, finish = open_pipe(descriptor, task.pop("nonce"))
    try:
        report = judge(task, case)
    except BaseException as error:
        report = {"kind": "broken", "message": describe(error)}
    finish(report)


def judge(task: dict[str, Any], case: Callable[[str], None]) -> dict[str, Any]:
    """The report on one task."""
    remote = _connect_to_candidate(task) if task.get("apart") else None
    try:
        return _judge(task, case, remote)
    finally:
        if remote is not None:
            remote.close()  # the program's process ends while this one still reports


def _judge(
    task: dict[str, Any], case: Callable[[str], None], remote: CandidateConnection | None
) -> dict[str, Any]:
    tampering = NoTamperCheck() if remote else TamperCheck()
    try:
        if remote:
            candidate: Candidate = ProxyCandidate(task, tampering, remote)
        else:
            candidate = Candidate(task["path"], task["module"], task["source"], tampering)
    except INVALID as error:
        return invalid(error)
    if "record" in task:
        from ..call_log import CallLog

        candidate.log = CallLog(task["record"])
    kept = KeptCode(task.get("kept", ""), task["folder"] or "")
    kept.install(candidate.is_at)
    for folder in reversed(task["roots"]):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    forget_hidden(task["roots"])
    if task["folder"]:
        os.chdir(task["folder"])
    unset = watch_environment(os.path.join(task["folder"] or os.path.dirname(task["path"]), ""))  # noqa: PTH118, PTH120
    announce = case if remote is None else _with_remote_begin(case, remote)
    if remote is not None and remote.is_known_invalid(wait=False):
        return dict(remote.invalid)
    report = {**_run(task, candidate, tampering, announce, kept), "unset": unset}
    if candidate.log is not None:
        report["calls"] = json.dumps(candidate.log.calls)
    if remote is not None:
        return _reported_apart(task, report, remote)
    return {"kind": "tampered", "message": tampering.broken} if tampering.broken else report


def watch_environment(folder: str) -> list[str]:
    """The names of variables that code in a folder will read from the environment although they are unset."""
    names: list[str] = []

    class Environment(type(os.environ)):  # type: ignore[misc]
        def __getitem__(self, name: str) -> str:
            try:
                return str(super().__getitem__(name))
            except KeyError:
                frame = sys._getframe(1)
                while frame.f_back is not None and frame.f_code.co_filename in own:
                    frame = frame.f_back
                file = frame.f_code.co_filename
                if file.startswith(folder) and "site-packages" not in file and name not in names:
                    names.append(name)
                raise

    own = {os.getenv.__code__.co_filename, type(os.environ).get.__code__.co_filename}
    os.environ.__class__ = Environment
    return names


def _reported_apart(
    task: dict[str, Any], report: dict[str, Any], remote: CandidateConnection
) -> dict[str, Any]:
    """The report on a program in another process, with what its tests rely on."""
    if remote.is_known_invalid():
        return dict(remote.invalid)
    if remote.needs_sharing:
        return {"kind": "inseparable", "message": remote.needs_sharing}
    if remote.gone:
        time.sleep(_SEEN)  # until the sandbox has recorded how the program ended
        return {"kind": "gone", "message": remote.gone}
    report["own_operators"] = int(remote.own_operators)
    results = report["results"] if report["kind"] == "cases" else ()
    if not any(outcome == FAILED for _, outcome, _ in results):  # else it has not passed anyway
        tests = _relied_on(task)
        report["doubts"] = remote.finish(results, tests)
        report["relied_on"] = [each.facts for each in tests]
        report["places"] = remote.facts
    return report


def _run(
    task: dict[str, Any],
    candidate: Candidate,
    tampering: TamperCheck,
    announce: Callable[[str], object],
    kept: KeptCode,
) -> dict[str, Any]:
    if "examples" in task:
        _hide()
        return run_examples(task["examples"], candidate, announce)
    every, without = bool(task.get("every")), frozenset(task.get("without", ()))
    cases = Cases(candidate, tampering, announce, every=every, without=without)
    run = _case_runner(kept) if "files" in task else None
    _hide()
    if run is not None:
        run(task["files"], cases)
    if "script" in task and cases.problem is None and not cases.failed:
        run_script(task["script"], cases)
    return cases.report()


def _with_remote_begin(case: Callable[[str], None], remote: CandidateConnection) -> Callable[[str], None]:
    """A `case` that announces a case while the program is running, and follows it."""

    def announce(name: str) -> None:
        if not remote.gone:
            case(name)
        remote.begin(name[:LONGEST_NAME])

    return announce


def _connect_to_candidate(task: dict[str, Any]) -> CandidateConnection:
    descriptor = take_descriptor("COUNTERLENS_PEER_FD")
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_UNDUMPABLE, 0, 0, 0, 0)  # the program must not inspect this process
    texts = {f"<example {number}>": text for number, text in enumerate(task.get("examples", ()), 1)}
    if "script" in task:
        texts[task["script"]["path"]] = task["script"]["source"]
    files = [file["path"] for file in task.get("files", ())]
    return CandidateConnection(descriptor, texts, files, task.get("places"))


def _relied_on(task: dict[str, Any]) -> list[KnownReliance]:
    """The values of the program in each text of the tests."""
    texts: list[tuple[str, list[str]]] = []
    for file in task.get("files", ()):
        with open(file["path"], encoding="utf-8", errors="replace") as tests:  # noqa: PTH123
            texts.append((tests.read(), [name for _, name in file["cases"]]))
    if "script" in task and "files" not in task:
        texts.append((task["script"]["source"], []))
    known = [*task.get("relied_on", ()), *([None] * len(texts))]
    return [
        KnownReliance(text, task["module"], cases, facts)
        for (text, cases), facts in zip(texts, known)  # noqa: B905
    ]


def _case_runner(kept: KeptCode) -> Callable[[list[dict[str, Any]], Cases], None]:
    if importlib.util.find_spec("pytest"):
        from ..pytest_start import take_rewritten
        from .pytest_cases import run_pytest

        take_rewritten(kept)
        return run_pytest
    from .unittest_cases import run_unittest

    return run_unittest


def _hide() -> None:
    """Hide this package, so that it neither shadows the user's modules nor is visible to the candidate."""
    for name in own_modules():
        del sys.modules[name]
