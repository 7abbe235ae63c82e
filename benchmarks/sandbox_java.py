"""The Java part of `sandbox.py --language java`: programs judged per second, over `javac` and `java`.

Every program has its tests, a class `Main`, in the form of HumanEval-X. In turn, they are judged by `javac`
and `java` as separate processes, which isolate nothing, and by the judge, in the sandbox. The judge also gets
programs with the same tests, like the versions of one function, and programs that need a separate
JVM, because they start a thread.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from counterlens.java.judging.judge import JavaTestsJudge
from counterlens.judging.base import LIMITS, Setting
from counterlens.sandbox.java.machine import find_jdk
from counterlens.sandbox.registry import best_sandbox, choose

PROGRAM = """import java.util.*;

class Solution {{
    public int total(List<Integer> values, int start) {{
        {extra}
        for (int value : values) {{
            start += value;
        }}
        return start + {n};
    }}
}}
"""
TESTS = """public class Main {{
    public static void main(String[] args) {{
        Solution s = new Solution();
        List<Boolean> correct = Arrays.asList(
                s.total(new ArrayList<>(Arrays.asList()), {m}) == {m} + {n},
                s.total(new ArrayList<>(Arrays.asList(1, 2, 3)), 0) == 6 + {n},
                s.total(new ArrayList<>(Arrays.asList(-1, 1)), 5) == 5 + {n}
        );
        if (correct.contains(false)) {{
            throw new AssertionError();
        }}
    }}
}}
"""
THREAD = "new Thread(() -> {}).start();"
Pair = tuple[str, str]
FORMS, WAYS = ("own tests", "same tests", "one machine per program"), ("javac && java", "judge")
"""The ways whose processor time is compared."""


def run(*, quick: bool) -> None:
    """Measure each way in turn, several rounds, and compare medians; the last line is one JSON document."""
    programs, rounds = (6, 3) if quick else (20, 5)
    plain = [_pair(n, m=n) for n in range(programs)]
    setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)
    ways: dict[str, Callable[[Sequence[Pair]], float]] = {
        "javac && java": lambda pairs: _rate(_by_processes, pairs),
        "judge": lambda pairs: _rate(lambda pair: _judged(pair, setting), pairs),
        "judge, all threads": lambda pairs: _rate(
            lambda pair: _judged(pair, setting), pairs, os.cpu_count() or 1
        ),
    }
    _rate(lambda pair: _judged(pair, setting), [_pair(99, m=m) for m in range(20)], os.cpu_count() or 1)
    found: dict[str, list[float]] = {}
    for number in range(rounds):  # in turn, so that a busy moment affects all ways
        seed = 1000 * (number + 1)
        own = [_pair(n, m=seed + n) for n in range(4 * programs)]  # tests that were not compiled before
        same = [_pair(7, m=0, salt=seed + n) for n in range(4 * programs)]
        alone = [_pair(7, m=0, extra=THREAD, salt=seed + n) for n in range(programs)]
        for name, pairs in (
            ("javac && java", plain[: max(3, programs // 4)]),
            ("judge", own),
            ("judge, all threads", [(p, t.replace("-1, 1", "-2, 2")) for p, t in own]),
        ):
            found.setdefault(name, []).append(ways[name](pairs))
        found.setdefault("judge, same tests", []).append(ways["judge"](same))
        found.setdefault("judge, one machine per program", []).append(ways["judge"](alone))
    rates = {name: sorted(each)[len(each) // 2] for name, each in found.items()}
    base = rates["javac && java"]
    for name, rate in rates.items():
        print(f"{name:24} {rate:8.1f} programs per second {rate / base:8.1f} times")
    document = {
        "benchmark": "sandbox", "language": "java", "back_end": choose().name, "jdk": find_jdk().version,
        "strength": choose().strength, "programs": programs, "rounds": rounds,
        "ratios": {name: round(rate / base, 1) for name, rate in rates.items() if name != "javac && java"},
        "programs_per_second": {name: round(rate, 2) for name, rate in rates.items()},
    }  # fmt: skip
    print(json.dumps(document))


def judge_some(way: str, form: str, programs: int) -> None:
    """Judge a number of programs of a form in one way."""
    setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)
    extra = THREAD if form == "one machine per program" else ""
    for n in range(programs):
        pair = _pair(n, m=n) if form == "own tests" else _pair(7, m=0, extra=extra, salt=n)
        assert _by_processes(pair) if way == WAYS[0] else _judged(pair, setting), "a right program failed"


def _pair(n: int, *, m: int, extra: str = "", salt: int | None = None) -> Pair:
    note = "" if salt is None else f"// {salt}"
    return PROGRAM.format(n=n, extra=extra + note), TESTS.format(n=n, m=m)


def _rate(judge: Callable[[Pair], bool], pairs: Sequence[Pair], workers: int = 1) -> float:
    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        right = list(pool.map(judge, pairs))
    assert all(right), "a right program failed"
    return len(pairs) / (time.perf_counter() - started)


def _judged(pair: Pair, setting: Setting) -> bool:
    verdict = JavaTestsJudge(pair[1], None, setting).judge(pair[0])
    assert verdict.passed, verdict
    return verdict.passed


def _by_processes(pair: Pair) -> bool:
    jdk = find_jdk()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "Main.java"
        file.write_text("\n".join(pair), encoding="utf-8")
        compiled = subprocess.run([jdk.javac, "-d", folder, file], capture_output=True, check=False)
        ran = subprocess.run([jdk.java, "-cp", folder, "Main"], capture_output=True, check=False)
    return compiled.returncode == 0 == ran.returncode
