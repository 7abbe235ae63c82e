"""Trace a program inside the sandbox."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from counterlens.errors import CounterlensError
from counterlens.sandbox.base import Ending, Job, Limits
from counterlens.sandbox.registry import best_sandbox
from tests.python.dependence.tracing import Activation, Tracer

LIMITS = Limits(seconds=60.0, cpu_seconds=60, output_bytes=64 << 20)
HERE = Path(__file__).parent


class UnseenError(CounterlensError):
    """The program did not run to its end; the message says why."""


def traced(source: str, then: str, limits: Limits = LIMITS) -> Tracer:
    """Run a program, and code that uses its names, in the sandbox.

    Args:
        source: The program.
        then: Statements or an expression, such as a call or tests.
        limits: The limits of both.

    Returns:
        A tracer that ran nothing in this process, with the observations of the one in the sandbox.

    Raises:
        UnseenError: the program was stopped, or raised an exception.
        SandboxError: the sandbox failed.
    """
    outcome = best_sandbox().run(
        Job(
            files={
                "watching.py": (HERE / "watching.py").read_bytes(),
                "tests/python/dependence/tracing.py": (HERE / "tracing.py").read_bytes(),
                "program.py": source.encode(),
                "then.py": then.encode(),
            },
            entry="watching.py",
            python=Path(sys.executable),
            arguments=("program.py", "then.py"),
            preload=("ast", "dis", "json", "dataclasses", "typing"),
            limits=limits,
        )
    )
    if outcome.ending is Ending.TIMED_OUT:
        raise UnseenError(f"it was stopped after {outcome.seconds:.0f} s")
    if outcome.ending is not Ending.EXITED or outcome.code or outcome.truncated:
        said = outcome.errors.decode("utf-8", "replace").strip().splitlines()
        raise UnseenError(said[-1] if said else f"it {outcome.ending} with {outcome.code}")
    report = json.loads(outcome.result)
    found = Tracer(source)
    found.left = report["left"]
    for (name, line), made, used, variable in report["pairs"]:
        found.pairs.add(((name, line), made, used, variable))
    for number, order, ended, raised in report["activations"]:
        block = found.blocks[number]
        nodes = [found.syntax[one] for one in order]
        found.activations.append((block, Activation(block.code, {}, nodes, ended, raised)))
    return found
