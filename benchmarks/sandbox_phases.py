"""Measures the overhead of a judged program by phase: forks, namespaces, Landlock, the seccomp filter.

Each step runs alone in a fork of an interpreter with the imports of a waiting one, in turn with whole
programs of `benchmarks/sandbox.py` in the sandbox and plain processes. Shares are of the median of a whole
program; steps that waiting copies do in advance (namespaces, reading rules) count in full.

    python benchmarks/sandbox_phases.py [--rounds 60]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import struct
import sys
import tempfile
import time
import typing
import unittest
from collections.abc import Callable
from pathlib import Path

import sandbox as judging
from counterlens.sandbox import registry, shell
from counterlens.sandbox.interpreter import describe
from counterlens.sandbox.linux import namespaces, seccomp, syscalls

LOADED = (typing, unittest)  # the imports of the waiting interpreter
TEXT = judging.BARE.format(n=1)


def forks(number: int) -> None:
    """Start a chain of processes, each the child of the previous one, and wait for them."""
    if number:
        pid = os.fork()
        if pid == 0:
            forks(number - 1)
            os._exit(0)
        os.waitpid(pid, 0)


def enter() -> None:
    """Namespaces, everything read-only, a private folder."""
    namespaces.enter_namespaces()
    namespaces.read_only()
    namespaces.private_folder(tempfile.gettempdir(), 64 << 20)


def rules() -> None:
    """Landlock with everything that a program may read."""
    ruleset = namespaces.Ruleset(tcp=True)
    ruleset.allow_reading([*shell.readable(), *describe(Path(sys.executable)).folders])
    ruleset.enforce()


def program() -> None:
    """The program itself, in a running interpreter."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    exec(compile(TEXT, "program.py", "exec"), {"__name__": "__main__"})  # noqa: S102 - our own text


def inside(step: Callable[[], object]) -> float:
    """The seconds of a step in a fork of this process, without the fork."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
        started = time.perf_counter()
        step()
        os.write(writing, struct.pack("d", time.perf_counter() - started))
        os._exit(0)
    os.wait()
    (seconds,) = struct.unpack("d", os.read(reading, 8))
    os.close(reading)
    os.close(writing)
    return float(seconds)


def timed(work: Callable[[], object]) -> float:
    """The seconds of a function in this process."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    """Measure each in turn, and print shares of a whole program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    box = registry.best_sandbox()
    judging._sandboxed(box, TEXT)
    describe(Path(sys.executable))
    seccomp.prepare()
    gc.collect()
    gc.freeze()
    ways: dict[str, Callable[[], float]] = {
        "two forks": lambda: timed(lambda: forks(2)),
        "namespaces and a private folder": lambda: inside(enter),
        "Landlock": lambda: inside(rules),
        "seccomp": lambda: inside(lambda: seccomp.restrict_calls()),
        "the program itself": lambda: inside(program),
        "whole": lambda: timed(lambda: judging._sandboxed(box, TEXT)),
        "plain process": lambda: timed(lambda: judging._plain(TEXT)),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            found[name].append(way())
    medians = {name: statistics.median(each) for name, each in found.items()}
    shares = {name: round(value / medians["whole"], 3) for name, value in medians.items()}
    for name, share in shares.items():
        print(f"{name:34} {share:6.1%}")
    print(json.dumps({"benchmark": "sandbox phases", "rounds": rounds, "shares": shares}))


if __name__ == "__main__":
    main()
