"""Measures how often HumanEval+ allows inputs of a kind that HumanEval's own tests do not have.

    python benchmarks/contracts.py DATA/humanevalplus/FILE.jsonl.gz

For each parameter whose values in HumanEval's tests lack something, such as repeated items, a test's value is
changed to have it, and the contract of HumanEval+ (assertions at the head of the function) says whether the
function takes it. The domain of drawn inputs (`python/judging/differential/domain.py`) follows these figures.
The contracts are executed: use the published data only.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Change = tuple[str, Callable[[Any], Any]]


def main() -> None:
    """Print, for each kind of input, how many parameters take it, of how many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    counts: dict[str, Counter[bool]] = {}
    with gzip.open(parser.parse_args().data, "rt") as file:
        for extra in map(json.loads, file):
            inputs = extra["base_input"]
            inputs = json.loads(inputs) if isinstance(inputs, str) else inputs
            space: dict[str, Any] = {}
            exec(extra["prompt"] + extra["contract"] + "\n" + extra["canonical_solution"], space)  # noqa: S102
            for at in range(len(inputs[0])):
                for kind, change in _changes([given[at] for given in inputs]):
                    changed = [[*given[:at], change(given[at]), *given[at + 1 :]] for given in inputs[:6]]
                    counts.setdefault(kind, Counter())[_takes(space[extra["entry_point"]], changed)] += 1
    for kind, count in counts.items():
        print(f"{kind:34} {count[True]:3} of {count.total():3}  {count[True] / count.total():.0%}")
    print(json.dumps({"benchmark": "contracts", **{kind: count[True] for kind, count in counts.items()}}))


def _takes(function: Callable[..., Any], inputs: list[list[Any]]) -> bool:
    """Whether a function takes one of some inputs."""
    for given in inputs:
        try:
            function(*copy.deepcopy(given))
        except Exception:  # noqa: S112 - its contract refuses the input
            continue
        return True
    return False


def _changes(values: list[Any]) -> Iterator[Change]:
    """What the values of a parameter lack, and a function that adds it to one of them."""
    if all(type(value) is int for value in values):
        return _numbers(min(values))
    if all(type(value) is list for value in values):
        return _lists(values)
    words = all(type(value) is str for value in values) and "".join(values).replace(" ", "").isalpha()
    return _words("".join(values)) if words else iter(())


def _numbers(low: int) -> Iterator[Change]:
    if low >= 2:
        yield "the number 1, if all are larger", lambda _: 1
    if low >= 1:
        yield "the number 0, if all are positive", lambda _: 0
    if low >= 0:
        yield "a negative number", lambda _: -1


def _lists(values: list[list[Any]]) -> Iterator[Change]:
    items = [item for value in values for item in value]
    if all(values):
        yield "an empty list", lambda _: []
    if len(items) >= 8 and all(len(set(map(repr, value))) == len(value) for value in values):
        yield "repeated items", lambda value: value + value[:1]
    if items and all(type(item) is int for item in items) and min(items) >= 0:
        yield "negative items", lambda value: [*value, -3]
        if min(items) > 0:
            yield "the item 0", lambda value: [*value, 0]


def _words(text: str) -> Iterator[Change]:
    yield "digits in words", lambda value: value + "1"
    if text.islower():
        yield "upper case", str.upper
    if " " not in text:
        yield "blanks in words", lambda value: f"{value} {value}"


if __name__ == "__main__":
    main()
