"""Checks that verdicts on functions of real packages agree with the packages' own test commands.

    python benchmarks/verdicts.py FOLDER… [--functions 20] [--verdicts 12] [--seed 1] [--quick]
    python benchmarks/verdicts.py --data DATASET [--problems 50] [--verdicts 6]

Each folder is the repository of a package, with a `.venv` in which its tests run. From each, functions are
sampled as in `benchmarks/judges.py`, and

- the package's suite is timed alone and as the baseline (`baseline_over_suite`, the median of packages);
- every function with a judge is judged with three bad bodies: empty, `return 42`, and one that raises;
- some programs of functions with tests (preserving and breaking counterfactuals, bad bodies, the unchanged
  file) are sampled, judged, and put into a copy of the repository, where the whole suite runs by
  `python -m pytest` outside the sandbox: "passed" is right if no test fails that passes without the program.

With `--data`, the supplied tests of a dataset's problems judge the reference solution, and breaking and
preserving counterfactuals of it; program and tests also run as one text by `python -c` outside the sandbox.

The programs are made by mutation; no model writes any. The last line is one JSON document; `agreement` is the
share of verdicts that are right.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judges import drawn, examine

from counterlens.datasets import open_dataset
from counterlens.datasets.checking import Runner
from counterlens.errors import SourceError
from counterlens.judging.base import LIMITS, Judge, Judgement, Setting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.mutations import counterfactuals
from counterlens.probes.prompts.function_text import hollow
from counterlens.python.judging.baseline import baseline_of
from counterlens.python.judging.layout import layout_of
from counterlens.python.mutations.language import MUTATIONS
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

FAILS = "raise NotImplementedError"
BAD = {"it raises": FAILS, "return 42": "return 42", "empty": "pass"}
SUITE_SECONDS = 120.0
MEMORY = 4 << 30  # bytes


@dataclass
class Program:
    """A whole file that replaces one of a repository."""

    path: Path
    function: str
    made: str
    text: str


class Repository:
    """A copy of a package's repository, and its suite there, run by the package's own command."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.python = folder, folder / ".venv/bin/python"
        self._copy = Path(tempfile.mkdtemp()) / folder.name
        shutil.copytree(folder, self._copy, ignore=shutil.ignore_patterns(".venv", ".git", "__pycache__"))
        began = time.monotonic()
        self.before = self._failing()
        self.seconds = time.monotonic() - began
        if any(name.startswith("pytest exited") for name in self.before):
            sys.exit(f"the suite of {folder.name} does not run in {self.python}")

    def breaks(self, program: Program) -> set[str]:
        """The tests that fail only with the program."""
        place = self._copy / program.path.relative_to(self.folder)
        original = place.read_bytes()
        place.write_text(program.text, encoding="utf-8")
        try:
            return self._failing() - self.before
        finally:
            place.write_bytes(original)

    def _failing(self) -> set[str]:
        options = ["-q", "--tb=no", "-rfE", "--continue-on-collection-errors", "-p", "no:cacheprovider"]
        try:
            ran = subprocess.run(
                [self.python, "-B", "-m", "pytest", *options],
                cwd=self._copy,
                env={"PYTHONPATH": f"{self._copy}:{self._copy / 'src'}", "PATH": "/usr/bin:/bin"},
                capture_output=True,
                text=True,
                timeout=SUITE_SECONDS,
                check=False,
                preexec_fn=_bounded,
            )
        except subprocess.TimeoutExpired:
            return {"the suite does not terminate"}
        if ran.returncode not in (0, 1):
            return {f"pytest exited with code {ran.returncode}"}
        return set(re.findall(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.MULTILINE))


