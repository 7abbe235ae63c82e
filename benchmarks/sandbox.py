"""Measures the programs per second that the sandbox judges, warm and cold, relative to plain processes.

The programs are functions with their assertions, in the form of HumanEval; each runs in the sandbox and by
`subprocess.run([python, "-c", ...])`, which isolates nothing. They have two forms: bare, and as `unittest`
cases, which shows the cost of judging by tests in a plain process. The cold sandbox is the baseline with the
same isolation.

The warm sandbox has two rooms (`Limits`): a closed one, and a wide one, in which programs are judged.

With `--processor`, the benchmark compares the processor time of all processes together, and page faults, by
`perf stat`; unlike rates, these are meaningful on a busy machine.

With `--language java`, it compares the judge of Java programs with `javac` and `java` for each of them; see
`sandbox_java.py`.

    python benchmarks/sandbox.py [--quick] [--processor] [--language java]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sandbox_java

from counterlens.judging.base import LIMITS
from counterlens.sandbox import registry
from counterlens.sandbox.base import Job, Limits, Sandbox
from counterlens.sandbox.process import ProcessSandbox
from counterlens.sandbox.shell import Bubblewrap

PROJECT = Path(__file__).parent
"""The folder that a program in a wide room may change, in a layer of its own."""
BARE = """
from typing import List

def total(values: List[int], start: int = {n}) -> int:
    for value in values:
        start += value
    return start

def check(candidate):
    assert candidate([]) == {n}
    assert candidate([1, 2, 3]) == {n} + 6
    assert candidate(list(range(50)), 0) == 1225

check(total)
print("done")
"""
CASES = """
import unittest
{program}

class Test(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), {n} + 3)

result = unittest.TestResult()
unittest.defaultTestLoader.loadTestsFromTestCase(Test).run(result)
assert result.wasSuccessful() and result.testsRun == 1
"""


def main() -> None:
    """Measure each way in turn, several rounds, and compare medians; or follow the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--only", nargs=3, metavar=("WAY", "FORM", "PROGRAMS"), help=argparse.SUPPRESS)
    parser.add_argument("--language", choices=("python", "java"), default="python")
    options = parser.parse_args()
    java = options.language == "java"
    if options.only:
        judge = sandbox_java.judge_some if java else _judge_some
        judge(options.only[0], options.only[1], int(options.only[2]))
    elif options.processor:
        forms, ways = (
            (sandbox_java.FORMS, sandbox_java.WAYS)
            if java
            else (("bare", "unittest"), ("plain", "warm", "wide"))
        )
        _compare_processor_time(options.language, forms, ways, 20 if options.quick else 100)
    elif java:
        sandbox_java.run(quick=options.quick)
    else:
        _compare_rates(*((12, 3) if options.quick else (60, 5)))


