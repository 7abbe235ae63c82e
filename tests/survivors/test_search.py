"""Survivors of weak tests: the proposed tests pass on the code and fail on the mutants, in plain pytest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from counterlens.cli.check import chosen_scopes
from counterlens.errors import Cancelled
from counterlens.judging.base import LIMITS, Judgement, Setting, Verdict, lasting
from counterlens.progress import Steps
from counterlens.python.judging import test_run
from counterlens.sandbox.registry import best_sandbox
from counterlens.survivors import Search, Survival
from tests.doubt.conftest import WordModel

KINDS = '''
    """Functions whose results are of many kinds."""

    import enum
    from dataclasses import dataclass
    from decimal import Decimal


    class Colour(enum.Enum):
        RED = 1
        BLUE = 2


    class Point:
        def __init__(self, x: int, y: int) -> None:
            self.x = x
            self.y = y


    class EmptyError(Exception):
        pass


    def colour(n: int) -> Colour:
        if n > 3:
            return Colour.RED
        return Colour.BLUE


    def shifted(n: int, by: int) -> Point:
        return Point(n, n + by)


    def evens(n: int):
        for i in range(n):
            yield i + n


    def price(n: int) -> Decimal:
        return Decimal(n) * 3


    def announce(n: int) -> None:
        print("n", n * 2)


    def clean(values: list[int]) -> None:
        if len(values) > 1:
            values.sort()


    def first(values: list[int]) -> int:
        if len(values) - 1 < 0:
            raise EmptyError
        return values[0]


    def spread(values: list[float]) -> dict[str, tuple[float, ...]]:
        low = min(values, default=0.0)
        return {"all": tuple(value - low for value in values)}


    def same(n: int) -> int:
        total = 0
        total = n + 0
        return total


    def untested(n: int) -> int:
        return n + 1
    '''
NAMES = ("colour", "shifted", "evens", "price", "announce", "clean", "first", "spread")
ASSERTED = {
    "colour": "== Colour.",
    "shifted": "assert vars(shifted(",
    "evens": "assert list(evens(",
    "price": "from decimal import Decimal",
    "announce": "assert output.getvalue() ==",
    "clean": "assert arguments[0] ==",
    "first": "pytest.raises(EmptyError)",
    "spread": "== {'all': (",
}


def weak_tests(names: tuple[str, ...]) -> str:
    """Tests that call functions and check next to nothing."""
    lines = [f"import kinds\nfrom kinds import {', '.join(names)}"]
    for name in names:
        argument = "[]" if name in {"clean", "spread"} else "[1]" if name == "first" else "0"
        more = ", 0" if name == "shifted" else ""
        lines.append(f"def test_{name}():\n    {name}({argument}{more})")
    return "\n\n\n".join(lines) + "\n"


def search(**more: object) -> Search:
    return Search(Setting(best_sandbox(), Path(sys.executable), LIMITS, vetted=True), **more)  # type: ignore[arg-type]


def written(folder: Path) -> Path:
    path = folder / "kinds.py"
    path.write_text(textwrap.dedent(KINDS).lstrip())
    (folder / "test_kinds.py").write_text(weak_tests((*NAMES, "same")))
    return path


def survivals(path: Path, found: Search, *names: str) -> dict[str, Survival]:
    scopes = [scope for scope in chosen_scopes((path,), None) if scope.function.qualname in names]
    return {scope.function.qualname: found.survival(scope) for scope in scopes}


def outcomes_in_pytest(folder: Path, pairs: list[tuple[str, str]]) -> list[bool]:
    """Whether plain pytest passes each test on its program: one run, each pair with names of its own."""
    folder.mkdir()
    for number, (program, test) in enumerate(pairs):
        (folder / f"kinds_{number}.py").write_text(program)
        (folder / f"test_{number}.py").write_text(re.sub(r"\bkinds\b", f"kinds_{number}", test))
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider"]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, check=False)
    said = re.findall(r"^(PASSED|FAILED) test_(\d+)\.py::", ran.stdout, re.MULTILINE)
    outcomes = {int(number): outcome == "PASSED" for outcome, number in said}
    assert outcomes.keys() == set(range(len(pairs))), ran.stdout + ran.stderr
    return [outcomes[number] for number in range(len(pairs))]


def test_every_kind_of_result_becomes_a_test(tmp_path: Path) -> None:
    path = written(tmp_path)
    found = survivals(path, search(shown=1), *NAMES)
    for name, survival in found.items():
        assert survival.survivors, (name, survival.reason)
        assert len(survival.survivors) == 1
        assert any(ASSERTED[name] in each.test for each in survival.survivors), name
    shown = [each for survival in found.values() for each in survival.survivors]
    original = [(path.read_text(), each.test) for each in shown]
    mutants = [(each.mutant.source, each.test) for each in shown]
    outcomes = outcomes_in_pytest(tmp_path / "plain", [*original, *mutants])
    assert outcomes == [True] * len(original) + [False] * len(mutants)


def test_equivalent_mutants_and_functions_without_tests_show_nothing(tmp_path: Path) -> None:
    path = written(tmp_path)
    found = survivals(path, search(), "same", "untested")
    assert (found["untested"].survivors, found["untested"].reason) == ((), "no test reaches it")
    same = found["same"]
    assert same.alike >= 2  # `total = 1` is overwritten, and `n - 0` is `n + 0`
    shown = [each.mutant.source for each in same.survivors]
    assert shown
    assert not any("total = 1" in source or "n - 0" in source for source in shown)


def test_the_model_decides_which_come_first_and_each_has_another_input(tmp_path: Path) -> None:
    path = tmp_path / "sums.py"
    path.write_text("def both(a: int, b: int) -> int:\n    c = a + 1\n    d = b * 2\n    return c - d\n")
    (tmp_path / "test_sums.py").write_text("from sums import both\n\n\ndef test_both():\n    both(1, 2)\n")
    by_place = survivals(path, search(), "both")["both"].survivors
    assert [each.gain for each in by_place] == [None] * len(by_place)
    assert [each.mutant.start_line for each in by_place] == sorted(
        each.mutant.start_line for each in by_place
    )
    likes = {"c + d": -0.1}
    ranked = survivals(path, search(model=lambda: WordModel(likes)), "both")["both"].survivors
    gains = [each.gain for each in ranked]
    assert None not in gains
    assert gains == sorted(gains, reverse=True)  # type: ignore[type-var]
    calls = [each.call for each in ranked]
    assert len(calls) == len(set(calls))
    (only,) = survivals(path, search(shown=1), "both")["both"].survivors
    assert only == by_place[0]


def test_a_function_that_fails_its_tests_says_so_and_a_search_can_be_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "sums.py"
    path.write_text("def one(a: int) -> int:\n    return a + 1\n")
    (tmp_path / "test_sums.py").write_text(
        "from sums import one\n\n\ndef test_one():\n    assert one(1) == 1\n"
    )
    survival = survivals(path, search(), "one")["one"]
    assert survival.survivors == ()
    assert survival.reason
    cancel = Event()
    cancel.set()
    with pytest.raises(Cancelled):
        survivals(path, search(steps=Steps(cancel)), "one")


def test_a_mutant_that_never_ends_is_counted_but_gets_no_test_that_never_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, judgements = test_run.TestRun.run, set[Judgement]()

    def noted(*arguments: Any) -> Verdict:
        verdict = run(*arguments)
        judgements.add(verdict.judgement)
        return verdict

    monkeypatch.setattr(test_run.TestRun, "run", noted)
    path = tmp_path / "sums.py"
    path.write_text("def down(n: int) -> int:\n    while n > 0:\n        n -= 1\n    return n\n")
    (tmp_path / "test_sums.py").write_text(
        "from sums import down\n\n\ndef test_down():\n    assert down(0) == 0\n"
    )
    setting = Setting(best_sandbox(), Path(sys.executable), lasting(30), vetted=True)
    survival = survivals(path, Search(setting), "down")["down"]
    assert survival.different >= 1
    assert all("did not end" not in each.changed for each in survival.survivors)
    assert Judgement.TIMED_OUT not in judgements  # nobody waits for a proposed test either
