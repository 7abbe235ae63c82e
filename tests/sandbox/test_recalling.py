"""What a program did is recalled for equal jobs of a run, and only for these."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Thread

import pytest

from counterlens.sandbox import recalling as module
from counterlens.sandbox.base import Ending, Job, JobOutcome, Limits, ServedProgram
from counterlens.sandbox.recalling import Recollection, recalling, run_or_recall
from counterlens.sandbox.serving import Conversation

JOB = Job({"p.py": b"print(1)"}, "p.py", Path(sys.executable), ("a",), (Path("/project"),))
ENDED = JobOutcome(Ending.EXITED, 0, b"1\n", b"", b"", False, 0.1, 0.1)


@dataclass
class Scripted:
    """A sandbox in which every program ends in the same way."""

    outcome: JobOutcome = ENDED
    ran: list[Job] = field(default_factory=list)
    name = "scripted"
    guarantees = ()

    def run(self, job: Job, *, cancel: Event | None = None) -> JobOutcome:  # noqa: ARG002
        self.ran.append(job)
        return replace(self.outcome, seconds=float(len(self.ran)))

    def serve(self, service: ServedProgram) -> Conversation:
        raise NotImplementedError


def test_an_equal_job_is_recalled() -> None:
    sandbox = Scripted()
    with recalling(Recollection()):
        first = run_or_recall(sandbox, JOB)
        assert run_or_recall(sandbox, replace(JOB, files=dict(JOB.files))) is first
    assert len(sandbox.ran) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"files": {"p.py": b"print(2)"}},
        {"files": {"p.py": b"print(1)", "q.py": b""}},
        {"arguments": ("b",)},
        {"readable": ()},
        {"python": Path("/another")},
        {"limits": Limits(seconds=1.0)},
        {"covers": {Path("/project/a.py"): b""}},
    ],
)
def test_another_job_runs(change: dict[str, object]) -> None:
    sandbox = Scripted()
    with recalling(Recollection()):
        for job in (JOB, replace(JOB, **change)):  # type: ignore[arg-type]
            run_or_recall(sandbox, job)
    assert len(sandbox.ran) == 2


@pytest.mark.parametrize(
    "outcome",
    [
        replace(ENDED, ending=Ending.TIMED_OUT),
        replace(ENDED, ending=Ending.SIGNALLED),
        replace(ENDED, result=b"x" * (1 << 15)),
    ],
)
def test_what_may_differ_or_is_large_is_not_kept(outcome: JobOutcome) -> None:
    sandbox = Scripted(outcome)
    with recalling(Recollection()):
        for _ in range(2):
            run_or_recall(sandbox, JOB)
    assert len(sandbox.ran) == 2


def test_the_oldest_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 2)
    sandbox = Scripted()
    with recalling(Recollection()):
        for argument in ("a", "b", "c", "c", "b", "a"):
            run_or_recall(sandbox, replace(JOB, arguments=(argument,)))
    assert [job.arguments for job in sandbox.ran] == [("a",), ("b",), ("c",), ("a",)]


def test_only_the_threads_of_a_run_recall() -> None:
    sandbox, recollection = Scripted(), Recollection()

    def ask() -> None:
        with recalling(recollection):
            run_or_recall(sandbox, JOB)

    for _ in range(2):
        thread = Thread(target=ask)
        thread.start()
        thread.join()
    assert len(sandbox.ran) == 1
    run_or_recall(sandbox, JOB)
    assert len(sandbox.ran) == 2
