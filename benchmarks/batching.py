"""Compares probes whose prompts share calls of the model with the same prompts asked one at a time.

    python benchmarks/batching.py [--quick] [--out FILE] [--model NAME] [--limit N] [--max-tokens N]
        [--tasks NAME ...]

Functions of HumanEval, the model on one thread, in a new process each time, without cached answers. For each
task:

- `before`: one function after the other, and each prompt or text in a call of its own;
- `after`: as in `counterlens bench`, with as many functions in progress as the model decodes sequences;
- `bound`: what no order of the prompts could go below: the different tokens of all prompts, each read once in
  long portions, and the decoded tokens in full rows, at the speeds measured in the process of `after`.

The records of both must be equal, byte for byte. Scores (`score`, the task `likelihood`) are equal up to the
rounding of a group of texts only: the mean log-probability of a token of a text differs by at most `nats`.

One JSON line: for each task the processor time of the model's process `before` over `after`; `rows`, the mean
rows of a step, a call of llama.cpp for next tokens; `of_bound`, `after` over `bound`; and `reading`, the part
of `after` in which prompts are read, which no batch makes faster. With `--out`, finished tasks are kept in a
file, and a second run continues there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from counterlens.evaluation.engines.gathering import GatheringModel
from counterlens.evaluation.engines.registry import LocalEngine, in_flight, run_local
from counterlens.evaluation.plan import Plan, make_plan
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.evaluation.work import perform
from counterlens.models.base import Api, Completion, Model, Prompt, TokenScores
from counterlens.models.code_models import code_model, fetch_code_model
from counterlens.models.llama.completing import LlamaCompleter
from counterlens.models.llama.model import LlamaModel
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.protocol import SEQUENCES, Work
from counterlens.models.local.encoded_prompt import Constraint
from counterlens.models.local.model import DEFAULT_CONTEXT
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
QUICK = {"execution": 5, "runtime": 1, "output": 2, "completion": 1, "score": 1}
"""Functions of each task in a quick run: as many prompts as a minute reads."""
QUICK_TOKENS = 24
MOST_NATS = 0.5
LIMIT = 32
FLOORS = {"execution": 2, "runtime": 2, "output": 2.5, "completion": 1.3, "score": 1.2, "rows": 16}


class NotingModel(WrappedModel):
    """A model that notes what it was asked, and the mean log-probability of a token of each scored text."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.prompts: list[Prompt] = []
        self.means: dict[tuple[str, str], float] = {}

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        self.prompts += prompts
        return super().complete(prompts, **options)

    def score_continuations(
        self, context: str, continuations: Sequence[str], **options: Any
    ) -> list[TokenScores]:
        scores = super().score_continuations(context, continuations, **options)
        for text, score in zip(continuations, scores, strict=True):
            self.means[context, text] = float(np.nanmean(score.logprob))
        return scores


class OneByOne(NotingModel):
    """It gets one prompt or text per call."""

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        return [
            answer for prompt in prompts for answer in super(OneByOne, self).complete([prompt], **options)
        ]

    def score_continuations(
        self, context: str, continuations: Sequence[str], **options: Any
    ) -> list[TokenScores]:
        score = super().score_continuations
        unscored = options.pop("unscored", None) or [0] * len(continuations)
        return [
            scores
            for text, read in zip(continuations, unscored, strict=True)
            for scores in score(context, [text], unscored=[read], **options)
        ]


class Counter:
    """Counts the tokens that have to be read for prompts and texts, each beginning once."""

    def __init__(self, spec: str, api: Api) -> None:
        named = code_model(spec)
        path = fetch_code_model(named) if named else Path(spec)
        engine = Engine(path, threads=1, context=DEFAULT_CONTEXT)
        encoder = PromptEncoder(engine, api)
        self._completer = LlamaCompleter(encoder, engine, Constraint(engine.pieces))

    def of_prompts(self, prompts: Sequence[Prompt]) -> int:
        """The number of different tokens of prompts."""
        return self._different(each.encoded.tokens for each in self._completer.begin(prompts))

    def of_texts(self, texts: Iterable[tuple[str, str]]) -> int:
        """The number of different tokens of texts after their contexts."""
        tokenize = self._completer.engine.tokenize
        return self._different(tokenize((context + text).encode()) for context, text in texts)

    @staticmethod
    def _different(sequences: Iterable[Sequence[int]]) -> int:
        tree, count = dict[int, Any](), 0
        for tokens in sequences:
            node = tree
            for token in map(int, tokens):
                count += token not in node
                node = node.setdefault(token, {})
        return count


