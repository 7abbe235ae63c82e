"""Counts the tokens that the pairs of kept runs read and write, by function, and the seconds that they take.

    python benchmarks/record_tokens.py NAME=DATA... [--model FILE.gguf] [--reading N] [--writing N]

NAME is a folder of docs/results/records with a run of completion under the protocol `cacp`, and DATA its
dataset, as for `--data`: kept records have no prompts, so they are made again from the cuts and edits. Each
different prompt of a function counts once, and one of each function a second time, since an endpoint is asked
it twice. The tokens are those of a GGUF file of the model's family. `--reading` and `--writing` are the
tokens per second of the endpoint with all of its requests in progress: measure yours. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.parquet as parquet

from counterlens.datasets.registry import open_dataset
from counterlens.models.code_models import code_model, code_model_here
from counterlens.models.llama.native import Engine

RECORDS = Path(__file__).parents[1] / "docs" / "results" / "records"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="NAME=DATA")
    parser.add_argument("--model", type=Path, help="default: the code model qwen2.5-coder-0.5b")
    parser.add_argument("--reading", type=float, default=3000, help="tokens read per second")
    parser.add_argument("--writing", type=float, default=500, help="tokens written per second")
    arguments = parser.parse_args()
    offered = code_model("qwen2.5-coder-0.5b")
    file = arguments.model or (offered and code_model_here(offered))
    if file is None:
        parser.error("give the file of a model, or get one: counterlens models fetch qwen2.5-coder-0.5b")
    engine = Engine(file, threads=1, context=512)
    rows = {}
    for run in arguments.runs:
        name, _, data = run.partition("=")
        row = counts(name, data, lambda text: tuple(engine.tokenize(text)))
        row["seconds"] = round(row["read"] / arguments.reading + row["written"] / arguments.writing, 2)
        print(name, *(f"{what} {number:,}" for what, number in row.items()), sep="  ", flush=True)
        rows[name] = row
    print(json.dumps({"reading": arguments.reading, "writing": arguments.writing, "runs": rows}))


def counts(name: str, data: str, tokens: Callable[[bytes], tuple[int, ...]]) -> dict[str, float]:
    """Means over the functions of a run: prompts, tokens read, and tokens written.

    A model that keeps every common beginning reads the different tokens only; one on this machine is asked
    each prompt once.

    Args:
        tokens: The tokens of a text.
    """
    problems = {problem.id: problem for problem in open_dataset(data)}
    answers: dict[str, dict[bytes, str]] = defaultdict(dict)
    for pair in parquet.read_table(RECORDS / name / "completion-pairs.parquet").to_pylist():
        problem = problems[pair["problem"]]
        described = f'"""\n{problem.description}\n"""\n'.encode() if problem.description else b""
        source = problem.source.encode()
        for side, text in (("original", source), ("counterfactual", with_edits(source, pair["edits"]))):
            prompt = described + text[: pair["cut"][side]]
            answers[pair["problem"]][prompt] = pair[side]["completion"]
    asked = [[*each.items(), *[*each.items()][:1]] for each in answers.values()]
    return {
        "functions": len(answers),
        "prompts": mean(map(len, asked)),
        "read": mean(sum(len(tokens(prompt)) for prompt, _ in each) for each in asked),
        "different": mean(len(beginnings(map(tokens, each))) for each in answers.values()),
        "once": mean(sum(len(tokens(text.encode())) for text in each.values()) for each in answers.values()),
        "written": mean(sum(len(tokens(text.encode())) for _, text in each) for each in asked),
    }


def beginnings(prompts: Iterable[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """All beginnings of some prompts: one for each token that has to be read after its own beginning."""
    return {prompt[:length] for prompt in prompts for length in range(1, len(prompt) + 1)}


def with_edits(source: bytes, edits: Iterable[Mapping[str, Any]]) -> bytes:
    """A text with edits over byte ranges."""
    for edit in sorted(edits, key=lambda edit: -edit["start"]):
        source = source[: edit["start"]] + edit["text"].encode() + source[edit["end"] :]
    return source


def mean(values: Iterable[int]) -> float:
    """The mean, rounded; 0 of nothing."""
    return round(fmean([*values] or [0]), 1)


if __name__ == "__main__":
    main()
