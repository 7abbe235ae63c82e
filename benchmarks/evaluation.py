"""Compares the throughput of runs: one function after the other, overlapping, and on a Ray cluster.

    python benchmarks/evaluation.py [--quick] [--data NAME_OR_PATH] [--limit N]

The same functions, model and sandbox, without caches, in turn:

- `naive`: one function after the other, each prompt in a separate call (complete, judge, complete, judge);
- `batched`: one function after the other, its prompts in one call;
- `pipelined`: as in `counterlens bench`: batched, and while one function waits for the model, others run;
- `ray`: the same on a Ray cluster of this machine alone, with one replica of the model;
- `twice`: pipelined, every function twice;
- `one replica`, `two replicas`: on Ray, each with one thread.

The time to start the cluster and to load models is excluded. Ratios of times: `over_naive` is the first over
the third; `overlap` the second over the third, the gain from overlapping alone; `ray_over_local` the fourth
over the third; `growth` twice the functions over twice the time of once (1: linear); `two_replicas` one
replica over two. Every way gives a record for each function; the records must be equal, except in naive and
those with one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event
from typing import Any

from counterlens.evaluation.engines.base import EvaluationEngine
from counterlens.evaluation.engines.ray.engine import RayEngine
from counterlens.evaluation.engines.registry import LocalEngine, in_flight, run_local
from counterlens.evaluation.plan import Plan, make_plan
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.evaluation.work import perform
from counterlens.models.base import Completion, Prompt
from counterlens.models.wrapped import WrappedModel
from counterlens.probes.record import Record
from counterlens.sandbox.registry import best_sandbox

SAME = ("batched", "pipelined", "ray")


class OneByOne(WrappedModel):
    """A model that gets one prompt per call; otherwise it is unchanged."""

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        return [answer for prompt in prompts for answer in self.model.complete([prompt], **options)]


class Bench:
    """One engine with its plan and its model, ready to be timed.

    Args:
        engine: The engine.
        settings: The settings of the run.
    """

    def __init__(self, engine: EvaluationEngine, settings: RunSettings) -> None:
        self.engine, self.settings = engine, settings
        self.plan: Plan = make_plan(settings, engine.sandbox)
        self.model = engine.open(settings.models[0], settings)
        self.records(self.plan.items[:1], self.model, 1)  # start the waiting processes

    def records(self, items: Sequence[Item], model: Any, most: int | None = None) -> list[Record | None]:
        """Process items, and return their records in the order of the plan."""
        cancel, most = Event(), most or in_flight(self.model, self.engine)

        def probed(item: Item) -> StoredRecord:
            target = self.plan.target(item)
            return StoredRecord(
                perform(self.settings, item.task, target, model, self.engine.sandbox, cancel), 0
            )

        found = {done.item.position: done.record for done in run_local(items, probed, cancel, most)}
        return [kept and kept.record for _, kept in sorted(found.items())]


def timed(
    ways: dict[str, Callable[[], list[Record | None]]], rounds: int
) -> tuple[dict[str, float], dict[str, list[Record | None]]]:
    """The shortest time of each way in seconds, measured in turn, and its last records."""
    seconds: dict[str, float] = {}
    records: dict[str, list[Record | None]] = {}
    for _ in range(rounds):
        for way, go in ways.items():
            started = time.perf_counter()
            records[way] = go()
            took = time.perf_counter() - started
            seconds[way] = min(took, seconds.get(way, took))
    return seconds, records


def on_this_machine(settings: RunSettings, rounds: int, *, twice: bool) -> tuple[Any, Any]:
    """The ways without a cluster; optionally with every function twice."""
    here = Bench(LocalEngine(best_sandbox()), settings)
    items = here.plan.items
    again = [*items, *(replace(item, position=item.position + len(items)) for item in items)]
    with here.model as model:
        ways = {
            "naive": lambda: here.records(items, OneByOne(model), 1),
            "batched": lambda: here.records(items, model, 1),
            "pipelined": lambda: here.records(items, model),
        }
        if twice:
            ways["twice"] = lambda: here.records(again, model)
        return timed(ways, rounds)


def on_ray(way: str, settings: RunSettings, replicas: int, rounds: int) -> tuple[Any, Any]:
    """One way on a cluster of only this machine."""
    with RayEngine(best_sandbox(), replicas=replicas) as engine:
        there = Bench(engine, settings)
        with there.model as model:
            return timed({way: lambda: there.records(there.plan.items, model)}, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="use two functions, short completions, one round, no cluster"
    )
    parser.add_argument("--data", default="humaneval")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--max-tokens", type=int, help="maximum number of tokens per completion")
    given = parser.parse_args()
    limit, rounds = given.limit or (2 if given.quick else 20), given.rounds or (1 if given.quick else 2)
    most = given.max_tokens or (32 if given.quick else 128)
    settings = RunSettings.of(("completion",), given.data, {"max_tokens": most}, limit=limit)
    alone = replace(settings, threads=1)
    seconds, records = on_this_machine(settings, rounds, twice=not given.quick)
    clusters = (("ray", settings, 1), ("one replica", alone, 1), ("two replicas", alone, 2))
    for way, asked, replicas in () if given.quick else clusters:
        took, found = on_ray(way, asked, replicas, rounds)
        seconds, records = seconds | took, records | found
    for way in (way for way in SAME if way in records):
        if records[way] != records["pipelined"] or None in records[way]:
            raise SystemExit(f"{way}: other records, or none")
    functions = len(records["pipelined"])
    minutes = {way: len(records[way]) / took * 60 for way, took in seconds.items()}
    for way, rate in minutes.items():
        print(f"{way:12} {seconds[way]:7.1f} s {rate:7.1f} functions per minute")
    ratios = {
        "over_naive": seconds["naive"] / seconds["pipelined"],
        "overlap": seconds["batched"] / seconds["pipelined"],
    }
    if not given.quick:
        ratios["growth"] = seconds["twice"] / seconds["pipelined"] / 2
        ratios["ray_over_local"] = seconds["ray"] / seconds["pipelined"]
        ratios["two_replicas"] = seconds["one replica"] / seconds["two replicas"]
    document = {
        "benchmark": "evaluation",
        "ratios": {name: round(ratio, 2) for name, ratio in ratios.items()},
        "target": {"over_naive": 1.7},
        "functions": functions,
        "functions_a_minute": {way: round(rate, 1) for way, rate in minutes.items()},
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
