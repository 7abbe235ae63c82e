"""Correctness maps, for programs, and the judged completions that maps are fitted on.

Keys may be added, but never renamed.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from counterlens.atomic_file import replace_file
from counterlens.calibration.correctness import CorrectnessResult
from counterlens.calibration.outcomes import JudgedCompletion
from counterlens.errors import CounterlensError
from counterlens.reports.export.json import Json


def correctness_json(result: CorrectnessResult, kept: Path | None) -> Json:
    """All results; `kept` is the path of the maps, if they were stored."""
    return {
        "kind": "correctness",
        "maps": msgspec.to_builtins(result.maps),
        "completions": result.completions,
        "functions": result.functions,
        "fixed_by": result.fixed_by,
        "left_out": result.left_out,
        "file": str(kept) if kept else None,
    }


def write_observations(path: Path, completions: Sequence[JudgedCompletion]) -> None:
    """Write judged completions as JSON lines, compressed: figures can be computed from them without a model.

    Raises:
        CounterlensError: the file cannot be written.
    """
    lines = [
        json.dumps(
            {
                "function": each.function,
                "sample": each.sample,
                "passed": each.passed,
                "fixed_by": each.fixed_by,
                "logprobs": [round(value, 4) for value in each.logprobs.tolist()],
                "statements": [
                    [part.kind, part.right, [round(value, 4) for value in part.logprobs.tolist()]]
                    for part in each.statements
                ],
            },
            separators=(",", ":"),
        )
        for each in completions
    ]
    try:
        replace_file(path, gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
    except OSError as error:
        raise CounterlensError(
            f"{path} cannot be written: {error.strerror}", "Choose another file with --records"
        ) from error