def _compare_rates(programs: int, rounds: int) -> None:
    """Programs per second, for each way in turn."""
    bare, cases = _texts("bare", programs), _texts("unittest", programs)
    chosen = registry.choose()
    warm = registry.best_sandbox()
    cold = ProcessSandbox(Bubblewrap() if chosen.name == "bubblewrap" else None, warm=False)
    threads = os.cpu_count() or 1
    ways: dict[str, Callable[[str], bool]] = {
        "plain": _plain,
        "warm": lambda text: _sandboxed(warm, text),
        "wide": lambda text: _sandboxed(warm, text, LIMITS),
        "cold": lambda text: _sandboxed(cold, text),
    }
    rates: dict[str, float] = {}
    for form, texts in (("bare", bare), ("unittest", cases)):
        for judge in ways.values():
            judge(texts[0])
        for name in (*ways, "plain, threads", "warm, threads", "wide, threads"):
            rates[f"{form}, {name}"] = 0.0
        found: dict[str, list[float]] = {name: [] for name in rates if name.startswith(form)}
        for _ in range(rounds):  # in turn, so that a busy moment affects all ways
            for name in found:
                way = name.split(", ")[1]
                workers = threads if name.endswith("threads") else 1
                some = texts if way != "cold" else texts[: max(5, programs // 4)]
                found[name].append(_rate(ways[way], some, workers))
        rates |= {name: sorted(each)[len(each) // 2] for name, each in found.items()}
    for name, rate in rates.items():
        print(f"{name:26} {rate:8.1f} programs per second")
    ratios = {}
    for form in ("bare", "unittest"):
        for room in ("warm", "wide"):
            ratios[f"{form}: {room} over plain"] = rates[f"{form}, {room}"] / rates[f"{form}, plain"]
            ratios[f"{form}: {room} over plain, {threads} threads"] = (
                rates[f"{form}, {room}, threads"] / rates[f"{form}, plain, threads"]
            )
        ratios[f"{form}: warm over cold"] = rates[f"{form}, warm"] / rates[f"{form}, cold"]
    ratios = {name: round(value, 2) for name, value in ratios.items()}
    for name, ratio in ratios.items():
        print(f"{name:40} {ratio:.2f}")
    document = {
        "benchmark": "sandbox", "back_end": chosen.name, "strength": chosen.strength, "programs": programs,
        "ratios": ratios, "programs_per_second": {name: round(rate, 1) for name, rate in rates.items()},
    }  # fmt: skip
    print(json.dumps(document))


def _texts(form: str, programs: int) -> list[str]:
    bare = [BARE.format(n=n) for n in range(programs)]
    if form == "bare":
        return bare
    return [CASES.format(program=program, n=n) for n, program in enumerate(bare)]


def _judge_some(way: str, form: str, programs: int) -> None:
    warm = registry.best_sandbox()
    limits = LIMITS if way == "wide" else Limits()
    texts = _texts(form, programs)
    right = [_plain(text) if way == "plain" else _sandboxed(warm, text, limits) for text in texts]
    assert all(right), "a right program failed"


def _compare_processor_time(language: str, forms: Sequence[str], ways: Sequence[str], programs: int) -> None:
    """The cost of one more program: the difference between many and few, over their difference in number."""
    spent: dict[str, tuple[float, float]] = {}
    for form in forms:
        for way in ways:
            few, many = (_spent(language, way, form, number) for number in (10, 10 + programs))
            clock, faults = ((after - before) / programs for before, after in zip(few, many, strict=True))
            spent[f"{form}, {way}"] = clock, faults
            print(f"{form + ', ' + way:26} {clock:8.2f} ms of processor time {faults:8.0f} page faults")
    for form in forms:
        for way in ways[1:]:
            ratio = spent[f"{form}, {ways[0]}"][0] / spent[f"{form}, {way}"][0]
            print(f"{f'{form}: {ways[0]} over {way}':40} {ratio:.2f}")


def _spent(language: str, way: str, form: str, programs: int) -> tuple[float, float]:
    """Milliseconds of processor time, and page faults, of this script with all its child processes."""
    counted = ["perf", "stat", "-x", ",", "-e", "task-clock,page-faults"]
    again = [sys.executable, __file__, "--language", language, "--only", way, form, str(programs)]
    done = subprocess.run([*counted, *again], capture_output=True, text=True, check=True)
    clock, faults = (float(line.partition(",")[0]) for line in done.stderr.strip().splitlines()[-2:])
    return clock, faults


def _rate(judge: Callable[[str], bool], texts: Sequence[str], workers: int) -> float:
    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        right = list(pool.map(judge, texts))
    assert all(right), "a right program failed"
    return len(texts) / (time.perf_counter() - started)


def _plain(text: str) -> bool:
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, timeout=30, check=False)
    return done.returncode == 0


def _sandboxed(sandbox: Sandbox, text: str, limits: Limits = Limits()) -> bool:  # noqa: B008 - immutable
    preload = ("typing", "unittest")
    writable = (PROJECT,) if limits.wide else ()
    job = Job(
        {"program.py": text.encode()},
        "program.py",
        Path(sys.executable),
        readable=(PROJECT,),
        writable=writable,
        limits=limits,
        preload=preload,
    )
    return sandbox.run(job).code == 0


if __name__ == "__main__":
    main()