def _bounded() -> None:
    """Limit memory, because a bad program may request all of it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (int(SUITE_SECONDS), int(SUITE_SECONDS)))


def main() -> None:
    """Test each package, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--data", type=Path, help="a published dataset, such as HumanEval or MBPP")
    parser.add_argument("--problems", type=int, default=50, help="number of problems of the dataset")
    parser.add_argument("--functions", type=int, default=20, help="number of functions per package")
    parser.add_argument("--verdicts", type=int, default=12, help="number of verdicts per package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="use three functions and verdicts per package")
    options = parser.parse_args()
    if options.quick:
        options.functions = options.verdicts = 3
    found: Counter[str] = Counter()
    ratios = []
    if options.data:
        found += tried_supplied(options)
    for folder in options.folders:
        repository = Repository(folder.resolve())
        ratios.append(baseline_seconds(repository) / repository.seconds)
        print(
            f"{folder.name}: suite {repository.seconds:.1f} s, baseline over suite {ratios[-1]:.2f}",
            flush=True,
        )
        found += tried(repository, options)
    print(", ".join(f"{name}: {number}" for name, number in sorted(found.items())))
    agreement = found["agree"] / max(1, found["agree"] + found["differ"])
    values = {"agreement": agreement}
    if ratios:
        values["baseline_over_suite"] = statistics.median(ratios)
    shown = {name: round(value, 3) for name, value in values.items()}
    print(json.dumps({"benchmark": "verdicts", "ratios": shown, **found}))


def baseline_seconds(repository: Repository) -> float:
    """The seconds of a baseline that is not cached."""
    place = layout_of(next(path for path in repository.folder.rglob("*.py") if ".venv" not in path.parts))
    setting = Setting(best_sandbox(), repository.python, LIMITS, surveyed=True)
    began = time.monotonic()
    baseline_of(place, setting, Path(tempfile.mkdtemp()))
    return time.monotonic() - began


def tried(repository: Repository, options: argparse.Namespace) -> Counter[str]:
    """The results for the functions and verdicts of one package."""
    found: Counter[str] = Counter()
    judges: dict[str, Judge] = {}
    programs: list[Program] = []
    for document, function in drawn(repository.folder, options.seed)[: options.functions]:
        outcome, _ = examine(document, function)
        found["functions"] += 1
        judge = find_judge(
            document,
            function,
            Setting(best_sandbox(), interpreter_for(document.path), vetted=True, surveyed=True),
            witnessed=False,
        )
        if judge is None or not outcome.startswith("usable"):
            continue
        found["usable"] += 1
        made = list(_programs(document, function, options.seed))
        for program in made:
            judges[f"{program.path}::{program.function}"] = judge
            if program.made in BAD:
                verdict = judge.judge(program.text)
                found["bad bodies"] += 1
                found["bad bodies passed"] += verdict.passed
                if verdict.passed:
                    print(f"  passed: {program.function}, {program.made}, {verdict.evidence}", flush=True)
        if "tests" in judge.attribution:
            programs += made
    random.Random(options.seed).shuffle(programs)  # noqa: S311 - a draw that can be repeated
    for program in programs[: options.verdicts]:
        verdict = judges[f"{program.path}::{program.function}"].judge(program.text)
        broken = repository.breaks(program)
        if verdict.passed and broken:
            broken &= repository.breaks(program)  # on a busy machine, tests that depend on time fail
        agree = verdict.passed == (not broken)
        found["agree" if agree else "differ"] += 1
        some = ", ".join(sorted(broken)[:2])
        said = f"{'agree ' if agree else 'DIFFER'} {verdict.judgement:9}"
        which = f"{program.path.name}::{program.function}, {program.made}"
        more = "" if agree else verdict.evidence
        print(f"  {said} {which}: {len(broken)} tests fail {some} {more}", flush=True)
    return found


def tried_supplied(options: argparse.Namespace) -> Counter[str]:
    """The results for programs of a dataset's problems."""
    found: Counter[str] = Counter()
    runner = Runner(best_sandbox(), LIMITS)
    problems = [each for each in open_dataset(str(options.data)) if each.function]
    problems = random.Random(options.seed).sample(problems, min(options.problems, len(problems)))  # noqa: S311
    for problem in problems:
        assert problem.tests is not None
        programs = {problem.source: "as it stands"}
        with contextlib.suppress(SourceError):
            made = counterfactuals(problem.source, function=problem.function, seed=options.seed)
            chosen = random.Random(f"{options.seed} {problem.id}")  # noqa: S311
            some = chosen.sample(made, min(options.verdicts, len(made)))
            programs |= {one.source: one.mutation for one in some}
        for program, name in programs.items():
            verdict = runner.judge(problem, program)
            passes = _passes(program, problem.tests.text)
            agree = verdict.passed == passes
            found["agree" if agree else "differ"] += 1
            found["passed"] += passes
            if not agree or verdict.judgement is Judgement.REFUSED:
                print(f"  DIFFER {problem.id}, {name}: plain {passes}, {verdict}", flush=True)
    return found


def _passes(program: str, tests: str) -> bool:
    """Whether a program with its tests at the end runs without an error."""
    command = [sys.executable, "-c", f"{program}\n{tests}\n"]
    limit = LIMITS.seconds
    try:
        ran = subprocess.run(command, capture_output=True, timeout=limit, check=False, preexec_fn=_bounded)
    except subprocess.TimeoutExpired:
        return False
    return ran.returncode == 0


def _programs(document: Document, function: Function, seed: int) -> Iterator[Program]:
    path = document.path
    assert path is not None
    empty = hollow(document, function).text
    at = empty.index(FAILS, len(document.data[: function.header].decode()))
    for name, body in BAD.items():
        yield Program(path, function.qualname, name, empty[:at] + body + empty[at + len(FAILS) :])
    yield Program(path, function.qualname, "as it stands", document.text)
    try:
        made = counterfactuals(document.text, function=function.qualname, mutations=[*MUTATIONS], seed=seed)
    except SourceError:
        return
    chosen = random.Random(f"{seed} {function.qualname}")  # noqa: S311
    for preserving, does in ((True, "keeps"), (False, "breaks")):
        some = [one for one in made if one.preserving is preserving]
        for one in chosen.sample(some, min(2, len(some))):
            yield Program(path, function.qualname, f"{does} the meaning ({one.mutation})", one.source)


if __name__ == "__main__":
    main()
