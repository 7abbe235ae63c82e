"""The table counts what was tried, and misses nothing that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack import CLASSES, Tally, class_of

REPOSITORY = Path(__file__).parents[2]


def report(nodeid: str, outcome: str, when: str = "call") -> pytest.TestReport:
    return pytest.TestReport(nodeid, ("", 0, ""), {}, outcome, None, when)  # type: ignore[arg-type]


def test_what_the_table_names_is_there() -> None:
    for places in CLASSES.values():
        for place in places:
            assert (REPOSITORY / place).exists(), place


def test_pytest_takes_it_as_a_plug_in() -> None:
    tally, manager = Tally(), pytest.PytestPluginManager()
    manager.register(tally)
    caller = manager.subset_hook_caller("pytest_runtest_logreport", {tally})
    caller(report=report("tests/test_trust.py::test_x", "passed"))
    assert tally.tried.total() == 0
    manager.hook.pytest_runtest_logreport(report=report("tests/test_trust.py::test_x", "passed"))
    assert tally.tried.total() == 1


def test_what_did_not_hold_is_told_from_what_was_not_tried() -> None:
    tally, name = Tally(), "tests/test_trust.py::test_x"
    for outcome, when in (("passed", "call"), ("failed", "call"), ("skipped", "setup"), ("failed", "setup")):
        tally.pytest_runtest_logreport(report(name, outcome, when))
    kind = class_of(name)
    assert (tally.tried[kind], tally.held[kind], tally.passed_over[kind]) == (3, 1, 1)
    (row,) = (line for line in tally.table().splitlines() if line.startswith("trust"))
    assert row.split()[-6:] == ["3", "1", "1", "not", "tried", "here"]
    with pytest.raises(LookupError):
        class_of("tests/test_text.py::test_x")
