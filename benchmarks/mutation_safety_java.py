"""The Java part of `mutation_safety.py --language java`: HumanEval-X and HumanEvalPack.

Each preserving counterfactual must compile and pass if its original does. Of the breaking ones, the benchmark
counts those that fail the tests, and separately those that do not compile.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from java_judge import JavaProblem, ProblemJudge, java_problems, setting

from counterlens.java.mutations.language import MUTATIONS
from counterlens.mutations import survey


@dataclass
class Tally:
    """The results of one mutation's counterfactuals whose originals pass."""

    pairs: int = 0
    cut: int = 0
    refused: int = 0
    problems: set[str] = field(default_factory=set)
    verdicts: Counter[str] = field(default_factory=Counter)

    def row(self) -> dict[str, int]:
        """As figures."""
        return {
            "pairs": self.pairs,
            "cut": self.cut,
            "problems": len(self.problems),
            "refused": self.refused,
            "passed": self.verdicts["passed"],
            "failed": self.verdicts["failed"] + self.verdicts["late"],
            "uncompiled": self.verdicts["uncompiled"],
            "undecided": self.verdicts["refused"],
        }


def examine(
    problem: JavaProblem, judge: ProblemJudge, tallies: dict[str, Tally], *, breaking: bool, seed: int
) -> list[tuple[str, str, str, str]]:
    """Judge all counterfactuals of a problem that passes; returns the preserving ones that do not."""
    failures = []
    started = time.monotonic()
    verdict, said = judge.judge(problem.source)
    if verdict != "passed":
        return [(problem.name, "the original", said, problem.source)]
    limit = max(3.0, 20 * (time.monotonic() - started))
    chosen = [name for name, mutation in MUTATIONS.items() if breaking or mutation.preserving]
    found = survey(problem.source, mutations=chosen, language="java", seed=seed)
    for refusal in found.refusals:
        tallies[refusal.mutation].refused += 1
    for pair in found.counterfactuals:
        tally = tallies[pair.mutation]
        verdict, said = judge.judge(pair.source, limit if pair.preserving else 1.0)
        tally.pairs += 1
        tally.cut += pair.cut is not None
        tally.problems.add(problem.name)
        tally.verdicts[verdict] += 1
        if pair.preserving and verdict != "passed":
            failures.append((problem.name, pair.mutation, f"{verdict}: {said}", pair.source))
    return failures


def run(data: Path, *, sample: int | None, breaking: bool, seed: int) -> int:
    """Judge all, print a table and one JSON document; returns 1 if a preserving counterfactual failed."""
    problems = list(java_problems(data))
    if sample is not None:
        problems = random.Random(seed).sample(problems, sample)  # noqa: S311
    started = time.monotonic()
    tallies = {name: Tally() for name in MUTATIONS}
    failures: list[tuple[str, str, str, str]] = []
    where = setting()
    for problem in problems:
        judge = ProblemJudge(problem, where)
        failures += examine(problem, judge, tallies, breaking=breaking, seed=seed)
    for name, mutation, said, source in failures:
        print(f"\nFAILED {name} under {mutation}: {said}\n{source}")
    columns = ("pairs", "cut", "problems", "refused", "passed", "failed", "uncompiled", "undecided")
    print(f"{'mutation':22}" + "".join(f"{column:>11}" for column in columns))
    for name, tally in tallies.items():
        print(f"{name:22}" + "".join(f"{tally.row()[column]:11}" for column in columns))
    broken = [tally for name, tally in tallies.items() if not MUTATIONS[name].preserving]
    compiled = sum(t.pairs - t.verdicts["uncompiled"] - t.verdicts["refused"] for t in broken)
    told = compiled - sum(tally.verdicts["passed"] for tally in broken)
    total = {
        "benchmark": "mutation-safety",
        "language": "java",
        "problems": len(problems),
        "preserving": sum(tally.pairs for name, tally in tallies.items() if MUTATIONS[name].preserving),
        "failures": [[name, mutation] for name, mutation, *_ in failures],
        "breaking_that_compile": compiled,
        "breaking_told_apart": told,
        "seconds": round(time.monotonic() - started, 1),
        "mutations": {name: tally.row() for name, tally in tallies.items()},
    }
    print(json.dumps(total))
    return 1 if failures else 0
