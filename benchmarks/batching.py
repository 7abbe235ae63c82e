"""Compares probes whose prompts share calls of the model with the same prompts asked one at a time.

    python benchmarks/batching.py [--quick] [--model NAME] [--limit N] [--max-tokens N] [--tasks NAME ...]

Functions of HumanEval, the model on one thread, without cached answers. For each task:

- `before`: one function after the other, and each prompt or text in a call of its own;
- `after`: as in `counterlens bench`, with as many functions in progress as the model decodes sequences.

The records of both must be equal, byte for byte; those of scores (`score`, the task `likelihood`) only up to
the rounding of a group of texts, so the prompts of that task are scored in the same groups.

One JSON line: for each task the processor time of the model's process `before` over `after`, and its mean
`rows` of a step, a call of llama.cpp for next tokens. `rows` is over all tasks.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from threading import Event
from typing import Any

from counterlens.evaluation.engines.gathering import GatheringModel
from counterlens.evaluation.engines.registry import LocalEngine, in_flight, run_local
from counterlens.evaluation.plan import Plan, make_plan
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.evaluation.work import perform
from counterlens.models.base import Completion, Model, Prompt
from counterlens.models.llama.model import LlamaModel
from counterlens.models.llama.protocol import Work
from counterlens.models.wrapped import WrappedModel
from counterlens.probes.record import Record
from counterlens.sandbox.registry import best_sandbox

TASKS = {
    "execution": "execution",
    "runtime": "runtime",
    "output": "output",
    "completion": "completion",
    "score": "likelihood",
}
SHORT = {"completion", "output", "execution", "runtime"}


class OneByOne(WrappedModel):
    """A model that gets one prompt per call; otherwise it is unchanged."""

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        return [answer for prompt in prompts for answer in self.model.complete([prompt], **options)]


def records(plan: Plan, engine: LocalEngine, model: Model, most: int) -> list[Record]:
    """The records of a plan, with some items in progress at a time."""
    cancel, gathering = Event(), GatheringModel(model)
    model = gathering if most > 1 else model

    def probed(item: Item) -> StoredRecord:
        target = plan.target(item)
        return StoredRecord(perform(plan.settings, item.task, target, model, engine.sandbox, cancel))

    done = sorted(
        run_local(plan.items, gathering.counted(probed), cancel, most), key=lambda each: each.item.position
    )
    for each in done:
        if each.error:
            raise each.error
    return [each.record.record for each in done if each.record]


def difference(after: Work, before: Work) -> Work:
    """What a process has decoded in between."""
    return Work(after.steps - before.steps, after.rows - before.rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="eight functions")
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    given = parser.parse_args()
    limit = given.limit or (8 if given.quick else 32)
    engine = LocalEngine(best_sandbox())
    ratios: dict[str, float] = {}
    rows: dict[str, float] = {}
    works: list[Work] = []
    for name in given.tasks:
        options = {"max_tokens": given.max_tokens} if given.max_tokens and name in SHORT else {}
        settings = RunSettings.of((TASKS[name],), "humaneval", options, limit=limit, models=(given.model,))
        settings = replace(settings, threads=1)
        plan = make_plan(settings, engine.sandbox)
        with engine.open(given.model, settings) as model:
            if not isinstance(model, LlamaModel):
                raise SystemExit(f"{given.model} does not run on llama.cpp")
            model.complete([Prompt("x =", 1)])  # the trials of a model that is new here
            begun = model.seconds
            expected = records(plan, engine, OneByOne(model), 1)
            middle, decoded = model.seconds, model.work()
            found = records(plan, engine, model, in_flight(model, engine))
            before, after = middle - begun, model.seconds - middle
            work = difference(model.work(), decoded)
        if found != expected:
            raise SystemExit(f"{name}: other records")
        ratios[name] = round(before / after, 2)
        rows[name] = round(work.rows / work.steps, 1) if work.steps else 0.0
        works.append(work)
        print(f"{name:12} {before:7.1f} s {after:7.1f} s  {work.rows} rows in {work.steps} steps", flush=True)
    steps = sum(work.steps for work in works)
    document = {
        "benchmark": "batching",
        **ratios,
        "rows": round(sum(work.rows for work in works) / steps, 1) if steps else 0.0,
        "rows_of": rows,
        "floors": {"execution": 2, "runtime": 2, "output": 2.5, "completion": 1.3, "score": 1.2, "rows": 16},
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
