"""Compares probes whose prompts share calls of the model with the same prompts asked one at a time.

    python benchmarks/batching.py [--quick] [--out FILE] [--model NAME] [--functions N] [--max-tokens N]
        [--tasks NAME ...]

Functions of HumanEval, the model on one thread, without cached answers; `--quick` takes the shortest one and
one mutation, and shows whether answers are equal rather than how much is saved. For each task:

- `before`: one function after the other; each prompt, each candidate of a closed question and each text in a
  call of its own, so that a step has one row; and all tokens of a text are scored;
- `after`: as in `counterlens bench`, with as many functions in progress as the model decodes sequences;
- `bound`: what no order of the prompts could go below: the different tokens of all prompts, each read once in
  long portions, and the decoded tokens in full rows, at the speeds measured in the process of `after`.

The records of both must be equal, byte for byte. Scores (`score`, the task `likelihood`) are equal up to the
rounding of a group of texts only: the log-probabilities of the tokens of a text differ by at most `nats` on
average.

The last line is JSON: for each task the processor time of the model's process `before` over `after`;
`functions`, their number; `rows`, the mean rows of a step, a call of llama.cpp for next tokens; `allowed`,
`before` over `bound`; `of_bound`, `after` over `bound`; and `reading`, the part of `after` in which prompts
are read, which no batch makes faster; `floors` are for eight functions. With `--out`, finished tasks are kept
in a file, and a second run continues there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

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
from counterlens.probes.registry import PROBES
from counterlens.sandbox.registry import best_sandbox

TASKS = {
    "execution": "execution",
    "runtime": "runtime",
    "output": "output",
    "completion": "completion",
    "score": "likelihood",
}
SHORT = {"completion", "output", "execution", "runtime"}
QUICK_OPTIONS = {"max_tokens": 8, "mutations": ("operand-swap",)}
FUNCTIONS = 8
AMONG = 32
"""Functions of which a quick run takes the shortest: a minute reads and decodes the prompts of no more."""
MOST_NATS = 0.5
FLOORS = {"execution": 2, "runtime": 2, "output": 2.5, "completion": 1.3, "score": 1.2, "rows": 16}


class NotingModel(WrappedModel):
    """A model that notes what it was asked, and the log-probabilities of the tokens of each scored text."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.prompts: list[Prompt] = []
        self.scores: dict[tuple[str, str], npt.NDArray[np.float64]] = {}

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        self.prompts += prompts
        return super().complete(prompts, **options)

    def score_continuations(
        self, context: str, continuations: Sequence[str], **options: Any
    ) -> list[TokenScores]:
        scores = super().score_continuations(context, continuations, **options)
        for text, score in zip(continuations, scores, strict=True):
            self.scores[context, text] = score.logprob
        return scores


class OneByOne(NotingModel):
    """It gets one prompt, one candidate or one text per call, and scores all tokens of a text."""

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        return [self._completed(prompt, options) for prompt in prompts]

    def _completed(self, prompt: Prompt, options: dict[str, Any]) -> Completion:
        each = [replace(prompt, candidates=(candidate,)) for candidate in prompt.candidates] or [prompt]
        answers = [super(OneByOne, self).complete([alone], **options)[0] for alone in each]
        if not prompt.candidates:
            return answers[0]
        logprobs = tuple(answer.candidates[0] for answer in answers)
        return replace(answers[0], text=prompt.candidates[logprobs.index(max(logprobs))], candidates=logprobs)

    def score_continuations(
        self, context: str, continuations: Sequence[str], **options: Any
    ) -> list[TokenScores]:
        score, _ = super().score_continuations, options.pop("unscored", None)
        return [scores for text in continuations for scores in score(context, [text], **options)]


class Counter:
    """Counts the tokens that have to be read for prompts and texts, each beginning once in all tasks."""

    def __init__(self, spec: str, api: Api) -> None:
        named = code_model(spec)
        path = fetch_code_model(named) if named else Path(spec)
        engine = Engine(path, threads=1, context=DEFAULT_CONTEXT)
        encoder = PromptEncoder(engine, api)
        self._completer = LlamaCompleter(encoder, engine, Constraint(engine.pieces))
        self._read: dict[int, Any] = {}

    def of_prompts(self, prompts: Sequence[Prompt]) -> int:
        """The number of new tokens of prompts."""
        return self._new(self._read, (each.encoded.tokens for each in self._completer.begin(prompts)))

    def of_texts(self, texts: Iterable[tuple[str, str]]) -> int:
        """The number of different tokens of texts after their contexts."""
        tokenize = self._completer.engine.tokenize
        return self._new({}, (tokenize((context + text).encode()) for context, text in texts))

    @staticmethod
    def _new(tree: dict[int, Any], sequences: Iterable[Sequence[int]]) -> int:
        count = 0
        for tokens in sequences:
            node = tree
            for token in map(int, tokens):
                count += token not in node
                node = node.setdefault(token, {})
        return count


