"""Checks that verdicts on functions of real packages agree with the packages' own test commands.

    python benchmarks/verdicts.py FOLDER… [--functions 20] [--verdicts 12] [--seed 1] [--quick]

Each folder is the repository of a package, with a `.venv` in which its tests run. From each, functions are
sampled as in `benchmarks/judges.py`, and

- the package's suite is timed alone and as the baseline (`baseline_over_suite`, the median of packages);
- every function with a judge is judged with three bad bodies: empty, `return 42`, and one that raises. None
  may pass with strong evidence;
- some programs of functions with tests (preserving and breaking counterfactuals, bad bodies, the unchanged
  file) are sampled, judged, and put into a copy of the repository, where the whole suite runs by
  `python -m pytest` outside the sandbox: "passed" is right if no test fails that passes without the program.

The programs are made by mutation; no model writes any. The last line is one JSON document; `agreement` is the
share of verdicts that are right.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judges import drawn, examine

from counterlens.attribution.base import LIMITS, Judge, Setting, Strength
from counterlens.attribution.layout import layout_of
from counterlens.attribution.registry import find_judge
from counterlens.attribution.suite_run import baseline_of
from counterlens.errors import SourceError
from counterlens.mutations import MUTATIONS, counterfactuals
from counterlens.probes.prompts.function_text import hollow
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
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--functions", type=int, default=20, help="number of functions per package")
    parser.add_argument("--verdicts", type=int, default=12, help="number of verdicts per package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="use three functions and verdicts per package")
    options = parser.parse_args()
    if options.quick:
        options.functions = options.verdicts = 3
    found: Counter[str] = Counter()
    ratios = []
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
    values = {"baseline_over_suite": statistics.median(ratios), "agreement": agreement}
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
        judge = find_judge(document, function, best_sandbox(), vetted=True, surveyed=True, witnessed=False)
        if judge is None or not outcome.startswith("usable"):
            continue
        found["usable"] += 1
        made = list(_programs(document, function, options.seed))
        for program in made:
            judges[f"{program.path}::{program.function}"] = judge
            if program.made in BAD:
                verdict = judge.judge(program.text)
                strong = verdict.passed and verdict.evidence.strength is Strength.STRONG
                found["bad bodies"] += 1
                found["bad bodies passed"] += verdict.passed
                found["bad bodies passed strongly"] += strong
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
