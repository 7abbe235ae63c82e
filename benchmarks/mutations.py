"""Measures the cost of all mutations of a file, relative to LibCST's parse of the same file in the same run.

    python benchmarks/mutations.py            # 250, 1,000 and 4,000 lines
    python benchmarks/mutations.py --quick

`read` is parsing, positions and scopes. `all` is everything that a caller waits for: `read`, every mutation,
and the whole source of every counterfactual. `apply` is each mutation at all of its sites, on a parsed
module. `next` is everything for one more function of a file of which another one was asked before. The last
line is one JSON document. Target: at most 15 at 1,000 lines, never above 30, no more at
4,000.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics as sample  # a long module of ordinary code, part of every Python
import sys
import time
from collections.abc import Callable
from itertools import count, cycle
from pathlib import Path

import libcst as cst

from counterlens.mutations import apply_everywhere, survey
from counterlens.python.mutations.language import MUTATIONS
from counterlens.python.mutations.module import Module

LIMIT = 30.0
PART = 120  # lines; longer ones would miss the wanted length by too much


def program(lines: int) -> str:
    """Return a number of lines of real code, repeated from a module of the standard library."""
    tree = cst.parse_module(Path(sample.__file__).read_text(encoding="utf-8"))
    parts = [part for part in map(tree.code_for_node, tree.body) if part.count("\n") <= PART]
    chosen: list[str] = []
    count = 0
    while count < lines:
        for part in parts:
            if count >= lines:
                break
            chosen.append(part)
            count += part.count("\n")
    return "".join(chosen)


def best(work: Callable[[], object], rounds: int) -> float:
    """The shortest of some runs, in seconds, with the least disturbance by other processes."""
    times = []
    for _ in range(rounds):
        gc.collect()
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


FRESH = count()
"""Numbers sources, because what is found in one is kept."""


def everything(source: str) -> int:
    """Make all counterfactuals of a source that was not read before, and count them."""
    surveyed = survey(f"{source}# {next(FRESH)}\n")
    return len(surveyed.counterfactuals) + len(surveyed.refusals)


def measure(lines: int, rounds: int) -> dict[str, float]:
    """All figures for one length."""
    source = program(lines)
    parse = best(lambda: cst.parse_module(source), rounds)
    module = Module(source)
    read = best(lambda: Module(source).scopes, rounds)
    total = best(lambda: everything(source), rounds)
    names = cycle(function.qualname for function in module.functions)
    further = best(lambda: survey(source, function=next(names)), rounds + 1)  # the first one reads the file
    applied = best(lambda: [apply_everywhere(module, name) for name in MUTATIONS], rounds)
    return {
        "lines": source.count("\n"),
        "found": everything(source),
        "parse_ms": round(parse * 1000, 2),
        "read": round(read / parse, 2),
        "all": round(total / parse, 2),
        "apply": round(applied / parse, 2),
        "next": round(further / parse, 2),
    }


def main() -> int:
    """Measure and print; returns 1 if the limit is exceeded."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="use fewer rounds")
    rounds = 3 if parser.parse_args().quick else 7
    ratios = {str(lines): measure(lines, rounds) for lines in (250, 1000, 4000)}
    print(
        f"{'lines':>6}{'found':>8}{'parse ms':>10}{'read':>8}{'all':>8}{'apply':>8}{'next':>8}"
        "   (ratios to the parse)"
    )
    for row in ratios.values():
        print(
            f"{row['lines']:6}{row['found']:8}{row['parse_ms']:10}{row['read']:8}{row['all']:8}{row['apply']:8}{row['next']:8}"
        )
    print(json.dumps({"benchmark": "mutations", "limit": LIMIT, "ratios": ratios}))
    return 0 if all(row["all"] <= LIMIT for row in ratios.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