@dataclass(frozen=True)
class Speeds:
    """Tokens per processor second: read in long portions, and in steps with full rows."""

    read: float
    rows: float

    @classmethod
    def of(cls, model: LlamaModel) -> Speeds:
        text, before = Path(__file__).read_text(), model.work()
        model.complete([Prompt(text[:450], 1)])
        read = difference(model.work(), before)
        before = model.work()
        model.complete([Prompt("x =", candidates=tuple(f" {i}{' + x' * 2}" for i in range(SEQUENCES)))])
        steps = difference(model.work(), before)
        return cls(read.read / read.reading, steps.rows / steps.stepping)


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


class Comparison:
    """One model in two processes: for single prompts, and for those of many functions together."""

    def __init__(self, spec: str) -> None:
        self._spec, self._engine = spec, LocalEngine(best_sandbox())

    @cached_property
    def _single(self) -> LlamaModel:
        return self._opened()

    @cached_property
    def _together(self) -> LlamaModel:
        return self._opened()

    @cached_property
    def _speeds(self) -> Speeds:
        return Speeds.of(self._together)

    @cached_property
    def _counter(self) -> Counter:
        return Counter(self._spec, Api.named(self._together.info.api))

    def _opened(self) -> LlamaModel:
        """A model in a new process, after its trials if it is new here."""
        model = self._engine.open(self._spec, self._settings("completion", {}))
        if not isinstance(model, LlamaModel):
            raise SystemExit(f"{self._spec} does not run on llama.cpp")
        model.complete([Prompt("x =", 1)])
        return model

    def _settings(self, name: str, given: Mapping[str, Any], limit: int = 1) -> RunSettings:
        known = PROBES[TASKS[name]].options.__dataclass_fields__
        options = {option: value for option, value in given.items() if option in known}
        settings = RunSettings.of((TASKS[name],), "humaneval", options, limit=limit, models=(self._spec,))
        return replace(settings, threads=1)

    def measure(
        self, name: str, functions: int, options: Mapping[str, Any], among: int = 0
    ) -> dict[str, Any]:
        """The processor seconds of one task, before and after, and its bound.

        Args:
            among: Number of functions of which the shortest are taken; 0 for the first ones.
        """
        settings = self._settings(name, options, max(functions, among))
        plan = make_plan(settings, self._engine.sandbox)
        if among:
            shortest = sorted(plan.items, key=lambda item: len(plan.target(item).document.text))
            plan = replace(plan, items=tuple(shortest[:functions]))
        begun, single = self._single.seconds, OneByOne(self._single)
        expected = records(plan, self._engine, single, 1)
        before = self._single.seconds - begun
        speeds, model, together = self._speeds, self._together, NotingModel(self._together)
        begun, decoded = model.seconds, model.work()
        got = records(plan, self._engine, together, in_flight(model, self._engine))
        work = difference(model.work(), decoded)
        after = model.seconds - begun
        nats = max(
            [abs(float(np.nanmean(all_ - together.scores[text]))) for text, all_ in single.scores.items()],
            default=0.0,
        )
        if got != expected if name in SHORT else nats > MOST_NATS:
            raise SystemExit(f"{name}: other answers")
        tokens = self._counter.of_prompts(together.prompts) + self._counter.of_texts(together.scores)
        return {
            "functions": len(plan.items),
            "before": before,
            "after": after,
            "bound": tokens / speeds.read + work.rows / speeds.rows,
            "reading": work.reading if name in SHORT else after,
            "steps": work.steps,
            "rows": work.rows,
            "read": work.read,
            "different": tokens,
            "speeds": asdict(speeds),
            "nats": nats,
        }

    def close(self) -> None:
        """End the processes that were started."""
        for name in ("_single", "_together"):
            if name in self.__dict__:
                getattr(self, name).close()


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
        "ratios": of_each("before", "after"),
        **of_each("before", "after"),
        "rows": round(rows / steps, 1) if steps else 0.0,
        "rows_of": of_each("rows", "steps"),
        "of_bound": of_each("after", "bound"),
        "allowed": of_each("before", "bound"),
        "reading": of_each("reading", "after"),
        "functions": {name: each["functions"] for name, each in measured.items()},
        "nats": round(max(each["nats"] for each in measured.values()), 3),
        "floors": FLOORS,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one function and short answers")
    parser.add_argument("--out", type=Path, help="file of finished tasks, to continue there")
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--functions", type=int, help=f"functions of each task; default: {FUNCTIONS}")
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    given = parser.parse_args()
    options, among = (QUICK_OPTIONS, AMONG) if given.quick else ({}, 0)
    if given.max_tokens:
        options = {**options, "max_tokens": given.max_tokens}
    known, measured = stored(given.out), dict[str, dict[str, Any]]()
    comparison = Comparison(given.model)
    for name in given.tasks:
        functions = given.functions or (1 if given.quick else FUNCTIONS)
        key = f"{given.model} {name} {functions} of {among} {options}"
        if key not in known:
            known[key] = {"key": key, **comparison.measure(name, functions, options, among)}
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
    comparison.close()
    print(json.dumps(summary(measured)))


if __name__ == "__main__":
    main()
