"""The formats of other harnesses, by name; EvalPlus's is here.

EvalPlus takes programs by problem, which it judges with its own tests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from counterlens.datasets import open_dataset
from counterlens.errors import CounterlensError, DataError
from counterlens.evaluation.harness.inspect_log import inspect_files
from counterlens.evaluation.harness.lm_eval import lm_eval_files
from counterlens.evaluation.harness.samples import (
    ORIGINAL,
    SIDES,
    HarnessSample,
    HarnessTask,
    file_name,
    harness_tasks,
)
from counterlens.evaluation.results import RunResults
from counterlens.probes.prompts.gap import Gap
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from counterlens.text import sha256_of

_DATA = ("humaneval", "humanevalplus", "mbpp", "mbppplus", "mbppplus-hub")
_TASK = "completion"


def evalplus_files(run: RunResults) -> Iterator[tuple[Path, str]]:
    """Two files for each model: the programs of originals, and those of counterfactuals.

    A line has `task_id`, `solution` and, for readers, `mutation` and `passed`. The program is the judged one:
    the source with the completion in its hole.

    Args:
        run: The run, with the data on which it was made.

    Raises:
        DataError: the run is of other data than EvalPlus has, of another task, or the data has changed.
    """
    titles = {str(manifest.get("dataset", {}).get("dataset")) for manifest in run.manifests.values()}
    if not titles & {*_DATA}:
        raise DataError(
            f"EvalPlus has no tests for {run.settings.data}",
            f"Export a run of {', '.join(_DATA)}; --format lm-eval and --format inspect support every run",
        )
    tasks = [candidate for candidate in harness_tasks(run) if candidate.task == _TASK]
    if not tasks:
        raise DataError("EvalPlus reads completions only", f"Export a run of the task {_TASK}")
    wanted = {sample.item.problem for task in tasks for sample in task.samples}
    dataset = open_dataset(run.settings.data)
    sources = {problem.id: problem.source for problem in dataset if problem.id in wanted}
    for task in tasks:
        for which in SIDES:
            yield Path(f"{file_name(task.model)}.{which}.jsonl"), _lines(task, which, sources)


def _lines(task: HarnessTask, which: str, sources: Mapping[str, str]) -> str:
    lines = {
        json.dumps(
            {
                "task_id": _name_of(sample.item.problem),
                "solution": _program(sample, sources),
                "mutation": "" if which == ORIGINAL else sample.pair.mutation,
                "passed": sample.right,
            },
            ensure_ascii=False,
        ): None
        for sample in task.samples
        if sample.which == which
    }
    return "".join(f"{line}\n" for line in lines)


def _program(sample: HarnessSample, sources: Mapping[str, str]) -> str:
    """The judged program."""
    problem, pair = sample.item.problem, sample.pair
    source = sources.get(problem)
    if source is None or pair.cut is None or sha256_of(source) != sample.item.source:
        raise DataError(f"{problem} has changed since the run", "The data has changed")
    if sample.which != ORIGINAL:
        source = pair.source(source)
    document = Document(source)
    cut = pair.cut.original if sample.which == ORIGINAL else pair.cut.counterfactual
    gap = Gap.of(document, find_function(document, sample.item.function), cut)
    return gap.fill(sample.side.completion or "")


def _name_of(problem: str) -> str:
    """A problem's id in EvalPlus: `HumanEval/0`, `Mbpp/2`."""
    match = re.search(r"(\w+?)[/_-]?(\d+)$", problem)
    if match is None:
        return problem
    return f"{'HumanEval' if 'human' in match[1].lower() else 'Mbpp'}/{int(match[2])}"


HARNESSES: Mapping[str, Callable[[RunResults], Iterator[tuple[Path, str]]]] = {
    "evalplus": evalplus_files,
    "lm-eval": lm_eval_files,
    "inspect": inspect_files,
}
"""Each returns its files, as paths below a folder, and their texts."""


def export_for(harness: str, run: RunResults, folder: Path) -> list[Path]:
    """Write a run in the format of a harness.

    Args:
        harness: One of `HARNESSES`.
        run: The run, finished or not.
        folder: The folder, created if missing. Files with the same names are overwritten.

    Returns:
        The written files.

    Raises:
        DataError: the run has nothing that the harness could read.
        CounterlensError: the folder cannot be written.
    """
    files = list(HARNESSES[harness](run))
    try:
        for name, text in files:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise CounterlensError(
            f"{folder} cannot be written: {error.strerror or error}", "Choose another folder with --output"
        ) from None
    return [folder / name for name, _ in files]
