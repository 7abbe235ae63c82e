"""Observed executions are in the graph: random programs, and the solutions of two benchmarks."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from counterlens.sandbox.base import Limits
from tests.conftest import WHOLE
from tests.python.dependence.agreement import disagreements
from tests.python.dependence.programs import Thing, programs
from tests.python.dependence.sandboxed import UnseenError, traced
from tests.python.dependence.tracing import Tracer, line_of

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the tracer knows the instructions of Python 3.11"
)


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # about what random programs do
        yield


def compiles(source: str) -> bool:
    try:
        compile(source, "<program>", "exec")
    except SyntaxError:  # a nonlocal that is a parameter, a name that two parts of a pattern bind
        return False
    return True


def run(source: str) -> Tracer:
    """Run a program and its function `f`, with bounded loops; exceptions are part of it."""
    ticks = iter(range(500))
    thing = Thing(ticks)
    names = {
        "k": thing,
        "tick": lambda: next(ticks, None) is not None,
        "suppress": contextlib.suppress,
        "null": lambda: contextlib.nullcontext(thing),
    }

    def judge(names: dict[str, Any]) -> None:
        for arguments in ((thing, thing), (1, [thing], thing), (thing, 0)):
            with contextlib.suppress(Exception, StopIteration):
                names["f"](*arguments)

    tracer = Tracer(source, most=20_000)
    with contextlib.suppress(Exception):
        tracer.run(None, names)
    with contextlib.suppress(Exception):
        tracer.watch(lambda: judge(tracer.names))
    return tracer


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_programs(source: str) -> None:
    assume(compiles(source))
    assert not disagreements(source, run(source)), source


def test_the_tracer_sees_what_a_short_program_does() -> None:
    source = "def f(a, b=1):\n    x = a\n    for i in [x]:\n        x = [i - b for _ in 'ab']\n    return x\n"
    tracer = run(source)
    assert tracer.pairs >= {
        (("f", 1), 1, 2, "a"),
        (("f", 1), 2, 3, "x"),
        (("f", 1), 3, 4, "i"),
        (("f", 1), 1, 4, "b"),
        (("f", 1), 4, 5, "x"),
    }
    assert not disagreements(source, tracer)


def test_a_graph_without_an_edge_is_caught() -> None:
    seen = run("def f(a, b=1, *c, d=2):\n    if a:\n        return b\n    return a\n")
    other = "def f(a, b=1, *c, d=2):\n    if b:\n        return 0\n    return 0\n"
    assert disagreements(other, seen)


def test_what_is_seen_in_the_sandbox_is_what_is_seen_here() -> None:
    source = (
        "class A:\n    n = 1\n\n"
        "def f(a):\n    for i in range(a):\n        if i:\n            a = [a]\n    return a\n"
    )
    here = Tracer(source)
    here.run(lambda names: names["f"](3))
    there = traced(source, "f(3)")
    assert there.pairs == here.pairs
    assert there.left == here.left
    assert [
        (of.key, [line_of(node) for node in seen.order], seen.ended) for of, seen in there.activations
    ] == [(of.key, [line_of(node) for node in seen.order], seen.ended) for of, seen in here.activations]
    assert not disagreements(source, there)


@pytest.mark.parametrize(
    ("call", "said"), [("f(0)", "ZeroDivisionError"), ("f(-1)", "stopped after")], ids=["raises", "endless"]
)
def test_a_program_that_does_not_end_well_is_told_of(call: str, said: str) -> None:
    source = "import time\n\ndef f(n):\n    while n < 0:\n        time.sleep(60)\n    return 1 / n\n"
    with pytest.raises(UnseenError, match=said):
        traced(source, call, Limits(seconds=1.5))


def test_a_program_cannot_write_outside(tmp_path: Path) -> None:
    target = tmp_path / "written"
    with pytest.raises(UnseenError):
        traced("def f(path):\n    open(path, 'w').write('x')\n", f"f({str(target)!r})")
    assert not target.exists()


def test_a_sample_of_humaneval_and_mbpp(published: Path) -> None:
    script = ROOT / "benchmarks" / "dependence_soundness.py"
    command = [sys.executable, str(script), "--data", str(published), "--every", "16" if WHOLE else "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["failed"] == 0
    assert figures["pairs"] > 400
