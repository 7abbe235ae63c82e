"""Observer of the output: reports the results of two calls, to reveal randomness.

The report has `outputs`: `[repr, repr]`, each from a fresh run of the program; empty if one fails.
"""

from __future__ import annotations

from .kit import Observed, observe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LIMIT = 4096


def run(observed: Observed, report: dict[str, Any]) -> None:
    """Make the call in two runs of the program."""
    report["outputs"], outputs = [], []
    for _ in range(2):
        space = observed.namespace()
        observed.load(space)
        outputs.append(repr(observed.evaluate(space))[:LIMIT])
    report["outputs"] = outputs


def main() -> None:
    """Observe the call given by the arguments."""
    observe(run)
