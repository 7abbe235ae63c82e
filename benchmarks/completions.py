"""Checks verdicts on completions of a code model, and whether contested passes are those that are wrong.

    python benchmarks/completions.py FILE.jsonl --data FOLDER
    python benchmarks/completions.py docs/results/records --data FOLDER [--bare]

Each line of the file is a completion: `data` (`humaneval`, `mbpp`, `humaneval-x`: a dataset in the folder),
`task` (the problem's id), `prompt` and `text`. Prompt and text are one program, right or wrong. A folder has
published records: the programs are then the distinct ones that passed in the runs of CACP on HumanEval.

- **Verdicts**: our verdict, and whether program and tests run as one text in a process of their own, which
  bubblewrap keeps from the machine, without anything of ours.
- **Contested passes**: programs that pass HumanEval are run on the inputs of HumanEval+ (`humanevalplus` in
  the folder) beside its reference solution with its contract (assertions that say which inputs a problem is
  about), which is the original here (`--bare` leaves the contract out): how many of those that fail there are
  contested, how many of those that pass, with Wilson's intervals; and for how many of the others a difference
  on an input unlike those of the tests is shown.

The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from counterlens.datasets import open_dataset
from counterlens.datasets.base import Problem
from counterlens.judging.base import LIMITS, Judge, OriginalSays, Setting
from counterlens.judging.languages import judging_of
from counterlens.judging.witnesses import WitnessedJudge
from counterlens.metrics.effects import wilson
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

ISOLATED = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",  # noqa: S108
            "--unshare-all", "--die-with-parent", "--chdir", "/tmp"]  # noqa: S108  # fmt: skip
PLUS = """
import copy, json, math, sys
def load(text, name):
    space = {}
    exec(text, space)
    return space[name]
def same(a, b):
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and (
            math.isclose(a, b, rel_tol=1e-7, abs_tol=max(1e-6, atol)) or a != a and b != b)
    return a == b
program, reference, name, inputs, atol = json.load(sys.stdin)
one, other = load(program, name), load(reference, name)
for given in inputs:
    try:
        wanted = other(*copy.deepcopy(given))
    except Exception:
        continue
    if not same(one(*copy.deepcopy(given)), wanted):
        sys.exit(1)
