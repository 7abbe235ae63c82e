"""A run as logs of Inspect (`inspect view`, `read_eval_log`): its JSON format, version 2, written without it.

A log is of one model and one task. A sample is a prompt; originals and counterfactuals have separate scores,
and a counterfactual of an informative pair also has the mutation effect. A sample that could not be judged
has no score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import counterlens
from counterlens.evaluation.comparison import manifest_of
from counterlens.evaluation.harness.samples import (
    COUNTERFACTUAL,
    ORIGINAL,
    HarnessSample,
    HarnessTask,
    file_name,
    harness_tasks,
    standard_error,
)
from counterlens.evaluation.results import RunResults
from counterlens.metrics.effects import Proportion, pooled_share
from counterlens.text import json_text, sha256_of

VERSION = 2
EFFECT = "mutation_effect"
_SCORER = "counterlens/tests"
_TARGET = "passes its tests"
_RIGHT = {True: "C", False: "I"}


def inspect_files(run: RunResults) -> Iterator[tuple[Path, str]]:
    """A log per model and task, named in Inspect's way.

    Raises:
        DataError: the run has no completions of pairs.
    """
    when = datetime.fromisoformat(run.begun) if run.begun else datetime.now(UTC)
    for task in harness_tasks(run):
        created = when.isoformat(timespec="seconds")
        key = _id(f"{created} {task.task} {task.model} {run.settings.to_json()}")
        name = f"{created.replace(':', '-')}_counterlens-{task.task}-{file_name(task.model)}_{key}.json"
        yield Path(name), json_text(_log(run, task, when, key)) + "\n"


def _log(run: RunResults, task: HarnessTask, when: datetime, key: str) -> dict[str, Any]:
    manifest = manifest_of(run, task.model) or {}
    began, ended = (moment.isoformat() for moment in (when, when + timedelta(seconds=task.seconds)))
    samples = [_sample(harness_sample) for harness_sample in task.samples]
    return {
        "version": VERSION,
        "status": "success" if task.finished else "cancelled",
        "eval": {
            "eval_id": key,
            "run_id": _id(f"run {key}"),
            "task_id": _id(f"task {key}"),
            "created": began,
            "task": f"counterlens/{task.task}",
            "task_version": 0,
            "task_args": dict(run.settings.options.get(task.task, {})),
            "dataset": {
                "name": str(manifest.get("dataset", {}).get("title", run.settings.data)),
                "location": run.settings.data,
                "samples": len(samples),
                "sample_ids": [sample["id"] for sample in samples],
                "shuffled": False,
            },
            "model": _model(task.model),
            "model_base_url": run.settings.served(task.model)[1],
            "model_generate_config": {"temperature": 0.0, "seed": run.settings.seed},
            "config": {"limit": run.settings.limit, "epochs": 1},
            "packages": {"counterlens": str(manifest.get("counterlens", counterlens.__version__))},
            "metadata": {"manifest": manifest, "left_out": task.left_out},
        },
        "plan": {"name": "plan", "steps": [{"solver": f"counterlens/{task.task}", "params": {}}]},
        "results": {
            "total_samples": len(samples),
            "completed_samples": len(samples),
            "scores": _scores(task),
        },
        "stats": {"started_at": began, "completed_at": ended, "model_usage": {}},
        "samples": samples,
    }


def _scores(task: HarnessTask) -> list[dict[str, Any]]:
    shares = {
        which: pooled_share(
            ((sample.item.problem, sample.item.function), bool(sample.right)) for sample in task.judged(which)
        )
        for which in (ORIGINAL, COUNTERFACTUAL)
    }
    scores = [_score(which, "accuracy", share) for which, share in shares.items()]
    return [*scores, _score(EFFECT, "mean", task.summary.average)]


def _score(name: str, metric: str, share: Proportion) -> dict[str, Any]:
    figures = {metric: share.value, "stderr": standard_error(share)}
    return {
        "name": name,
        "scorer": _SCORER,
        "scored_samples": share.n,
        "params": {},
        "metrics": {
            key: {"name": key, "value": value, "params": {}}
            for key, value in figures.items()
            if value is not None
        },
        "metadata": {"interval": [share.low, share.high]},
    }


def _sample(sample: HarnessSample) -> dict[str, Any]:
    side, written = sample.side, sample.side.completion or ""
    answer = {"role": "assistant", "content": written, "source": "generate"}
    stopped = "max_tokens" if side.finish == "length" else "stop"
    return {
        "id": sample.id,
        "epoch": 1,
        "input": side.prompt,
        "target": _TARGET,
        "messages": [{"role": "user", "content": side.prompt, "source": "input"}, answer],
        "output": {
            "model": _model(sample.item.model),
            "choices": [{"message": answer, "stop_reason": stopped}],
            "completion": written,
        },
        "scores": dict(_verdicts(sample)),
        "metadata": {
            "problem": sample.item.problem,
            "function": sample.item.function,
            "side": sample.which,
            "mutation": "" if sample.which == ORIGINAL else sample.pair.mutation,
            "description": sample.what,
            "difference": "" if sample.which == ORIGINAL else "\n".join(sample.pair.diff),
        },
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
    }


def _verdicts(sample: HarnessSample) -> Iterator[tuple[str, Mapping[str, Any]]]:
    side = sample.side
    if sample.right is None:
        return
    explanation = "; ".join(
        filter(None, (f"{side.verdict} by {side.attribution}", side.failed, side.message))
    )
    yield (
        sample.which,
        {"value": _RIGHT[sample.right], "answer": side.completion or "", "explanation": explanation},
    )
    if sample.effect is not None:
        yield EFFECT, {"value": sample.effect, "explanation": f"the pair {sample.pair.outcome}"}


def _model(name: str) -> str:
    """A model's name in Inspect: provider and name."""
    return f"counterlens/{name}"


def _id(text: str) -> str:
    return sha256_of(text)[:22]
