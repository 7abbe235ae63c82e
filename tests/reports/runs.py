"""A run made up for reports, of two models, with trouble in every text. As a program it prints the page."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from counterlens.evaluation.figures import Found
from counterlens.evaluation.settings import Settings
from counterlens.evaluation.store import LEFT_OUT, PROBED, Item, Record

EVIL = (
    "</script><script>alert(1)</script><img src=https://example.org/x onerror=alert(2)> "
    "& \"'`|\\{}$%#_^~ é😀\x00\x1b"
)
MODELS = ("tiny-135M", "large-7B")
MUTATIONS = ("rename-random", "if-else-flip", "operand-swap")
_FUNCTIONS = 24


def hostile_run(mutations: Sequence[str] = MUTATIONS) -> Found:
    """A repository's run: some verdicts of each kind, a function that was left out, texts that break out."""
    items = [(model, number) for model in MODELS for number in range(_FUNCTIONS)]
    records = tuple(_record(i, *one, mutations) for i, one in enumerate(items))
    return Found(
        Settings(("completion",), "repo:/nowhere/at/all", MODELS),
        len(records),
        {model: _manifest(model) for model in MODELS},
        records,
        {"completion": len(records)},
    )


def _record(position: int, model: str, number: int, mutations: Sequence[str]) -> tuple[Item, Record]:
    problem = f"src/a b/file{number % 5}.py::f{number}"
    item = Item(position, f"{model}|completion|{problem}", model, problem, f"f{number}", "00", "completion")
    if number == _FUNCTIONS - 1:
        return item, Record(LEFT_OUT, f"no tests {EVIL}", {}, manifest=model)
    large = model == MODELS[1]
    pairs = [
        _pair(mutation, number, right=(number % 4 != 3, (number + 2 * large) % (3 + kind) != 0))
        for kind, mutation in enumerate(mutations)
    ]
    pairs[0] |= {"original_right": None} if number == 0 else {}
    return item, Record(PROBED, "", {"judged_by": "2 tests", "pairs": pairs}, manifest=model)


def _pair(mutation: str, number: int, right: tuple[bool, bool]) -> dict[str, Any]:
    sides = {
        name: {
            "completion": f"    return {number}  # {EVIL}",
            "finish": "stop",
            "verdict": "passed" if passed else "failed",
            "attribution": "tests",
            "strength": "strong",
            "failed": None if passed else f"test_{number} {EVIL}",
            "message": "" if passed else EVIL,
        }
        for name, passed in zip(("original", "counterfactual"), right, strict=True)
    }
    return {
        "mutation": mutation,
        "concept": "naming",
        "target": f"f{number}",
        "function": f"f{number}",
        "start_line": number + 1,
        "end_line": number + 3,
        "description": f"renamed `a` to `b` {EVIL}",
        "assumptions": [],
        "diff": ["@@ -1 +1 @@", f"-a {EVIL}", f"+b {EVIL}"],
        **sides,
        "original_right": right[0],
        "counterfactual_right": right[1],
    }


def _manifest(model: str) -> dict[str, Any]:
    return {
        "counterlens": "0",
        "python": "3",
        "platform": "linux",
        "sandbox": "none",
        "model": {
            "asked_as": model,
            "name": f"{model} {EVIL}",
            "identity": "0" * 64,
            "where": "local",
            "details": {},
        },
        "dataset": {"title": f"data {EVIL}", "version": "1", "licence": "MIT", "sha256": "0" * 64},
    }


if __name__ == "__main__":
    from counterlens.reports.evaluation.page import run_html

    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(run_html(hostile_run()))
