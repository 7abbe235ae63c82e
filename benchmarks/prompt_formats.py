"""Measures in which prompt format a model completes most functions rightly: its default of `--api`.

    python benchmarks/prompt_formats.py --model M [--data humaneval] [--limit 40] [--threads N] [--api A]

The second half of the lines of each function is removed, as for a pair of the completion probe. The model
completes it in every format that it supports, and the tests of the data judge the results. `gained` and
`lost` are the functions that pass only in this format, and only as plain completions; `p` is the exact
McNemar test of their difference. The default is the plain completion, which costs least, unless another
format gains clearly more than it loses.
"""

from __future__ import annotations

import argparse
import json
import time

from scipy.stats import binomtest

from counterlens.datasets.registry import open_dataset
from counterlens.errors import ModelError
from counterlens.metrics.bootstrap import wilson_interval
from counterlens.models import load
from counterlens.models.base import APIS, Api
from counterlens.models.registry import Options
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.probe import Target
from counterlens.probes.prompts.function_text import behind_docstring
from counterlens.probes.prompts.gap import Gap
from counterlens.progress import Steps
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.functions import find_function
from counterlens.text import line_start

TOKENS = 256


def half(target: Target) -> Gap:
    """The hole of the second half of a function's lines, without its docstring."""
    document = target.document
    function = find_function(document, target.qualname)
    body = behind_docstring(document, function)
    lines = document.data[body : function.end].decode().splitlines(keepends=True)
    kept = "".join(lines[: (len(lines) + 1) // 2]) if len(lines) > 1 else ""
    return Gap.of(document, function, line_start(document.data, body + len(kept.encode())))


def passed(model: str, api: Api, targets: list[Target], threads: int) -> list[bool] | None:
    """Whether each function passes its tests; None if the model does not support the format."""
    gaps = [half(target) for target in targets]
    try:
        with load(model, Options(api=api, threads=threads)) as loaded:
            answers = loaded.complete([gap.prompt(TOKENS) for gap in gaps])
    except ModelError as error:
        print(f"{model} {api}: {error.message}", flush=True)
        return None
    right = []
    for target, gap, answer in zip(targets, gaps, answers, strict=True):
        function = find_function(target.document, target.qualname)
        judging = Judging(target.judge, target.document, function, Steps())
        right.append(judging.answer(gap, answer).passed)
    return right


def main() -> None:
    """Print a row per format."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", default="humaneval")
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--api", choices=APIS, action="append", help="only this one (repeatable)")
    given = parser.parse_args()
    dataset = open_dataset(given.data)
    targets = list(targets_of(dataset, limit=given.limit, seed=given.seed, sandbox=best_sandbox()))
    plain: list[bool] = []
    shares = {}
    for api in map(Api, given.api or APIS):
        started = time.perf_counter()
        right = passed(given.model, api, targets, given.threads)
        if right is None:
            continue
        plain = plain or right
        gained = sum(new and not old for new, old in zip(right, plain, strict=True))
        lost = sum(old and not new for new, old in zip(right, plain, strict=True))
        p = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
        low, high = wilson_interval(sum(right) / len(right), len(right))
        shares[api] = round(sum(right) / len(right), 3)
        print(
            f"{given.model:24} {api:12} {sum(right)} of {len(right)} [{low:.0%}, {high:.0%}], "
            f"gained {gained}, lost {lost}, p {p:.2f}, {time.perf_counter() - started:.0f} s",
            flush=True,
        )
    print(json.dumps({"benchmark": "prompt_formats", "model": given.model, "passed": shares}))


if __name__ == "__main__":
    main()
