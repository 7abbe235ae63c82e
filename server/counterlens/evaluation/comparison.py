"""Two sets of records side by side, function by function, with McNemar's exact test on each measure.

The unit is a function, not a pair: the pairs of one function resemble each other, and the test assumes that
its units do not. Only functions count that both sides could probe, from the same source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from counterlens.errors import DataError
from counterlens.evaluation.figures import Found
from counterlens.evaluation.store import PROBED, Item, Record
from counterlens.metrics.summary import mcnemar_exact


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure on both sides.

    Attributes:
        name: What a function does or does not.
        n: How many functions both sides measured.
        first: How many did on the first side.
        second: How many did on the second.
        lost: Functions that did on the first side only.
        gained: Functions that did on the second side only.
        p: Of McNemar's exact test; None where nothing changed.
    """

    name: str
    n: int
    first: int
    second: int
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    p: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides.

    Attributes:
        first: What the first is called.
        second: What the second is.
        measures: Each measure.
        changed: Functions whose source differs, which do not count.
        only: How many functions only one side has probed.
        notes: What else differs between them, such as a parameter.
    """

    first: str
    second: str
    measures: tuple[Measure, ...]
    changed: tuple[str, ...]
    only: int
    notes: tuple[str, ...] = ()


def compare_runs(first: Found, second: Found, names: tuple[str, str]) -> list[Comparison]:
    """Each model that both runs asked; where each asked one, these two.

    Raises:
        DataError: the runs are of different tasks, or have no model in common.
    """
    if first.settings.task != second.settings.task:
        raise DataError(
            f"one run is of the task {first.settings.task}, the other of {second.settings.task}",
            "Compare runs of one task",
        )
    both = [model for model in first.models if model in second.models]
    pairs = [(model, model) for model in both]
    if not both and len(first.models) == len(second.models) == 1:
        pairs = [(first.models[0], second.models[0])]
    if not pairs:
        raise DataError(
            "the runs have no model in common",
            f"One asked {', '.join(first.models)}, the other {', '.join(second.models)}",
        )
    skipped = ("models is", "limit is", "threads is")
    notes = tuple(
        f"{names[0]}: {one} as in {names[1]}"
        for one in first.settings.differences(second.settings)
        if not one.startswith(skipped)
    )
    return [
        compare(first.of(a), second.of(b), (f"{names[0]} {a}", f"{names[1]} {b}"), notes) for a, b in pairs
    ]


def compare(
    first: Iterable[tuple[Item, Record]],
    second: Iterable[tuple[Item, Record]],
    names: tuple[str, str],
    notes: tuple[str, ...] = (),
) -> Comparison:
    """Two sets of records, matched by the names of their functions.

    Args:
        first: One side.
        second: The other.
        names: What they are called.
        notes: What else differs between them.
    """
    one = {item.problem: (item, record) for item, record in first if record.outcome == PROBED}
    other = {item.problem: (item, record) for item, record in second if record.outcome == PROBED}
    common = [name for name in one if name in other]
    changed = [name for name in common if one[name][0].source != other[name][0].source]
    same = [name for name in common if name not in set(changed)]
    sides = [{name: measures(side[name][1].body) for name in same} for side in (one, other)]
    found = dict.fromkeys(measure for name in same for measure in sides[0][name])
    return Comparison(
        first=names[0],
        second=names[1],
        measures=tuple(_measure(measure, *sides) for measure in found),
        changed=tuple(changed),
        only=len({*one} ^ {*other}),
        notes=notes,
    )


def measures(body: Mapping[str, Any]) -> dict[str, bool]:
    """What a function's record says, measure by measure; those that could not be judged are left out."""
    found: dict[str, bool] = {}
    pairs = body.get("pairs", ())
    for name, key in (("originals", "original_right"), ("counterfactuals", "counterfactual_right")):
        judged = [pair[key] for pair in pairs if pair[key] is not None]
        if judged:
            found[f"all {name} right"] = all(judged)
    for answer in body.get("answers", ()):
        found[f"answer right ({answer['style']})"] = answer["outcome"] == "right"
    return found


def _measure(
    name: str, first: Mapping[str, Mapping[str, bool]], second: Mapping[str, Mapping[str, bool]]
) -> Measure:
    both = [
        (function, first[function][name], second[function][name])
        for function in first
        if name in first[function] and name in second[function]
    ]
    lost = tuple(function for function, before, after in both if before and not after)
    gained = tuple(function for function, before, after in both if after and not before)
    return Measure(
        name=name,
        n=len(both),
        first=sum(before for _, before, _ in both),
        second=sum(after for _, _, after in both),
        lost=lost,
        gained=gained,
        p=mcnemar_exact(len(lost), len(gained)),
    )
