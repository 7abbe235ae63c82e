"""Measures whether completions with a near tie change under another build or batch more often than others.

    python benchmarks/near_ties.py --out exact.json [--model FILE] [--texts N] [--tokens N] [--threads N]
    python benchmarks/near_ties.py --out free.json --free ...
    python benchmarks/near_ties.py --compare exact.json free.json ...

The functions of `exact.py` are completed at temperature 0. The first command writes the exact texts and the
smallest gap between the two likeliest tokens of each; with `LLAMA_CPP_LIB_PATH` (a folder with other
libraries of llama.cpp) it does so with another build. `--free` writes those of calls of nine that are
completely filled, with the fused attention kernel; with `GGML_CPU_TILED_MM=1` also with the tiled kernels:
what most engines do. `--compare` prints how many of the texts with a gap below the first file's rounding
changed, and of the others.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as in the model's own process

from exact import asked
from free_decoding import FreeCompleter

from counterlens.models.base import Api
from counterlens.models.files import embedded_model, identity
from counterlens.models.llama.completing import LlamaCompleter
from counterlens.models.llama.exactness import build, calls_of
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.rounding import rounding_of
from counterlens.models.llama.sequences import SequenceBatch
from counterlens.models.local.completing import Growing
from counterlens.models.local.encoded_prompt import Constraint


def written(path: Path, texts: int, tokens: int, threads: int, *, free: bool) -> dict[str, object]:
    """The texts and smallest gaps, by prompt."""
    engine = Engine(path, threads=threads, context=8192)
    parts = PromptEncoder(engine, Api.COMPLETIONS), engine, Constraint(engine.pieces)
    rounding = 0.0 if free else rounding_of(engine, identity(path))
    exact = LlamaCompleter(*parts, calls=calls_of(engine, identity(path)))
    completer = FreeCompleter(*parts, SequenceBatch(engine, plain=False)) if free else exact
    completer.rounding = float("inf")  # every gap is noted
    made: list[Growing] = []
    begin = completer.begin

    def noted(prompts: object) -> list[Growing]:
        made.extend(growings := begin(prompts))  # type: ignore[arg-type]
        return growings

    completer.begin = noted  # type: ignore[assignment, method-assign]
    every = asked(texts, tokens)
    for at in range(0, len(every), 9):
        completer.complete(every[at : at + 9], lambda *_: None)
        print(f"{at} of {len(every)}", flush=True)
    found = {each.encoded.prompt.text: [each.text, min(each.ties.values(), default=None)] for each in made}
    return {"build": build(), "rounding": rounding, "completions": found}


def compare(exact: Path, others: list[Path]) -> None:
    """Print the shares of changed texts."""
    first = json.loads(exact.read_text())
    for path in others:
        other = json.loads(path.read_text())
        for rounding in sorted({first["rounding"], 0.05, 0.1, 0.2, 0.3, 0.5, 1.0}):
            counts = {True: [0, 0], False: [0, 0]}
            for prompt, (text, gap) in first["completions"].items():
                tied = gap is not None and gap < rounding
                counts[tied][0] += text != other["completions"][prompt][0]
                counts[tied][1] += 1
            mark = " (measured)" if rounding == first["rounding"] else ""
            print(
                f"{path.name}: rounding {rounding:g}{mark}: changed {counts[True][0]} of {counts[True][1]} "
                f"with a near tie, {counts[False][0]} of {counts[False][1]} without"
            )


def main() -> None:
    """Measure, or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compare", type=Path, nargs="+")
    parser.add_argument("--free", action="store_true")
    parser.add_argument("--texts", type=int, default=60)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--model", type=Path, help="GGUF file; default: the embedded model")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.compare:
        compare(options.compare[0], options.compare[1:])
    if options.out:
        model = options.model or embedded_model()
        found = written(model, options.texts, options.tokens, options.threads, free=options.free)
        options.out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
