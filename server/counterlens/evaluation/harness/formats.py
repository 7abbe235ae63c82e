"""The formats of other harnesses, by name; those of EvalPlus and lm-evaluation-harness are here.

EvalPlus takes programs by problem, which it judges with its own tests. For lm-evaluation-harness a run is an
output folder: aggregated results, and the samples of each task. Originals and counterfactuals are two tasks,
with pass@1 of the greedy completions; that of counterfactuals also has the mutation effect. Standard errors
are derived from the 95 % intervals, so pairs of one function count less than independent ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import counterlens
from counterlens.atomic_file import make_folder
from counterlens.datasets import open_dataset
from counterlens.errors import CounterlensError, DataError
from counterlens.evaluation.comparison import manifest_of
from counterlens.evaluation.harness.inspect_log import inspect_files
from counterlens.evaluation.harness.samples import (
    COUNTERFACTUAL,
    ORIGINAL,
    SIDES,
    HarnessSample,
    HarnessTask,
    file_name,
    harness_tasks,
    standard_error,
)
from counterlens.evaluation.results import RunResults
from counterlens.metrics.effects import Proportion, pooled_share
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.record import SCHEMA
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from counterlens.text import json_text, sha256_of

PASSED, EFFECT = "pass@1", "mutation_effect"
_TARGET = "a program that passes its tests"


def lm_eval_files(run: RunResults) -> Iterator[tuple[Path, str]]:
    """A folder per model, with `results_DATE.json` and `samples_TASK_DATE.jsonl`.

    Raises:
        DataError: the run has no completions of pairs.
    """
    when = datetime.fromisoformat(run.begun) if run.begun else datetime.now(UTC)
    stamp = when.replace(tzinfo=None).isoformat(timespec="seconds").replace(":", "-")
    by_model: dict[str, list[HarnessTask]] = {}
    for task in harness_tasks(run):
        by_model.setdefault(task.model, []).append(task)
    for model, tasks in by_model.items():
        folder = Path(file_name(model))
        yield folder / f"results_{stamp}.json", json_text(_results(run, model, tasks, when)) + "\n"
        for task in tasks:
            for which in SIDES:
                lines = (
                    json.dumps(_sample(number, sample), ensure_ascii=False)
                    for number, sample in enumerate(task.judged(which))
                )
                name = f"samples_{_name(task, which)}_{stamp}.jsonl"
                yield folder / name, "".join(f"{line}\n" for line in lines)


def _results(run: RunResults, model: str, tasks: list[HarnessTask], when: datetime) -> dict[str, Any]:
    sides = {_name(task, which): (task, which) for task in tasks for which in SIDES}
    better = {PASSED: True, EFFECT: False}
    options = run.settings.options
    api, url = run.settings.served(model)
    return {
        "results": {name: _figures(name, *side) for name, side in sides.items()},
        "group_subtasks": {name: [] for name in sides},
        "configs": {
            name: {
                "task": name,
                "output_type": "generate_until",
                "num_fewshot": 0,
                "metric_list": [{"metric": metric} for metric in better],
                "metadata": {
                    "version": float(SCHEMA),
                    "probe": task.task,
                    "options": options.get(task.task, {}),
                    "left_out": task.left_out,
                    "finished": task.finished,
                },
            }
            for name, (task, which) in sides.items()
        },
        "versions": {name: float(SCHEMA) for name in sides},
        "n-shot": dict.fromkeys(sides, 0),
        "higher_is_better": dict.fromkeys(sides, better),
        "n-samples": {
            name: {
                "original": sum(sample.which == which for sample in task.samples),
                "effective": len(task.judged(which)),
            }
            for name, (task, which) in sides.items()
        },
        "config": {
            "model": "counterlens",
            "model_args": {"model": model, "base_url": url, "api": api},
            "limit": run.settings.limit,
            "random_seed": run.settings.seed,
        },
        "git_hash": None,
        "date": when.timestamp(),
        "counterlens": counterlens.__version__,
        "manifest": manifest_of(run, model),
        "model_source": "counterlens",
        "model_name": model,
        "model_name_sanitized": file_name(model),
        "total_evaluation_time_seconds": str(sum(task.seconds for task in tasks)),
    }


def _figures(name: str, task: HarnessTask, which: str) -> dict[str, Any]:
    judged = task.judged(which)
    passed = pooled_share(
        ((sample.item.problem, sample.item.function), bool(sample.right)) for sample in judged
    )
    figures = {"alias": name, "sample_len": len(judged), **_with_error(PASSED, passed)}
    return figures | (_with_error(EFFECT, task.summary.average) if which == COUNTERFACTUAL else {})


def _with_error(metric: str, share: Proportion) -> dict[str, Any]:
    error = standard_error(share)
    return {
        f"{metric},none": "N/A" if share.value is None else share.value,
        f"{metric}_stderr,none": "N/A" if error is None else error,
    }


def _sample(number: int, sample: HarnessSample) -> dict[str, Any]:
    side, written = sample.side, sample.side.completion or ""
    doc = {
        "id": sample.id,
        "problem": sample.item.problem,
        "function": sample.item.function,
        "side": sample.which,
        "mutation": "" if sample.which == ORIGINAL else sample.pair.mutation,
        "description": sample.what,
        "prompt": side.prompt,
    }
    figures: dict[str, Any] = {PASSED: float(bool(sample.right))}
    if sample.effect is not None:
        figures[EFFECT] = sample.effect
    return {
        "doc_id": number,
        "doc": doc,
        "target": _TARGET,
        "arguments": {"gen_args_0": {"arg_0": side.prompt, "arg_1": {"do_sample": False}}},
        "resps": [[written]],
        "filtered_resps": [written],
        "filter": "none",
        "metrics": list(figures),
        "doc_hash": sha256_of(json.dumps(doc, sort_keys=True)),
        "prompt_hash": sha256_of(side.prompt),
        "target_hash": sha256_of(_TARGET),
        **figures,
        "verdict": side.verdict,
        "failed": side.failed,
    }


def _name(task: HarnessTask, which: str) -> str:
    return f"counterlens_{task.task}_{which}"


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
            make_folder(path.parent)
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise CounterlensError(
            f"{folder} cannot be written: {error.strerror or error}", "Choose another folder with --output"
        ) from None
    return [folder / name for name, _ in files]
