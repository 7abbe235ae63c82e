"""The baseline: one run of a project's whole suite, test by test.

The run records for each test whether it passes, its time, and the lines that it runs. The results are stored
on disk under a digest of everything that they depend on, so a stopped run resumes, and nothing runs again
without a change.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from counterlens.atomic_file import replace_file
from counterlens.regular_file import read_text

LOG = logging.getLogger("counterlens")
PASSED, FAILED, SKIPPED, ENDED = "passed", "failed", "skipped", "ended"


@dataclass(frozen=True, slots=True)
class BaselineTest:
    """The outcome of one test; a parametrised test counts as several.

    Attributes:
        kind: `case` or `doctest`.
        owner: Its class; empty if it is a function.
        name: The function or method; for a doctest, the dotted name of the object with the docstring.
        item: Its pytest id after the file, with its parameters.
        outcome: `passed`, `failed`, `skipped`, `excluded` by the settings, or `ended` if it ended the process
            or timed out.
        seconds: Processor time in seconds, which hardly depends on other load.
        reason: Why it did not pass.
    """

    kind: str
    file: str
    owner: str
    name: str
    item: str
    outcome: str
    seconds: float
    reason: str = ""

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """Its identity."""
        return self.kind, self.file, self.owner, self.name, self.item


@dataclass(slots=True)
class Baseline:
    """The known facts of a suite.

    Attributes:
        tests: All tests that ran.
        lines: File to line to positions in `tests`, ascending.
        broken: The test files that cannot be imported, or are excluded, with the reason.
        partial: Whether time ran out before all tests ran.
        why: Why there are no tests, if the suite as a whole cannot run.
        spent: Total seconds of the runs.
        total: Number of tests that pytest collected; 0 if unknown.
    """

    tests: list[BaselineTest] = field(default_factory=list)
    lines: dict[str, dict[int, list[int]]] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    partial: bool = True
    why: str | None = None
    spent: float = 0.0
    total: int = 0

    def running(self, path: Path, lines: Iterable[int]) -> list[int]:
        """The positions of the tests that run any of the given lines of a file."""
        of_file = self.lines.get(str(path), {})
        return sorted({number for line in lines for number in of_file.get(line, ())})

    def width(self) -> list[int]:
        """The number of project lines that each test runs."""
        widths = [0] * len(self.tests)
        for by_line in self.lines.values():
            for numbers in by_line.values():
                for number in numbers:
                    widths[number] += 1
        return widths


def write(baseline: Baseline, file: Path) -> None:
    """Store a baseline atomically."""
    document = {
        **{name: getattr(baseline, name) for name in ("broken", "partial", "why", "spent", "total")},
        "tests": [list(asdict(test).values()) for test in baseline.tests],
        "lines": {
            path: {str(line): _ranges(numbers) for line, numbers in by_line.items()}
            for path, by_line in baseline.lines.items()
        },
    }
    try:
        replace_file(file, json.dumps(document))
    except OSError as error:
        LOG.warning("the map of tests to lines cannot be stored, and is computed again next time: %s", error)


def read(file: Path) -> Baseline | None:
    """The baseline stored in a file; None if there is none, or it is damaged."""
    try:
        document = json.loads(read_text(file))
        tests = [BaselineTest(*test) for test in document["tests"]]
        baseline = Baseline(
            tests,
            {
                path: {int(line): _numbers(ranges, len(tests)) for line, ranges in by_line.items()}
                for path, by_line in document["lines"].items()
            },
            dict(document["broken"]),
            bool(document["partial"]),
            document["why"],
            float(document["spent"]),
            int(document["total"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
    reasons = [
        *baseline.broken.values(),
        *(text for test in tests for text in (*test.key, test.outcome, test.reason)),
    ]
    sound = isinstance(baseline.why, str | None) and all(isinstance(text, str) for text in reasons)
    return baseline if sound and all(isinstance(test.seconds, int | float) for test in tests) else None


def _ranges(numbers: Sequence[int]) -> list[int]:
    """First and last of each range of consecutive numbers: tests that run a line are often neighbours."""
    ranges: list[int] = []
    for number in numbers:
        if ranges and ranges[-1] == number - 1:
            ranges[-1] = number
        else:
            ranges += [number, number]
    return ranges


def _numbers(ranges: Sequence[int], tests: int) -> list[int]:
    pairs = list(zip(ranges[::2], ranges[1::2], strict=True))
    if not all(0 <= first <= last < tests for first, last in pairs):
        raise ValueError("there are no such tests")
    return [number for first, last in pairs for number in range(first, last + 1)]
