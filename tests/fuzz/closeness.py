"""Compares the answers of two servers.

A model's figures depend slightly, by some hundredths of a nat, on the place of the context in its memory,
which depends on earlier texts. Everything else must be equal.
"""

from __future__ import annotations

import math
import re
from typing import Any

NATS = 0.1


def difference(one: Any, other: Any, path: str = "") -> str:
    """The first difference between two answers beyond rounding; empty if there is none."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return f"{path}: {sorted(one)} and {sorted(other)}"
        return next(filter(None, (difference(one[key], other[key], f"{path}.{key}") for key in one)), "")
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            only = [a for a in one if a not in other], [b for b in other if b not in one]
            return f"{path}: {len(one)} and {len(other)} entries: {only}"
        return next(
            filter(
                None,
                (difference(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(one, other, strict=True))),
            ),
            "",
        )
    if isinstance(one, str) and isinstance(other, str):
        same = _without_figures(one) == _without_figures(other)
    elif one is None or other is None:
        same = one is other
    elif path.endswith(".bits"):
        same = math.isclose(one, other, rel_tol=0.05, abs_tol=0.3)
    elif isinstance(one, float) or isinstance(other, float):
        same = math.isclose(_nats(one), _nats(other), abs_tol=NATS)
    elif path.endswith(".level"):
        same = abs(one - other) <= 1  # on either side of a threshold
    else:
        same = one == other
    return "" if same else f"{path}: {one!r} and {other!r}"


def _nats(probability: float) -> float:
    return math.log(max(float(probability), 1e-9))


def _without_figures(text: str) -> str:
    """A message without its percentages and its list of expected tokens."""
    return re.sub(r"[\d.]+ %|below 0.01 %", "%", text).partition("; it expected")[0]
