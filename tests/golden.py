"""What mutations and dependences make of fixed programs, compared with what they made before.

    python -m tests.golden --check                   # lists the programs with other results
    python -m tests.golden --check --details FILE    # each result as a line, to compare with diff
    python -m tests.golden --write --data DATA       # after every difference was explained

The programs are HumanEval, CRUXEval, HumanEval-X in Java, and a hundred files of the standard library.
`golden.txt` has a line for each: its name, a hash of its text, then the number and a hash of its
counterfactuals, its refusals, two placebos of each function (of a file of the library: of its first one),
and the edges of its dependences. `--data` names a folder with the whole datasets, in the shape of
`tests/published`; without it, its samples are compared. A program that is not here, or has another text with
another version of Python, is left out and counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

from counterlens.datasets.humaneval import HumanEval
from counterlens.dependence import MODULE, analyse
from counterlens.errors import SourceError
from counterlens.mutations import Counterfactual, Refusal, survey
from counterlens.mutations.placebos import placebos
from counterlens.text import decode
from tests.standard_library import LIBRARY

HERE = Path(__file__).parent
GOLDEN = HERE / "golden.txt"
SAMPLES = HERE / "published"
KINDS = ("counterfactuals", "refusals", "placebos", "edges")
LIBRARY_PREFIX = "library/"
PER_FUNCTION = 2  # placebos: the whole file is parsed for each


@dataclass(frozen=True, slots=True)
class Program:
    """A source text, with a name that says where it is from."""

    name: str
    source: str
    language: str = "python"


def programs(data: Path, library: Sequence[str]) -> Iterator[Program]:
    """The programs that are here.

    Args:
        data: The folder of the datasets.
        library: Paths of the files of the standard library.
    """
    humaneval = HumanEval().installed()
    for record in _records(humaneval) if humaneval is not None else ():
        yield Program(record["task_id"], record["prompt"] + record["canonical_solution"])
    for file in sorted(data.glob("cruxeval/*.jsonl")):
        for record in _records(file):
            yield Program(f"CRUXEval/{record['id']}", record["code"])
    for file in sorted(data.glob("humaneval-x/humaneval_java.jsonl.gz")):
        for record in _records(file):
            source = record["prompt"] + record["canonical_solution"]
            yield Program(f"HumanEval-X/{record['task_id']}", source, "java")
    for path in library:
        if (LIBRARY / path).is_file():
            yield Program(LIBRARY_PREFIX + path, decode((LIBRARY / path).read_bytes()).text)


def _records(file: Path) -> Iterator[dict[str, str]]:
    data = file.read_bytes()
    text = gzip.decompress(data) if file.suffix == ".gz" else data
    yield from map(json.loads, text.decode().splitlines())


def results(program: Program) -> dict[str, list[str]]:
    """Each result for a program as a line, by its kind."""
    try:
        surveyed = survey(program.source, language=program.language)
    except SourceError as error:
        return {"counterfactuals": [f"error: {error.message}"]}
    cuts: dict[str, list[int]] = {}
    for made in surveyed.counterfactuals:
        if made.cut is not None and made.function != MODULE:
            cuts.setdefault(made.function, []).append(made.cut.original)
    controls: list[str] = []
    of_library = program.name.startswith(LIBRARY_PREFIX)
    for function, at in islice(cuts.items(), 1 if of_library else None):
        drawn = placebos(program.source, function, at, PER_FUNCTION, language=program.language)
        controls += [*map(_counterfactual, drawn.counterfactuals), *map(_refusal, drawn.refusals)]
    return {
        "counterfactuals": list(map(_counterfactual, surveyed.counterfactuals)),
        "refusals": list(map(_refusal, surveyed.refusals)),
        "placebos": controls,
        "edges": list(_edges(program)),
    }


def _counterfactual(made: Counterfactual) -> str:
    edits = [(edit.start, edit.end, edit.pieces) for edit in made.edits]
    cut = made.cut and (made.cut.original, made.cut.mutated, made.cut.original_end, made.cut.mutated_end)
    what = f"{made.mutation} {made.function}:{made.start_line}-{made.end_line} {made.description}"
    return f"{what}; {', '.join(made.assumptions)}; cut {cut}; {edits}"


def _refusal(refusal: Refusal) -> str:
    return f"{refusal.mutation} {refusal.function}:{refusal.line} {refusal.reason}"


def _edges(program: Program) -> Iterator[str]:
    for graph in analyse(program.source, program.language).all():
        line = [statement.line for statement in graph.statements]
        for edge in sorted(graph.edges):
            ends = f"{edge.source}@{line[edge.source]} {edge.target}@{line[edge.target]}"
            yield f"{graph.function} {ends} {edge.kind} {edge.variable}{edge.outcome}"
        yield from (f"{graph.function} {number}@{line[number]} by name" for number in sorted(graph.by_name))


def summary(program: Program, lines: dict[str, list[str]]) -> str:
    """The line of `golden.txt` for a program."""
    parts = [f"{len(lines.get(kind, ()))}:{_hash(lines.get(kind, ()), 8)}" for kind in KINDS]
    return " ".join([program.name, _hash([program.source], 8), *parts])


def _hash(lines: Sequence[str], digits: int) -> str:
    return sha256("\n".join(lines).encode()).hexdigest()[:digits]


def differences(before: str, now: str) -> str:
    """The kinds of results in which two lines of a program differ, with the numbers."""
    pairs = zip(KINDS, before.split()[2:], now.split()[2:], strict=True)
    parts = [(kind, old.split(":")[0], new.split(":")[0]) for kind, old, new in pairs if old != new]
    return ", ".join(f"{old} {kind}, now {new}" for kind, old, new in parts)


def main() -> int:
    """Compare or write; returns 1 if there are differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    does = parser.add_mutually_exclusive_group(required=True)
    does.add_argument("--check", action="store_true", help="list what differs from the golden set")
    does.add_argument("--write", action="store_true", help="write the golden set again")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("COUNTERLENS_TEST_DATA", SAMPLES)))
    parser.add_argument("--only", default="", help="only programs whose names begin so, such as library/")
    parser.add_argument("--details", type=Path, help="write each result as a line to this file")
    arguments = parser.parse_args()
    written, *rows = GOLDEN.read_text(encoding="utf-8").splitlines()
    golden = {row.split()[0]: row for row in rows}
    library = [name.removeprefix(LIBRARY_PREFIX) for name in golden if name.startswith(LIBRARY_PREFIX)]
    here = [p for p in programs(arguments.data, library) if p.name.startswith(arguments.only)]
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        lines = dict(zip((p.name for p in here), pool.map(results, here, chunksize=8), strict=True))
    now = {program.name: summary(program, lines[program.name]) for program in here}
    if arguments.details is not None:
        with arguments.details.open("w", encoding="utf-8") as file:
            file.writelines(
                f"{n} {kind} {text}\n" for n, by in lines.items() for kind in by for text in by[kind]
            )
    asked = [name for name in golden if name.startswith(arguments.only)]
    if arguments.write and (missing := [name for name in asked if name not in now]):
        print(
            f"{len(missing)} programs, such as {missing[0]}, are not here: name the datasets with --data DATA"
        )
        return 1
    if arguments.write:
        head = f"Written with Python {platform.python_version()}"
        GOLDEN.write_text("\n".join([head, *{**golden, **now}.values()]) + "\n", encoding="utf-8")
        return 0
    same = [n for n in asked if n in now and now[n].split()[1] == golden[n].split()[1]]
    other = [name for name in same if now[name] != golden[name]]
    for name in other:
        print(f"{name}: {differences(golden[name], now[name])}")
    print(f"{len(same)} programs compared, {len(other)} differ, {len(asked) - len(same)} left out. {written}")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
