"""What a pair of a run shows, in one word for machines and a few for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORDS = {
    "lost": "right only on the original",
    "gained": "right only on the counterfactual",
    "held": "right on both",
    "failed": "wrong on both",
    "open": "not judged",
}


def outcome(pair: Mapping[str, Any]) -> str:
    """One of the keys of `WORDS`."""
    before, after = pair.get("original_right"), pair.get("counterfactual_right")
    if before is None or after is None:
        return "open"
    if before == after:
        return "held" if before else "failed"
    return "lost" if before else "gained"


def lines_of(pair: Mapping[str, Any]) -> str:
    """Where a pair was changed: `line 3`, `lines 3 to 5`."""
    first, last = pair["start_line"], pair["end_line"]
    return f"line {first}" if first == last else f"lines {first} to {last}"


def evidence(side: Mapping[str, Any]) -> str:
    """Why one side is not right: the verdict, what failed, and the message."""
    parts = [str(side["verdict"]).replace("_", " "), side.get("failed"), side.get("message")]
    return ": ".join(str(part).strip() for part in parts if part)
