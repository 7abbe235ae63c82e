"""Checks that mutations keep or break the meaning as declared, on HumanEval and MBPP with their own tests.

    python benchmarks/mutation_safety.py --data DATA            # all of them, some minutes
    python benchmarks/mutation_safety.py --data DATA --sample 60
    python benchmarks/mutation_safety.py --data DATA --mutations partial-unroll
    python benchmarks/mutation_safety.py --data DATA --language java   # HumanEval-X, HumanEvalPack

Each preserving counterfactual must pass if its original does; of the breaking ones, the benchmark counts
those that fail the tests. It also counts pairs, and problems with at least one pair that has a cut:
docs/results/coverage.md compares them with the published figures. The last line is one JSON document.

The programs are the reference solutions of the two datasets. Each one runs in a separate process with a
time and a memory limit.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import mutation_safety_java

from counterlens.errors import SourceError
from counterlens.mutations import Counterfactual, counterfactuals
from counterlens.python.mutations.language import MUTATIONS
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.statements import IndependentSwap

SECONDS = 20
MEMORY = 4 << 30
VARIANTS = {"independent-swap, up to 9 apart": IndependentSwap(reach=9)}


@dataclass(frozen=True)
class Problem:
    """A reference solution and its tests."""

    name: str
    source: str
    tests: str


@dataclass(frozen=True)
class Outcome:
    """The results of one problem: each counterfactual, and whether the original passed."""

    name: str
    skipped: str
    original: bool
    pairs: tuple[tuple[str, bool, bool], ...]  # mutation, has a cut, passed
    failures: tuple[tuple[str, str, tuple[str, ...]], ...]  # mutation, source, assumptions
    wider: tuple[tuple[str, int, int], ...]  # variant, pairs, pairs with a cut


def humaneval(folder: Path) -> Iterator[Problem]:
    """The problems of HumanEval."""
    with gzip.open(folder / "humaneval" / "HumanEval.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            check = f"{record['test']}\ncheck({record['entry_point']})\n"
            yield Problem(record["task_id"], record["prompt"] + record["canonical_solution"], check)


def mbpp(folder: Path) -> Iterator[Problem]:
    """The problems of MBPP, all 974."""
    with (folder / "mbpp" / "mbpp.jsonl").open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            tests = [record["test_setup_code"], *record["test_list"], *record["challenge_test_list"]]
            yield Problem(f"MBPP/{record['task_id']}", record["code"], "\n".join(tests))


def passes(source: str, tests: str, seconds: float = SECONDS) -> bool:
    """Whether a program passes its tests in time, in a separate process."""
    child = os.fork()
    if not child:
        _run(source, tests)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _run(source: str, tests: str) -> None:
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        random.seed(0)
        space: dict[str, object] = {"__name__": "solution"}
        exec(compile(source, "<solution>", "exec", dont_inherit=True), space)  # noqa: S102
        exec(compile(tests, "<tests>", "exec", dont_inherit=True), space)  # noqa: S102
    except BaseException:  # any exception means that it did not pass
        os._exit(1)
    os._exit(0)


def examine(problem: Problem, chosen: Sequence[str]) -> Outcome:
    """Make all counterfactuals of a problem by some mutations, and run them."""
    try:
        module = Module(problem.source)
    except SourceError as error:
        return Outcome(problem.name, str(error), False, (), (), ())
    started = time.monotonic()
    original = passes(problem.source, problem.tests)
    limit = max(5.0, 20 * (time.monotonic() - started))
    pairs: list[tuple[str, bool, bool]] = []
    failures: list[tuple[str, str, tuple[str, ...]]] = []
    for pair in counterfactuals(module, mutations=chosen):
        passed = passes(pair.source, problem.tests, limit if pair.preserving else limit / 5)
        pairs.append((pair.mutation, pair.cut is not None, passed))
        if original and pair.preserving and not passed:
            failures.append((pair.mutation, pair.source, pair.assumptions))
    wider = []
    for name, variant in VARIANTS.items() if len(chosen) > 1 else ():
        found: list[Counterfactual] = counterfactuals(module, mutations=[variant])
        wider.append((name, len(found), sum(pair.cut is not None for pair in found)))
        broken = (pair for pair in found if original and not passes(pair.source, problem.tests, limit))
        failures.extend((name, pair.source, pair.assumptions) for pair in broken)
    return Outcome(problem.name, "", original, tuple(pairs), tuple(failures), tuple(wider))


def table(outcomes: list[Outcome]) -> tuple[list[str], dict[str, dict[str, int]]]:
    """The figures by mutation, as printed lines and as a document."""
    pairs: Counter[str] = Counter()
    cut: Counter[str] = Counter()
    problems: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    for outcome in outcomes:
        for name in {name for name, has_cut, _ in outcome.pairs if has_cut}:
            problems[name] += 1
        for name, has_cut, passed in outcome.pairs:
            pairs[name] += 1
            cut[name] += has_cut
            judged[name] += outcome.original
            kept[name] += outcome.original and passed
        for name, count, with_cut in outcome.wider:
            pairs[name] += count
            cut[name] += with_cut
            problems[name] += with_cut > 0
    lines = [f"{'mutation':34}{'pairs':>7}{'cut':>7}{'problems':>10}{'judged':>8}{'passed':>8}"]
    figures = {}
    for name in (*MUTATIONS, *VARIANTS):
        row = {
            "pairs": pairs[name],
            "cut": cut[name],
            "problems": problems[name],
            "judged": judged[name],
            "passed": kept[name],
        }
        figures[name] = row
        lines.append(
            f"{name:34}{row['pairs']:7}{row['cut']:7}{row['problems']:10}{row['judged']:8}{row['passed']:8}"
        )
    return lines, figures


def main() -> int:
    """Run everything; returns 1 if a preserving counterfactual failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder that contains humaneval/ and mbpp/")
    parser.add_argument("--sample", type=int, help="number of problems, chosen by --seed")
    parser.add_argument("--preserving", action="store_true", help="check only the preserving mutations")
    parser.add_argument("--mutations", help="comma-separated mutations of Python; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--language", choices=("python", "java"), default="python")
    arguments = parser.parse_args()
    if arguments.language == "java":
        breaking = not arguments.preserving
        return mutation_safety_java.run(
            arguments.data, sample=arguments.sample, breaking=breaking, seed=arguments.seed
        )
    problems = [*humaneval(arguments.data), *mbpp(arguments.data)]
    if arguments.sample is not None:
        problems = random.Random(arguments.seed).sample(problems, arguments.sample)  # noqa: S311
    started = time.monotonic()
    chosen = [name for name, known in MUTATIONS.items() if known.preserving or not arguments.preserving]
    if arguments.mutations:
        chosen = arguments.mutations.split(",")
    with multiprocessing.get_context("fork").Pool(arguments.processes) as pool:
        outcomes = list(pool.imap_unordered(partial(examine, chosen=chosen), problems, 4))
    lines, figures = table(outcomes)
    skipped = {outcome.name: outcome.skipped for outcome in outcomes if outcome.skipped}
    failures = [(outcome.name, *failure) for outcome in outcomes for failure in outcome.failures]
    print("\n".join(lines))
    for name, why in sorted(skipped.items()):
        print(f"skipped {name}: {why}")
    for name, mutation, source, assumptions in failures:
        print(
            f"\nFAILED {name} under {mutation} (assumptions: {', '.join(assumptions) or 'none'}):\n{source}"
        )
    total = {
        "benchmark": "mutation-safety",
        "problems": len(problems),
        "original_passed": sum(outcome.original for outcome in outcomes),
        "skipped": sorted(skipped),
        "failures": [[name, mutation] for name, mutation, *_ in failures],
        "seconds": round(time.monotonic() - started, 1),
        "mutations": figures,
    }
    print(json.dumps(total))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
