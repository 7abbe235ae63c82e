"""The Java part of `differential.py --language java`: HumanEval-X and HumanEvalPack.

Each counterfactual is judged by the tests of its problem, and by comparison of its method on generated
inputs; so are the buggy solutions of HumanEvalPack, by comparison of the last method.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from java_judge import ProblemJudge, java_problems, setting

from counterlens.datasets import open_dataset
from counterlens.java.judging.differential import JavaDifferentialJudge, JavaOriginal, study
from counterlens.judging.base import Judgement, Setting
from counterlens.mutations import survey
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions

Row = tuple[str, str, bool, bool]


def run(data: Path, *, problems: int | None, seed: int) -> int:
    """Judge all, print a table and one JSON document; returns 1 if a preserving counterfactual failed."""
    where, counted = setting(), Counter[str]()
    chosen = list(java_problems(data))
    if problems is not None:
        chosen = random.Random(seed).sample(chosen, min(problems, len(chosen)))  # noqa: S311
    buggy = {each.source: each.buggy for each in open_dataset(str(_pack(data))) if each.buggy}
    spent, wrong = {"tests": 0.0, "inputs": 0.0, "study": 0.0}, 0
    for problem in chosen:
        tests = ProblemJudge(problem, where)
        judges = _judges(problem.source, where, counted, spent)
        for kind, function, source in _programs(problem.source, buggy.get(problem.source), seed):
            judge = judges.get(function) or (judges.get("") if kind == "buggy" else None)
            if judge is None:
                counted[f"{kind} unjudged"] += 1
                continue
            started = time.monotonic()
            by_tests = tests.judge(source, 5.0)[0]
            middle = time.monotonic()
            verdict = judge.judge(source)
            spent["tests"] += middle - started
            spent["inputs"] += time.monotonic() - middle
            if by_tests in {"uncompiled", "refused"} or verdict.judgement is Judgement.INVALID:
                counted[f"{kind} uncompiled"] += 1
                continue
            passed = by_tests == "passed"
            counted[f"{kind} {passed} {verdict.passed}"] += 1
            wrong += kind == "preserving" and not verdict.passed
            if passed != verdict.passed:
                who, said = ("inputs", verdict.evidence.failed) if passed else ("tests", "")
                print(
                    f"{problem.name} {kind} {function}: only the {who}: {said} {verdict.evidence.message!r}"
                )
    _show(counted, spent)
    return 1 if wrong else 0


def _pack(data: Path) -> Path:
    return data / "humanevalpack" / "java" / "humanevalpack.jsonl"


def _judges(
    source: str, where: Setting, counted: Counter[str], spent: dict[str, float]
) -> dict[str, JavaDifferentialJudge]:
    """A judge for each callable method; the empty name is for the last one, which the tests call."""
    document, found = Document(source, language="java"), {}
    for function in functions(document):
        started = time.monotonic()
        original = study(document, function, where)
        spent["study"] += time.monotonic() - started
        counted["methods"] += 1
        if not isinstance(original, JavaOriginal):
            counted["untestable"] += 1
            print(f"untestable: {function.qualname}: {original.reason}")
            continue
        judge = JavaDifferentialJudge(original)
        found[function.qualname] = found[""] = judge
    return found


def _programs(source: str, buggy: str | None, seed: int) -> Iterator[tuple[str, str, str]]:
    for pair in survey(source, language="java", seed=seed).counterfactuals:
        yield ("preserving" if pair.preserving else "breaking"), pair.function, pair.source
    if buggy is not None:
        yield "buggy", "", buggy


def _show(counted: Counter[str], spent: dict[str, float]) -> None:
    print(f"\n{counted['methods']} methods, {counted['untestable']} not testable")
    print(f"{'':12}{'both fail':>11}{'both pass':>11}{'only inputs':>13}{'only tests':>12}{'unjudged':>10}")
    ratios = {}
    for kind in ("preserving", "breaking", "buggy"):
        told, passed = counted[f"{kind} False False"], counted[f"{kind} True True"]
        inputs, tests = counted[f"{kind} True False"], counted[f"{kind} False True"]
        total = told + passed + inputs + tests
        print(f"{kind:12}{told:11}{passed:11}{inputs:13}{tests:12}{counted[f'{kind} unjudged']:10}")
        ratios[f"{kind}_agreement"] = round((told + passed) / total, 4) if total else None
        ratios[f"{kind}_told_by_inputs"] = round((told + inputs) / total, 4) if total else None
        ratios[f"{kind}_told_by_tests"] = round((told + tests) / total, 4) if total else None
    ratios["time_over_tests"] = round(spent["inputs"] / spent["tests"], 2) if spent["tests"] else None
    seconds = {name: round(each, 1) for name, each in spent.items()}
    document = {"benchmark": "differential", "language": "java", "ratios": ratios, "seconds": seconds}
    print(json.dumps({**document, "counts": dict(counted)}))
