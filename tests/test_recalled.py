"""A program is recalled only if all that it depends on is the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from counterlens.errors import Cancelled
from counterlens.sandbox.base import Ending, Job, JobOutcome, Limits
from counterlens.sandbox.process import ProcessSandbox
from tests import recalled
from tests.recalled import RecalledPrograms

SANDBOX = ProcessSandbox()


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs that ran, in a folder whose tests recall programs."""
    monkeypatch.setattr(recalled, "FOLDERS", ("tests/test_recalled.py",))
    return []


def program(folder: Path, nonce: str = "", **more: str) -> Job:
    files = {"start.py": b"x = 1", "task.json": json.dumps({"nonce": nonce, **more}).encode()}
    return Job(files, "start.py", Path(sys.executable), readable=(folder,))


def recalling(ran: list[Job], ending: Ending = Ending.EXITED) -> Callable[..., JobOutcome]:
    def run(_sandbox: ProcessSandbox, job: Job, *, cancel: Event | None = None) -> JobOutcome:
        assert cancel is None or not cancel.is_set()
        ran.append(job)
        said = b"report " + json.loads(job.files["task.json"])["nonce"].encode()
        return JobOutcome(ending, 0, b"", b"", said, False, 0.1)

    return RecalledPrograms().around(run)


def test_the_same_program_runs_once_and_its_report_has_the_nonce_of_each(
    ran: list[Job], tmp_path: Path
) -> None:
    run = recalling(ran)
    (tmp_path / "code.py").write_text("a = 1")
    said = [run(SANDBOX, program(tmp_path, nonce)).result for nonce in ("one", "two")]
    assert said == [b"report one", b"report two"]
    assert len(ran) == 1
    cancel = Event()
    cancel.set()
    with pytest.raises(Cancelled):
        run(SANDBOX, program(tmp_path, "three"), cancel=cancel)


def test_another_program_or_another_file_that_it_may_read_runs(ran: list[Job], tmp_path: Path) -> None:
    run = recalling(ran)
    changes: list[Callable[[], object]] = [
        lambda: (tmp_path / "code.py").write_text("a = 1"),
        lambda: (tmp_path / "code.py").write_text("a = 2"),
        lambda: (tmp_path / "code.py").chmod(0o700),
        lambda: (tmp_path / "empty").mkdir(),
    ]
    for change in changes:
        change()
        run(SANDBOX, program(tmp_path))
    run(SANDBOX, program(tmp_path, source="another"))
    run(SANDBOX, replace(program(tmp_path), limits=Limits(seconds=1)))
    assert len(ran) == len(changes) + 2


def test_what_did_not_end_by_itself_and_what_other_folders_test_runs_each_time(
    ran: list[Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = recalling(ran, Ending.TIMED_OUT)
    late(SANDBOX, program(tmp_path))
    late(SANDBOX, program(tmp_path))
    assert len(ran) == 2
    monkeypatch.setattr(recalled, "FOLDERS", ("tests/probes/",))
    run = recalling(ran)
    run(SANDBOX, program(tmp_path))
    run(SANDBOX, program(tmp_path))
    assert len(ran) == 4
