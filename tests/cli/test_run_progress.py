"""Progress of a run without a terminal: how far it is, how long it takes, and what it does meanwhile."""

from __future__ import annotations

from threading import Thread

import pytest

from counterlens.cli import progress_lines, run_reporting
from counterlens.cli.progress_lines import steps


def lines(capfd: pytest.CaptureFixture[str]) -> list[str]:
    return capfd.readouterr().err.splitlines()


def test_what_is_done_meanwhile_is_said_before_any_function_is_done(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_lines, "EVERY_SECONDS", 0.0)
    left = iter([None, 840.5])
    with run_reporting.run_progress(20, 4, lambda: next(left)) as (advance, notice):
        notice("slugify: running the tests of boltons, 120 of 400")
        advance(6, 20, "slugify")
    first, second = lines(capfd)
    assert first == "4 of 20, time unknown, slugify: running the tests of boltons, 120 of 400"
    assert second.startswith("6 of 20, ")
    assert "per minute, about 15 min left" in second


def test_there_is_a_line_now_and_then_from_any_thread(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_lines, "EVERY_SECONDS", 3600.0)
    with run_reporting.run_progress(20, 0, lambda: None) as (advance, notice):
        threads = [Thread(target=notice, args=("at work",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        advance(1, 20, "f")
    assert lines(capfd) == []


def test_the_steps_of_other_commands_are_lines_with_the_share_that_is_done(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_lines, "EVERY_SECONDS", 0.0)
    with steps("checking") as report:
        report("checking a.py::f", 1, 4)
        report("reading", 0, 0)
    assert lines(capfd) == ["checking a.py::f (25 %)", "reading"]


def test_steps_that_count_for_themselves_are_shares_of_the_whole_that_never_fall(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_lines, "EVERY_SECONDS", 0.0)
    with steps("reading", counts_whole=False) as report:
        for step, count in (("running", 3), ("copied", 8), ("asking", 24), ("judging", 24)):
            for done in range(1, count + 1):
                report(step, done, count)
    shares = [int(line.rpartition("(")[2].removesuffix(" %)")) for line in lines(capfd)]
    assert len(shares) == 59
    assert shares == sorted(shares)
