"""The baseline: one run of a project's whole suite in the sandbox, test by test, in slices.

The run records for each test whether it passes, its time, and the lines that it runs. The result of a slice
is stored immediately, on disk under a digest of everything that it depends on, so a stopped run resumes, and
nothing runs again without a change. A test, or the import of a test file, that ends the process or times out
costs the rest of its slice; it is recorded with the reason, and left out of the next one.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

import platformdirs

from counterlens.atomic_file import replace_file
from counterlens.errors import SandboxError
from counterlens.judging.base import LIMITS, Setting
from counterlens.nested_text import read_json
from counterlens.python.judging.compiled import CompiledProject
from counterlens.python.judging.layout import Layout, layout_of
from counterlens.python.judging.recording import run
from counterlens.python.judging.sandboxed.recorder.exclusion import REASON
from counterlens.python.judging.suite import Suite, digest_of
from counterlens.python.judging.test_run import WITH_CASES
from counterlens.sandbox.base import Ending, JobOutcome

LOG = logging.getLogger("counterlens")
PASSED, FAILED, SKIPPED, ENDED = "passed", "failed", "skipped", "ended"
_SLICES = (15.0, 30.0, 60.0)  # seconds: the first slices are short, for early results
_START = 30.0  # maximum seconds for the start of the interpreter and pytest's collection
_LIMITS = replace(LIMITS, memory_bytes=2 << 30, output_bytes=64 << 20)
_ENDINGS = ("it ends the process", "it does not terminate")
_LOCK = Lock()


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
        document = read_json(file)
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


_baselines: dict[str, Baseline] = {}


def baseline_of(place: Layout, setting: Setting, folder: Path | None = None) -> Baseline | None:
    """The baseline of the project that a file belongs to, stored if nothing has changed, else built now.

    Args:
        place: Any file of the project.
        setting: The sandbox and interpreter for tests; `map_timeout` bounds the total time of all runs, and
            0 means no baseline.

    Returns:
        None if the project has no tests and no examples, or the setting forbids the run.

    Raises:
        Cancelled: the setting's `cancel` was set; completed slices are kept.
    """
    if setting.map_timeout <= 0:
        return None
    suite = Suite(place.project, setting.excluded)
    if not suite.tests and not suite.examples:
        return None
    kept = folder or Path(platformdirs.user_cache_dir("counterlens")) / "baselines"
    with _LOCK:
        digest = digest_of(suite, setting.python)
        file = kept / f"{digest}.json"
        baseline = _baselines.get(str(file)) or read(file) or Baseline()
        if baseline.partial and baseline.why is None and baseline.spent < setting.map_timeout:
            try:
                SuiteRun(suite, setting, baseline, file).run_slices()
            except SandboxError as error:
                return Baseline(why=error.message)
        _baselines[str(file)] = baseline
        return baseline


class SuiteRun:
    """Runs the tests that a baseline does not have yet.

    Args:
        setting: Its sandbox, interpreter and limits.
        found: The baseline so far, which is extended.
        file: The file where it is stored.
    """

    def __init__(self, suite: Suite, setting: Setting, baseline: Baseline, file: Path) -> None:
        self._suite, self._setting, self._found, self._file = suite, setting, baseline, file
        self._numbers = {test.key: number for number, test in enumerate(baseline.tests)}
        self._ending = {path for path, why in baseline.broken.items() if why in _ENDINGS}

    def run_slices(self) -> None:
        """Run slices until no test, or no time, is left."""
        number = 0
        while self._found.partial and (left := self._setting.map_timeout - self._found.spent) > 0:
            self._report_progress()
            before, began = self._progress, time.monotonic()
            whole = self._slice(min(left, _SLICES[min(number, len(_SLICES) - 1)]))
            self._found.spent += time.monotonic() - began
            self._found.partial = not whole and self._progress > before
            if not self._found.partial and not self._found.tests and self._found.why is None:
                name, why = next(iter(self._found.broken.items()), ("", "it has none that can be run"))
                self._found.why = ": ".join(filter(None, (Path(name).name, why)))
            write(self._found, self._file)
            number += 1

    @property
    def _progress(self) -> int:
        return len(self._found.tests) + len(self._ending)

    def _report_progress(self) -> None:
        if self._setting.report:
            baseline, most = self._found, self._setting.map_timeout
            name, spent = self._suite.project.name, f"{baseline.spent:.0f}"
            if baseline.total:
                ran = f"{len(baseline.tests)} of {baseline.total}"
                self._setting.report(
                    f"running the tests of {name} once: {ran}, {spent} of at most {most:.0f} s"
                )
            else:
                self._setting.report(f"running the tests of {name} once, at most {most:.0f} s")

    def _slice(self, seconds: float) -> bool:
        """Run tests for some time; return whether none is left."""
        suite, setting = self._suite, self._setting
        excluded = [path for path in suite.tests if suite.excludes(path)]
        self._found.broken |= {str(path): REASON for path in excluded}
        left_out = {*self._ending, *map(str, excluded)}
        files = [(path, layout_of(path)) for path in suite.tests if str(path) not in left_out]
        examples = [path for path in suite.examples if not suite.excludes(path)]
        task = {
            "files": [{"path": str(path), "module": at.module, "root": str(at.root)} for path, at in files],
            "examples": [{"path": str(path), "module": layout_of(path).module} for path in examples],
            "roots": [str(root) for root in suite.roots],
            "beside": list(dict.fromkeys(str(path.parent) for path in suite.tests)),
            "omitted": [*map(str, suite.tests)],
            "folder": str(suite.project),
            "done": list(self._numbers),
            "excluded": list(suite.excluded),
            "seconds": seconds,
        }
        most = seconds + _START + setting.limits.seconds
        limits = replace(_LIMITS, seconds=most, cpu_seconds=int(most) + 1)
        place = Layout(suite.project, "", suite.project, suite.project)
        outcome = run(
            replace(setting, limits=limits),
            "mapping",
            task,
            CompiledProject(place, setting).readable,
            setting.cancel,
            preload=WITH_CASES,
            writable=place.readable,
        )
        return _Report(self._found, self._numbers, self._ending).take(outcome)


class _Report:
    """Add the results of one slice to a baseline; see `sandboxed/recorder/mapping.py` for the lines."""

    def __init__(
        self, baseline: Baseline, numbers: dict[tuple[str, str, str, str, str], int], ending: set[str]
    ) -> None:
        self._found, self._numbers, self._ending = baseline, numbers, ending
        self._began: dict[int, Sequence[str]] = {}
        self._ended: dict[int, Sequence[Any]] = {}
        self._importing: str | None = None
        self._over: bool | None = None

    def take(self, outcome: JobOutcome) -> bool:
        """Add the results, even of a partial report; return whether it says that no test is left."""
        words: Mapping[str, Callable[[Any], None]] = {
            "import": self._import,
            "broken": self._broken,
            "total": self._total,
            "start": lambda value: self._began.update({int(value[0]): value[1]}),
            "end": lambda value: self._ended.update({int(value[0]): value[1:]}),
            "lines": self._lines,
            "why": self._record_reason,
            "done": self._done,
        }
        for line in outcome.result.decode("ascii", "replace").split("\n")[:-1]:
            word, _, text = line.partition(" ")
            if word in words:
                words[word](json.loads(text))
        if self._over is None:
            # record the test that was running at the end of a partial report, with the reason
            reason = _ENDINGS[outcome.ending is Ending.TIMED_OUT]
            if self._importing is not None:
                self._found.broken[self._importing] = reason
                self._ending.add(self._importing)
            for number, test in self._began.items():
                if number not in self._ended:
                    self._add(test, ENDED, 0.0, reason)
        return bool(self._over)

    def _import(self, value: Any) -> None:
        self._importing = str(value)

    def _broken(self, value: Any) -> None:
        self._found.broken[str(value[0])] = str(value[1])

    def _total(self, value: Any) -> None:
        self._found.total, self._importing = int(value), None

    def _record_reason(self, value: Any) -> None:
        """Record why the suite as a whole cannot run; the next slice would meet the same reason."""
        if not self._found.tests:
            self._found.why = str(value)
        self._over = True

    def _done(self, value: Any) -> None:
        self._over = bool(value)

    def _lines(self, value: Any) -> None:
        for number in value["of"]:
            self._add(self._began[number], *self._ended[number])
        for path, pairs in value["files"].items():
            by_line = self._found.lines.setdefault(str(path), {})
            for line, numbers in pairs:
                kept = by_line.setdefault(int(line), [])
                kept += sorted(self._numbers[_key(self._began[number])] for number in numbers)

    def _add(self, test: Sequence[str], outcome: str, seconds: float, reason: str) -> None:
        key = _key(test)
        if key not in self._numbers:
            self._numbers[key] = len(self._found.tests)
            self._found.tests.append(BaselineTest(*key, str(outcome), float(seconds), str(reason)))


def _key(test: Sequence[str]) -> tuple[str, str, str, str, str]:
    kind, file, owner, name, item = map(str, test)
    return kind, file, owner, name, item
