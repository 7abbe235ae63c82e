"""How many functions a minute does a run get through, over asking and running one after the other.

    python benchmarks/evaluation.py [--quick] [--data NAME_OR_PATH] [--limit N] [--jobs N]

The same functions, the same model process, the same sandbox, nothing cached; three ways in turn:

- `naive`: one function after the other, each prompt in a call of its own (ask, run, ask, run);
- `batched`: one function after the other, its prompts in one call;
- `pipelined`: as `counterlens bench` does it: batched, and while one function waits for the model, others
  run.

`over_naive` is the time of the first over that of the third; `overlap` the time of the second over that of
the third: what overlapping alone wins. All three give a record for each function; batched and pipelined must
give the same ones.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from threading import Event
from typing import Any

from counterlens.evaluation.engines.local import run_local, workers
from counterlens.evaluation.plan import Plan, make_plan
from counterlens.evaluation.run import opened
from counterlens.evaluation.settings import Settings
from counterlens.evaluation.store import Item, Record
from counterlens.evaluation.work import perform
from counterlens.models.base import Completion, Model, Prompt
from counterlens.sandbox.registry import best_sandbox


class OneByOne:
    """A model that is asked for each completion by itself; all else is as the model does it."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        return [answer for prompt in prompts for answer in self._model.complete([prompt], **options)]


def carry_out(plan: Plan, model: Any, jobs: int) -> tuple[float, list[Record]]:
    """Seconds that all items take, and their records in the order of the plan."""
    sandbox, cancel = best_sandbox(), Event()

    def one(item: Item) -> Record:
        return perform(plan.settings, plan.targets[item.problem], model, sandbox, cancel)

    started = time.perf_counter()
    found = {done.item.position: done.record for done in run_local(plan.items, one, cancel, jobs)}
    seconds = time.perf_counter() - started
    return seconds, [record for _, record in sorted(found.items()) if record is not None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="fewer functions, shorter completions, one round"
    )
    parser.add_argument("--data", default="humaneval")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--jobs", type=int, default=workers())
    parser.add_argument("--rounds", type=int)
    given = parser.parse_args()
    limit, rounds = given.limit or (2 if given.quick else 20), given.rounds or (1 if given.quick else 2)
    settings = Settings("completion", given.data, limit=limit, max_tokens=64 if given.quick else 128)
    plan = make_plan(settings, best_sandbox())
    seconds: dict[str, float] = {}
    ways = {"naive": 1, "batched": 1, "pipelined": given.jobs}
    with opened(settings.models[0], settings) as model:
        one_by_one = OneByOne(model)
        first = plan.targets[plan.items[0].problem]
        perform(settings, first, model, best_sandbox())  # start what is kept warm
        for _ in range(rounds):
            records: dict[str, list[Record]] = {}
            for way, jobs in ways.items():
                asked = one_by_one if way == "naive" else model
                took, records[way] = carry_out(plan, asked, jobs)
                seconds[way] = min(took, seconds.get(way, took))
            if records["batched"] != records["pipelined"]:
                raise SystemExit("overlapping changed a record")
    minutes = {way: len(plan.items) / took * 60 for way, took in seconds.items()}
    for way in ways:
        print(f"{way:10} {seconds[way]:7.1f} s {minutes[way]:7.1f} functions a minute")
    ratios = {
        "over_naive": round(seconds["naive"] / seconds["pipelined"], 2),
        "overlap": round(seconds["batched"] / seconds["pipelined"], 2),
    }
    document = {
        "benchmark": "evaluation",
        "ratios": ratios,
        "target": {"over_naive": 1.7},
        "functions": len(plan.items),
        "jobs": given.jobs,
        "functions_a_minute": {way: round(rate, 1) for way, rate in minutes.items()},
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
