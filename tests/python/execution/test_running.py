"""Calls are observed in the sandbox: their output, their states, and their loops, which are unrolled."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from counterlens.errors import SourceError
from counterlens.judging.base import Setting
from counterlens.mutations import apply_everywhere
from counterlens.python.execution.running import observe_loops, output_of, trace
from counterlens.python.mutations.loops import LoopUnroll, Rounds
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document


def setting(limits: Limits | None = None) -> Setting:
    return Setting(best_sandbox(), Path(sys.executable), limits or Limits())


SOURCE = """def total(items):
    result = 0
    for item in items:
        result += item
    n = 2
    while n > 0:
        n -= 1
        for _ in "ab":
            result += 1
    return result


for i in range(3):
    pass
"""


def test_rounds_values_and_entries_are_those_of_the_call_alone() -> None:
    seen = observe_loops(Document(SOURCE), "total([3, 4, 5])", setting())
    assert seen == {
        3: Rounds(3, ("3", "4", "5"), 1),
        6: Rounds(2, (), 1),
        8: Rounds(4, ("'a'", "'b'", "'a'", "'b'"), 2),
    }


def test_the_unrolled_program_does_the_same_for_that_input() -> None:
    document = Document(SOURCE)
    seen = observe_loops(document, "total([3, 4, 5])", setting())
    mutated = apply_everywhere(SOURCE, LoopUnroll(seen))
    assert mutated.count("result += item") == 3
    for text in (SOURCE, mutated):
        check = f"{text}\nassert total([3, 4, 5]) == 16\n"
        subprocess.run([sys.executable, "-c", check], check=True)


def test_values_that_no_literal_can_stand_for_are_not_given() -> None:
    source = "def f(rows):\n    for row in rows:\n        row.append(1)\n"
    seen = observe_loops(Document(source), "f([[], []])", setting())
    assert seen == {2: Rounds(2, (), 1)}
    assert apply_everywhere(source, LoopUnroll(seen)) == source


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("total([1", "not an expression"),
        ("total(['a'])", "raised TypeError"),
        ("nothing()", "raised NameError"),
        ("__import__('os')._exit(3)", "ended the process"),
        ("exit()", "raised SystemExit"),
    ],
)
def test_a_call_that_cannot_be_observed_says_why(call: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        observe_loops(Document(SOURCE), call, setting())


@pytest.mark.parametrize("observe", [observe_loops, output_of, trace])
def test_every_observer_keeps_to_the_limits(observe: Callable[..., object]) -> None:
    document = Document("def f():\n    while True:\n        pass\n")
    with pytest.raises(SourceError, match=r"did not finish|times out"):
        observe(document, "f()", setting(Limits(seconds=1, cpu_seconds=600)))


@pytest.mark.parametrize("name", ["observers", "running", "loops"])
def test_a_program_finds_its_own_modules_and_not_the_observers(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.py").write_text("VALUE = 7\n")
    path = tmp_path / "program.py"
    path.write_text(f"import {name}\n\ndef f():\n    return {name}.VALUE\n")
    assert output_of(Document.read(path), "f()", setting()).written == "7"


@pytest.mark.parametrize("name", ["area", "__init__"])
def test_a_program_in_a_package_imports_its_neighbours(name: str, tmp_path: Path) -> None:
    package = tmp_path / "shapes" / "flat"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").write_text("from . import *\n")
    (package / "sizes.py").write_text("WIDTH = 3\n")
    (package.parent / "units.py").write_text("UNIT = 10\n")
    path = package / f"{name}.py"
    path.write_text(
        "from ..units import UNIT\nfrom . import sizes\n\n\ndef area(height):\n"
        "    size = sizes.WIDTH * height\n    return size * UNIT\n"
    )
    document = Document(path.read_text(), path)
    assert output_of(document, "area(2)", setting()).written == "60"
    steps = trace(document, "area(2)", setting())
    assert next(dict(step.changed) for step in steps) == {"size": "6"}


def test_a_program_with_data_classes_is_observed() -> None:
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n\n\n"
        "@dataclass\nclass Point:\n    x: int\n\n\n"
        "def move(n):\n    point = Point(n + 1)\n    return point.x\n"
    )
    assert output_of(Document(source), "move(2)", setting()).written == "3"
    assert [step.line for step in trace(Document(source), "move(2)", setting())] == [11, 12]


def test_annotations_are_evaluated_as_the_program_itself_has_them() -> None:
    document = Document("def f(x: int) -> str:\n    return f.__annotations__['x'] is int\n")
    assert output_of(document, "f(1)", setting()).written == "True"