"""


def passes(program: str, problem: Problem) -> bool:
    """Whether program and tests run as one, in a process of their own."""
    assert problem.tests is not None
    if problem.language == "java":
        return _java(program, problem.tests.text)
    return _run([sys.executable, "-c", f"{program}\n{problem.tests.text}\n"], "")


def _run(command: list[str], given: str, *more: str) -> bool:
    try:
        ran = subprocess.run(
            [*ISOLATED, *more, *command], input=given, text=True, capture_output=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return ran.returncode == 0


def _java(program: str, tests: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        imports = "\n".join(line for line in program.splitlines() if line.startswith("import "))
        (Path(folder) / "Solution.java").write_text(program)
        (Path(folder) / "Main.java").write_text(tests if "import " in tests else f"{imports}\n{tests}")
        script = f"cd {folder} && javac -d /tmp *.java && java -ea -cp /tmp Main"
        return _run(["sh", "-c", script], "", "--ro-bind", folder, folder)


def passes_more(program: str, extra: dict[str, Any]) -> bool:
    """Whether a program gives what the reference gives on the inputs of HumanEval+."""
    inputs = [each for name in ("base_input", "plus_input") for each in _parsed(extra[name])]
    task = [program, reference(extra), extra["entry_point"], inputs, float(extra["atol"] or 0)]
    return _run([sys.executable, "-c", PLUS], json.dumps(task))


def reference(extra: dict[str, Any]) -> str:
    """The reference solution, which refuses inputs that its contract excludes."""
    return str(extra["prompt"] + extra["contract"] + "\n" + extra["canonical_solution"])


def _parsed(inputs: Any) -> Any:
    """The inputs of a record, which some have as text."""
    return json.loads(inputs) if isinstance(inputs, str) else inputs


def published(folder: Path, problems: Mapping[tuple[str, str], Problem]) -> Iterator[dict[str, str]]:
    """The distinct programs that passed in the published runs of CACP on HumanEval, as completions."""
    given: set[tuple[str, str]] = set()
    for file in sorted(folder.glob("cacp-humaneval-*/completion-pairs.parquet")):
        for pair in pq.read_table(file).to_pylist():
            problem = problems["humaneval", pair["problem"].rpartition("/")[2]]
            for side in ("original", "counterfactual"):
                program = _assembled(problem, pair, side)
                if pair[side]["verdict"] == "passed" and (problem.id, program) not in given:
                    given.add((problem.id, program))
                    yield {"data": "humaneval", "task": problem.id, "prompt": program, "text": ""}


def _assembled(problem: Problem, pair: Mapping[str, Any], side: str) -> str:
    """The program of one side of a published pair."""
    assert problem.function is not None
    text, end = problem.source.encode(), find_function(Document(problem.source), problem.function).end
    for edit in sorted(pair["edits"] if side == "counterfactual" else (), key=lambda edit: -edit["start"]):
        new = edit["text"].encode()
        text = text[: edit["start"]] + new + text[edit["end"] :]
        end += len(new) - (edit["end"] - edit["start"])
    return (text[: pair["cut"][side]] + pair[side]["completion"].encode() + text[end:]).decode()


def judge_of(problem: Problem, original: str) -> Judge:
    """The judge by the supplied tests, with both witnesses."""
    assert problem.tests is not None
    assert problem.function is not None
    setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)
    judge = judging_of(problem.language).supplied(problem.tests.text, problem.function, original, setting)
    document = Document(original, None, problem.language)
    return WitnessedJudge(judge, document, find_function(document, problem.function), setting)


def main() -> None:
    """Judge all completions, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("completions", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="a folder with the datasets")
    parser.add_argument("--bare", action="store_true", help="compare with the reference without its contract")
    options = parser.parse_args()
    datasets = {
        "humaneval": "humaneval",
        "mbpp": "mbpp",
        "humaneval-x": "humaneval-x/humaneval_java.jsonl.gz",
    }
    problems = {
        (data, each.id.rpartition("/")[2]): each
        for data, place in datasets.items()
        for each in open_dataset(str(options.data / place))
    }
    with gzip.open(next((options.data / "humanevalplus").glob("*.gz")), "rt") as file:
        extras = {extra["task_id"]: extra for extra in map(json.loads, file)}
    judges: dict[tuple[str, str], Judge] = {}
    counts: Counter[str] = Counter()
    place = options.completions
    completions = (
        published(place, problems) if place.is_dir() else map(json.loads, place.read_text().splitlines())
    )
    for completion in completions:
        data, number = completion["data"], completion["task"].rpartition("/")[2]
        problem = problems.get((data, number))
        if problem is None:
            continue
        program = completion["prompt"] + completion["text"]
        extra = extras[completion["task"]] if data == "humaneval" else None
        original = reference(extra) if extra and not options.bare else problem.source
        judge = judges.get((data, number)) or judge_of(problem, original)
        judges[data, number] = judge
        verdict, plain = judge.judge(program), passes(program, problem)
        counts[f"{data} programs"] += 1
        counts[f"{data} passed"] += plain
        counts["equal" if verdict.passed == plain else "unequal"] += 1
        if verdict.passed != plain:
            print(f"DIFFER {problem.id}: plain {plain}, {verdict}\n{completion['text']}", flush=True)
        if counts.total() % 60 < 3:
            print(dict(counts), flush=True)
        comparison = verdict.evidence.comparison
        if extra is None or comparison is None or not plain:
            continue
        right = passes_more(program, extra)
        kind = "passes HumanEval+" if right else "fails HumanEval+"
        counts[kind] += 1
        counts[f"{kind}, contested"] += verdict.contested
        counts[f"{kind}, differs elsewhere"] += comparison.elsewhere is not None
        if right == (comparison.agreement is OriginalSays.DIFFERS):
            print(f"{kind}: {problem.id}: {comparison}\n{completion['text']}", flush=True)
    for kind in ("fails HumanEval+", "passes HumanEval+"):
        share = wilson(counts[f"{kind}, contested"], counts[kind])
        print(f"{kind}: contested {share.count} of {share.n}, 95 % interval {share.low} to {share.high}")
    print(json.dumps({"benchmark": "completions", **counts}))


if __name__ == "__main__":
    main()
