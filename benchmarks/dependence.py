"""Measures the cost of dependence analysis relative to beniget's def-use chains, on the same files.

    python benchmarks/dependence.py            # 60 modules of the standard library, and four lengths
    python benchmarks/dependence.py --quick
    python benchmarks/dependence.py --errors   # only check that the whole standard library is analysed

`ours` covers every function of a file and its module level: graphs, control and data dependence, all edges.
`beniget` is only its `DefUseChains`, which covers the names of all functions in one walk. Each includes its
parser: `ast.parse`, and `gast.parse`. Target: a ratio of 3, never above 6. Growth is the time per statement
of one function of a given length, as a ratio to that of 100 statements. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import io
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from counterlens.errors import SourceError
from counterlens.python.dependence.program import Program
from counterlens.text import decode

LIBRARY = Path(ast.__file__).parent
MOST = 6.0
MOST_GROWTH = 3.0
LENGTHS = (100, 500, 1000, 5000)


def modules(*, tests: bool) -> list[Path]:
    """The modules of the standard library."""
    skipped = {"site-packages", "lib2to3"} | (set() if tests else {"test", "tests", "idle_test"})
    return [path for path in sorted(LIBRARY.rglob("*.py")) if not skipped & set(path.parts)]


def best(work: Callable[[], object], rounds: int) -> float:
    """The shortest of some runs, in seconds of this process's processor time: others do not count."""
    times = []
    for _ in range(rounds):
        gc.collect()
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def ours(source: str) -> int:
    """Analyse every function of a source, and return their number."""
    count = 0
    for found in Program(source).all():
        found.edges  # noqa: B018 - computed when asked for
        count += 1
    return count


def theirs(source: str) -> None:
    """Let beniget find the def-use chains; its messages about unbound names are dropped."""
    import beniget
    import gast

    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        beniget.DefUseChains().visit(gast.parse(source))


def compare(count: int, rounds: int) -> dict[str, float]:
    """Measure both on the same modules; those on which beniget fails are left out."""
    known = modules(tests=False)
    chosen = known[:: len(known) // count][:count]
    totals = {"files": 0.0, "functions": 0.0, "left_out": 0.0, "ours_s": 0.0, "beniget_s": 0.0}
    for path in chosen:
        source = decode(path.read_bytes()).text
        try:
            beniget = best(lambda source=source: theirs(source), rounds)  # type: ignore[misc]
        except Exception:
            totals["left_out"] += 1
            continue
        totals["ours_s"] += best(lambda source=source: ours(source), rounds)  # type: ignore[misc]
        totals["beniget_s"] += beniget
        totals["functions"] += ours(source)
        totals["files"] += 1
    totals["functions_per_s"] = totals["functions"] / totals["ours_s"]
    totals["ratio"] = totals["ours_s"] / totals["beniget_s"]
    return {name: round(value, 2) for name, value in totals.items()}


def program(statements: int) -> str:
    """One function of about the given number of statements: loops, branches, handlers, objects, twenty names.

    Names are bound again in each part; otherwise every change of an object would reach all later parts, and
    the number of edges would grow with the square of the length.
    """
    part = """
    c{1}, b{1} = [a{1}, b{1}], a{2}
    c{0}, b{2} = dict(b{0}=a{2}), b{0}
    b{0} = a{0} = c{2} = b{1} + b{2}
    for a{0} in c{1}:
        if a{0} > b{1}:
            b{0} = a{0} + c{2}
            c{1}.append(b{0})
        elif a{0} == b{2}:
            continue
        else:
            c{0}[b{1}] = a{1}
        try:
            b{2} = int(a{0})
        except ValueError:
            break
    a{2} = sum(b{0} for b{0} in c{1})"""
    count = max(1, statements // 16)
    body = "".join(part.format(n % 7, (n * 3 + 1) % 7, (n * 5 + 2) % 7) for n in range(count))
    return f"def f({', '.join(f'a{n}, b{n}, c{n}' for n in range(7))}):{body}\n"


def growth(rounds: int) -> dict[str, float]:
    """The time per statement for each length, as a ratio to that of the shortest."""
    each = {}
    for length in LENGTHS:
        source = program(length)
        statements = len(Program(source).dependences("f").statements)
        spent = best(lambda source=source: Program(source).dependences("f").edges, rounds)  # type: ignore[misc]
        each[str(length)] = spent / statements
    return {length: round(value / each[str(LENGTHS[0])], 2) for length, value in each.items()}


def errors() -> dict[str, object]:
    """Analyse every function of the standard library, its own tests included."""
    functions, unparsed, failed = 0, 0, []
    for path in modules(tests=True):
        try:
            program = Program(decode(path.read_bytes(), path.name).text)
        except SourceError:
            unparsed += 1  # intentionally invalid, for the parser's tests
            continue
        try:
            for found in program.all():
                functions += len(found.edges) >= 0 and len(found.statements) >= 0
        except Exception as error:
            failed.append(f"{path}: {error!r}")
    return {"functions": functions, "unparsed_files": unparsed, "failed": failed}


def main() -> int:
    """Measure and print; returns 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="use fewer files and rounds")
    parser.add_argument(
        "--errors",
        action="store_true",
        help="only check that every function of the standard library is analysed",
    )
    given = parser.parse_args()
    if given.errors:
        found = errors()
        print(json.dumps({"benchmark": "dependence_errors", **found}))
        return int(bool(found["failed"]))
    compared = compare(20 if given.quick else 60, 1 if given.quick else 3)
    grown = growth(1 if given.quick else 4)
    print("  ".join(f"{name} {value:g}" for name, value in compared.items()))
    print("growth of the time per statement: " + "  ".join(f"{n}: {value:g}" for n, value in grown.items()))
    limits = {"ratio": MOST, "growth": MOST_GROWTH}
    ratios = {"over_beniget": compared["ratio"], "growth": max(grown.values())}
    print(
        json.dumps(
            {"benchmark": "dependence", "ratios": ratios, "limits": limits, **compared, "growth": grown}
        )
    )
    return int(compared["ratio"] > MOST or max(grown.values()) > MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
