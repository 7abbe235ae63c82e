"""Asks the papers' questions about code that a model can have seen, and about code that it cannot.

    python benchmarks/recognition.py fetch FOLDER
    python benchmarks/seen_and_fresh.py effects FOLDER OUT --model NAME [--model NAME] [--functions N]
    python benchmarks/seen_and_fresh.py functions FOLDER OUT

Both take the matched functions of `recognition.py`. `effects` runs the completion probe on each, judged by
its behaviour or its doctests, with two placebos, and adds the verdicts to `OUT/MODEL.jsonl`, pair by pair; it
goes on where it was interrupted, and several models take turns. `functions` writes all usable functions
alone, as `OUT/fresh.jsonl` and `OUT/older.jsonl` in the format of CodeSearchNet, for `counterlens bench
--protocol astxplainer --task confidence --data codesearchnet:OUT/fresh.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import cache
from pathlib import Path
from textwrap import dedent

from recognition import PER_PACKAGE, Candidate, candidates, matched_pairs, write_manifest

from counterlens.models.base import Model
from counterlens.models.registry import Options, load
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.probe import Context
from counterlens.probes.runner import run_probe
from counterlens.sandbox.registry import best_sandbox

OPTIONS = CompletionOptions(placebos=2, max_tokens=128)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["effects", "functions"])
    parser.add_argument("folder", type=Path, help="the packages that `recognition.py fetch` has fetched")
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", action="append", default=[], help="NAME, or SHORT=PATH for a file")
    parser.add_argument("--functions", type=int, default=60, help="fresh functions, and as many seen ones")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.action == "effects":
        measure_effects(given.folder, given.out, given.model, given.functions, given.threads)
    else:
        write_functions(given.folder, given.out)


def measure_effects(folder: Path, out: Path, models: Sequence[str], functions: int, threads: int) -> None:
    """Probe the functions that have no line yet."""
    pairs = matched_pairs(folder)[:functions]
    print(len(pairs), "pairs", flush=True)
    with ExitStack() as stack:
        opened = {}
        for named in models:
            short, _, path = named.partition("=")
            options = Options(threads=threads, context=4096)
            opened[short] = stack.enter_context(load(path or short, options))
            write_manifest(out / f"{short}.jsonl", pairs, {"completion": asdict(OPTIONS)})
        for fresh, seen in pairs:
            for short, model in opened.items():
                for each in (fresh, seen):
                    _measure(out / f"{short}.jsonl", model, each)


def _measure(file: Path, model: Model, candidate: Candidate) -> None:
    name = f"{candidate.source}/{candidate.package}::{candidate.target.name}"
    known = file.read_text().splitlines() if file.exists() else []
    if any(json.loads(line)["name"] == name for line in known):
        return
    context = Context(model, cache(best_sandbox), vetted=True, unjudged=False)
    record = run_probe(CompletionProbe(), context, candidate.target, OPTIONS)
    judged = record if isinstance(record, PairsRecord) else None
    line = {
        "name": name,
        "source": candidate.source,
        "package": candidate.package,
        "identity": model.info.identity,
        "outcome": record.outcome,
        "reason": record.reason,
        "judged_by": judged.judged_by if judged else None,
        "pairs": [_verdicts(pair) for pair in judged.pairs] if judged else [],
        "placebos": [_verdicts(pair) for pair in judged.placebos] if judged else [],
    }
    with file.open("a") as opened:
        opened.write(json.dumps(line) + "\n")
    print(file.stem, name, record.outcome, line["judged_by"], record.reason, flush=True)


def _verdicts(pair: PairRecord) -> dict[str, str | bool | None]:
    return {
        "mutation": pair.mutation,
        "concept": pair.concept,
        "original_right": pair.original_right,
        "counterfactual_right": pair.counterfactual_right,
        "contested": pair.contested,
        "copied": pair.copied,
        "discriminating": pair.discriminating,
    }


def write_functions(folder: Path, out: Path) -> None:
    """Write at most `PER_PACKAGE` functions of each fresh and each older package, alone."""
    known = list(candidates(folder))
    random.Random(0).shuffle(known)  # noqa: S311 - no secret
    for source in ("fresh", "older"):
        used = dict[str, int]()
        lines = []
        for each in known:
            if each.source != source or used.get(each.package, 0) >= PER_PACKAGE:
                continue
            used[each.package] = used.get(each.package, 0) + 1
            lines.append(_codesearchnet(each))
        (out / f"{source}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        print(source, len(lines), "functions of", len(used), "packages")


def _codesearchnet(candidate: Candidate) -> dict[str, str]:
    path, _, qualname = candidate.target.name.partition("::")
    return {
        "repo": candidate.package,
        "path": path,
        "func_name": qualname,
        "original_string": dedent(" " * _indent(candidate) + candidate.text),
        "language": "python",
        "docstring": "",
    }


def _indent(candidate: Candidate) -> int:
    """The columns before the function's first word in its file."""
    source = candidate.target.document.text
    start = source.find(candidate.text)
    return start - (source.rfind("\n", 0, start) + 1)


if __name__ == "__main__":
    main()