def speeds(model: LlamaModel) -> dict[str, float]:
    """Tokens per processor second: read in long portions, and in steps with full rows."""
    text, before = Path(__file__).read_text(), model.work()
    model.complete([Prompt(text[:3000], 1)])
    read = difference(model.work(), before)
    before = model.work()
    model.complete([Prompt("x =", candidates=tuple(f" {i}{' + x' * 12}" for i in range(SEQUENCES)))])
    steps = difference(model.work(), before)
    return {"read": read.read / read.reading, "rows": steps.rows / steps.stepping}


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
    return Work(
        after.steps - before.steps,
        after.rows - before.rows,
        after.stepping - before.stepping,
        after.read - before.read,
        after.reading - before.reading,
    )


def measure(name: str, spec: str, limit: int, max_tokens: int | None) -> dict[str, Any]:
    """The processor seconds of one task, before and after, and its bound."""
    engine = LocalEngine(best_sandbox())
    options = {"max_tokens": max_tokens} if max_tokens and name in SHORT else {}
    settings = RunSettings.of((TASKS[name],), "humaneval", options, limit=limit, models=(spec,))
    settings = replace(settings, threads=1)
    plan = make_plan(settings, engine.sandbox)
    with opened(engine, settings, spec) as model:
        begun, single = model.seconds, OneByOne(model)
        expected = records(plan, engine, single, 1)
        before = model.seconds - begun
    with opened(engine, settings, spec) as model:
        begun, decoded, together = model.seconds, model.work(), NotingModel(model)
        got = records(plan, engine, together, in_flight(model, engine))
        after, work = model.seconds - begun, difference(model.work(), decoded)
        speed = speeds(model)
        counter = Counter(spec, Api.named(model.info.api))
    nats = max([abs(mean - together.means[text]) for text, mean in single.means.items()], default=0.0)
    if got != expected if name in SHORT else nats > MOST_NATS:
        raise SystemExit(f"{name}: other answers")
    tokens = counter.of_prompts(single.prompts) + counter.of_texts(single.means)
    bound = tokens / speed["read"] + work.rows / speed["rows"]
    return {
        "functions": limit,
        "max_tokens": max_tokens,
        "before": before,
        "after": after,
        "bound": bound,
        "reading": work.reading if name in SHORT else after,
        "steps": work.steps,
        "rows": work.rows,
        "read": work.read,
        "different": tokens,
        "speeds": speed,
        "nats": nats,
    }


def opened(engine: LocalEngine, settings: RunSettings, spec: str) -> LlamaModel:
    """A model in a new process, after its trials if it is new here."""
    model = engine.open(spec, settings)
    if not isinstance(model, LlamaModel):
        raise SystemExit(f"{spec} does not run on llama.cpp")
    model.complete([Prompt("x =", 1)])
    return model


def stored(path: Path | None) -> dict[str, dict[str, Any]]:
    """The tasks that a file has, by what identifies them."""
    if path is None or not path.exists():
        return {}
    return {line["key"]: line for line in map(json.loads, path.read_text().splitlines())}


def summary(measured: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON line."""
    steps = sum(each["steps"] for each in measured.values())
    rows = sum(each["rows"] for each in measured.values())

    def of_each(first: str, second: str) -> dict[str, float]:
        return {name: round(each[first] / each[second], 2) for name, each in measured.items() if each[second]}

    return {
        "benchmark": "batching",
        **of_each("before", "after"),
        "rows": round(rows / steps, 1) if steps else 0.0,
        "rows_of": of_each("rows", "steps"),
        "of_bound": of_each("after", "bound"),
        "reading": of_each("reading", "after"),
        "nats": round(max(each["nats"] for each in measured.values()), 3),
        "floors": FLOORS,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few functions and short answers")
    parser.add_argument("--out", type=Path, help="file of finished tasks, to continue there")
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--limit", type=int, help=f"functions of each task; default: {LIMIT}")
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    given = parser.parse_args()
    max_tokens = given.max_tokens or (QUICK_TOKENS if given.quick else None)
    known, measured = stored(given.out), dict[str, dict[str, Any]]()
    for name in given.tasks:
        limit = given.limit or (QUICK[name] if given.quick else LIMIT)
        key = f"{given.model} {name} {limit} {max_tokens}"
        if key not in known:
            known[key] = {"key": key, **measure(name, given.model, limit, max_tokens)}
            if given.out:
                with given.out.open("a") as lines:
                    lines.write(json.dumps(known[key]) + "\n")
        each = measured[name] = known[key]
        print(
            f"{name:12} {each['functions']:3} functions: {each['before']:7.1f} s before, "
            f"{each['after']:7.1f} s after, {each['bound']:7.1f} s bound; {each['read']} tokens read of "
            f"{each['different']} different, {each['rows']} rows in {each['steps']} steps",
            flush=True,
        )
    print(json.dumps(summary(measured)))


if __name__ == "__main__":
    main()
