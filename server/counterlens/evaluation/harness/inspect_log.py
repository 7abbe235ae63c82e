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
from counterlens.evaluation.circumstances import manifest_of
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


def inspect_files(found: RunResults) -> Iterator[tuple[Path, str]]:
    """A log per model and task, named in Inspect's way.

    Raises:
        DataError: the run has no completions of pairs.
    """
    when = datetime.fromisoformat(found.begun) if found.begun else datetime.now(UTC)
    for task in harness_tasks(found):
        created = when.isoformat(timespec="seconds")
        key = _id(f"{created} {task.task} {task.model} {found.settings.to_json()}")
        name = f"{created.replace(':', '-')}_counterlens-{task.task}-{file_name(task.model)}_{key}.json"
        yield Path(name), json_text(_log(found, task, when, key)) + "\n"


def _log(found: RunResults, task: HarnessTask, when: datetime, key: str) -> dict[str, Any]:
    manifest = manifest_of(found, task.model) or {}
    began, ended = (moment.isoformat() for moment in (when, when + timedelta(seconds=task.seconds)))
    samples = [_sample(one) for one in task.samples]
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
            "task_args": dict(found.settings.options.get(task.task, {})),
            "dataset": {
                "name": str(manifest.get("dataset", {}).get("title", found.settings.data)),
                "location": found.settings.data,
                "samples": len(samples),
                "sample_ids": [sample["id"] for sample in samples],
                "shuffled": False,
            },
            "model": _model(task.model),
            "model_base_url": found.settings.served(task.model)[1],
            "model_generate_config": {"temperature": 0.0, "seed": found.settings.seed},
            "config": {"limit": found.settings.limit, "epochs": 1},
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
            ((one.item.problem, one.item.function), bool(one.right)) for one in task.judged(which)
        )
        for which in (ORIGINAL, COUNTERFACTUAL)
    }
    found = [_score(which, "accuracy", share) for which, share in shares.items()]
    return [*found, _score(EFFECT, "mean", task.summary.average)]


def _score(name: str, metric: str, share: Proportion) -> dict[str, Any]:
    figures = {metric: share.value, "stderr": standard_error(share)}
    return {
        "name": name,
        "scorer": _SCORER,
        "scored_samples": share.n,
        "params": {},
        "metrics": {
            one: {"name": one, "value": value, "params": {}}
            for one, value in figures.items()
            if value is not None
        },
        "metadata": {"interval": [share.low, share.high]},
    }


def _sample(one: HarnessSample) -> dict[str, Any]:
    side, written = one.side, one.side.completion or ""
    answer = {"role": "assistant", "content": written, "source": "generate"}
    stopped = "max_tokens" if side.finish == "length" else "stop"
    return {
        "id": one.id,
        "epoch": 1,
        "input": side.prompt,
        "target": _TARGET,
        "messages": [{"role": "user", "content": side.prompt, "source": "input"}, answer],
        "output": {
            "model": _model(one.item.model),
            "choices": [{"message": answer, "stop_reason": stopped}],
            "completion": written,
        },
        "scores": dict(_verdicts(one)),
        "metadata": {
            "problem": one.item.problem,
            "function": one.item.function,
            "side": one.which,
            "mutation": "" if one.which == ORIGINAL else one.pair.mutation,
            "description": one.what,
            "difference": "" if one.which == ORIGINAL else "\n".join(one.pair.diff),
        },
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
    }


def _verdicts(one: HarnessSample) -> Iterator[tuple[str, Mapping[str, Any]]]:
    side = one.side
    if one.right is None:
        return
    explanation = "; ".join(
        filter(None, (f"{side.verdict} by {side.attribution}", side.failed, side.message))
    )
    yield one.which, {"value": _RIGHT[one.right], "answer": side.completion or "", "explanation": explanation}
    if one.effect is not None:
        yield EFFECT, {"value": one.effect, "explanation": f"the pair {one.pair.outcome}"}


def _model(name: str) -> str:
    """A model's name in Inspect: provider and name."""
    return f"counterlens/{name}"


def _id(text: str) -> str:
    return sha256_of(text)[:22]
