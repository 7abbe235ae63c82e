"""The functions of each kept run are a random part of those that it was to ask, or its pages say otherwise.

Two tests of the hypothesis that they were drawn at random, without replacement: how many functions one after
another are missing, and how evenly the others are spread (Kolmogorov and Smirnov). Records are refused below
`LEVEL`, divided by the number of tests: if all runs were random, one of a hundred collections would be.
A run of all functions is no sample, and is not tested.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from scipy import stats

RESULTS = Path(__file__).parents[1] / "docs" / "results"
LEVEL = 0.01
FIRST_AND_NUMBER = {"HumanEval": (0, 164), "Python": (0, 164), "MBPP": (1, 974), "sample": (0, 400)}
"""The first number of each numbered dataset, and how many it has, by the word before the number."""
SPLITS = {"mbpp-test": (11, 500)}
"""The same for a dataset, by its id, that has the numbers of another in part."""
_NUMBERED = re.compile(rf"({'|'.join(FIRST_AND_NUMBER)})[/_](\d+)")


@dataclass(frozen=True)
class Asked:
    """The places of functions in an order of known length.

    Attributes:
        records: The folder of the records.
        cells: The cells that a row about them begins with in a table of runs.
    """

    records: str
    cells: tuple[str, ...]
    places: frozenset[int]
    length: int

    @property
    def chance(self) -> float:
        """The p value of a random part, over both tests."""
        return min(
            1.0, 2 * min(gap_chance(self.places, self.length), spread_chance(self.places, self.length))
        )


def gap_chance(places: Collection[int], length: int) -> float:
    """A bound on the chance that a random part misses so many places one after another."""
    edges = [-1, *sorted(places), length]
    missing = max(high - low - 1 for low, high in pairwise(edges))
    starts = length - missing + 1
    return min(1.0, starts * comb(length - missing, len(places)) / comb(length, len(places)))


def spread_chance(places: Collection[int], length: int) -> float:
    """The chance that a random part is spread so unevenly."""
    return float(stats.kstest([(place + 0.5) / length for place in places], "uniform").pvalue)


def runs() -> Iterator[Asked]:
    """The items of each model and task of each run, in the order of its plan."""
    for folder, rows in tables():
        manifests = json.loads((folder / "manifests.json").read_text(encoding="utf-8")).values()
        whole = max(manifest["dataset"]["records"] for manifest in manifests)
        length = min(whole, next(iter(manifests))["parameters"]["limit"] or whole)
        titles = {manifest["dataset"]["title"] for manifest in manifests}
        for key in sorted({(row["model"], row["task"]) for row in rows}):
            places = {row["position"] % length for row in rows if (row["model"], row["task"]) == key}
            cells = (f"`{folder.name}`", ", ".join(titles), *key)
            yield Asked(folder.name, cells, frozenset(places), length)


def drawn() -> Iterator[Asked]:
    """The functions of each folder that are from a numbered dataset, in its order."""
    names = {folder: {row["problem"] for row in rows} for folder, rows in tables()}
    for file in (RESULTS / "records").glob("*/*.jsonl.gz"):
        lines = map(json.loads, gzip.decompress(file.read_bytes()).splitlines())
        names[file.parent] = names.get(file.parent, set()) | {
            str(line.get("problem") or line.get("id") or line.get("function")) for line in lines
        }
    for folder, problems in sorted(names.items()):
        matches = list(filter(None, map(_NUMBERED.fullmatch, problems)))
        for word in sorted({match[1] for match in matches}):
            first, length = SPLITS.get(dataset_of(folder), FIRST_AND_NUMBER[word])
            places = {int(match[2]) - first for match in matches if match[1] == word}
            yield Asked(folder.name, (f"`{folder.name}`",), frozenset(places), length)


def dataset_of(folder: Path) -> str:
    """The id of the dataset of a run; empty for records of another kind."""
    file = folder / "manifests.json"
    if not (folder / "records.parquet").exists():
        return ""
    return str(next(iter(json.loads(file.read_text(encoding="utf-8")).values()))["dataset"]["dataset"])


def tables() -> Iterator[tuple[Path, list[dict[str, object]]]]:
    """The rows of the records of each run."""
    for file in sorted((RESULTS / "records").glob("*/records.parquet")):
        yield file.parent, parquet.read_table(file).to_pylist()


PARTS = [asked for asked in (*runs(), *drawn()) if len(asked.places) < asked.length]


def test_there_are_parts_of_both_kinds() -> None:
    assert len(PARTS) > 50
    assert {len(asked.cells) for asked in PARTS} == {1, 4}


@pytest.mark.parametrize("asked", PARTS, ids=lambda asked: " ".join(asked.cells))
def test_records_are_of_a_random_part_or_their_pages_say_that_they_are_not(asked: Asked) -> None:
    if asked.chance >= LEVEL / len(PARTS):
        return
    said = {}
    for page in RESULTS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if line.startswith(f"| {' | '.join(asked.cells)} ")]
        if lines:
            said[page.name] = all("stopped: " in line for line in lines)
    assert said.get("index.md"), f"{asked.records} is no random part, and no page says so"
    assert all(said.values()), f"{asked.records} is no random part; which pages say so: {said}"


def test_a_random_part_is_seldom_refused_and_an_end_always() -> None:
    chance = random.Random(1)  # noqa: S311 - no secret
    for length, number in ((60, 24), (164, 88), (40, 8), (974, 60)):
        parts = [frozenset(chance.sample(range(length), number)) for _ in range(500)]
        refused = sum(Asked("", (), part, length).chance < 0.05 for part in parts)
        assert refused <= 40  # 25 of 500 are expected at most; 40 or more of them have a chance of 0.3 %
        assert Asked("", (), frozenset(range(number)), length).chance < LEVEL / len(PARTS)
        ends = {*range(number // 2), *range(length - number // 2, length)}
        assert Asked("", (), frozenset(ends), length).chance < LEVEL / len(PARTS)
