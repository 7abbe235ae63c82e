"""The baseline: a project's whole suite, run once as it stands, test by test.

Everything about a test is found out at once and kept: whether it passes, what time it takes, and which lines
it runs. The suite runs in the sandbox, in slices; what came of a slice is kept on disk at once, under a digest
of all that the outcome depends on, so a run that was stopped goes on where it was, and nothing runs again
before something changes. A test that ends the process, or does not end, costs one slice and is named.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import platformdirs

from counterlens.attribution.base import Setting
from counterlens.attribution.layout import Layout, layout_of
from counterlens.attribution.recording import run
from counterlens.attribution.suite import Suite
from counterlens.errors import SandboxError
from counterlens.sandbox.base import Ending, JobOutcome, Limits
from counterlens.sandbox.interpreter import describe

_VERSION = 2
_SLICES = (15.0, 30.0, 60.0)  # seconds: the first ones are short, so that something is known soon
_START = 30.0  # seconds that an interpreter and pytest may need to start and to collect
_PRELOAD = ("json", "unittest", "traceback", "doctest", "asyncio", "decimal", "typing", "pytest", "coverage")
_LIMITS = Limits(memory_bytes=2 << 30, open_files=256, output_bytes=64 << 20)
PASSED, FAILED, SKIPPED, ENDED = "passed", "failed", "skipped", "ended"


@dataclass(frozen=True, slots=True)
class BaselineTest:
    """What became of one test; one with parameters is several.

    Attributes:
        kind: `case` or `doctest`.
        file: Its file.
        owner: Its class; empty where it is a function.
        name: The function or method; the dotted name of what has the docstring.
        item: As pytest names it behind the file, with its parameters.
        outcome: `passed`, `failed`, `skipped`, or `ended` where it ended the process or did not end.
        seconds: Of processor time, which hardly depends on what else the machine does.
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
        """What it is recognised by."""
        return self.kind, self.file, self.owner, self.name, self.item


@dataclass(slots=True)
class Baseline:
    """What is known of a suite.

    Attributes:
        tests: All that ran.
        lines: File to line to positions in `tests`, ascending.
        partial: Whether there was no time for all tests.
        why: Why there are no tests, where the suite as a whole cannot be run.
        spent: Seconds that the runs took together.
        total: How many tests pytest has collected; 0 where that is not known.
    """

    tests: list[BaselineTest] = field(default_factory=list)
    lines: dict[str, dict[int, list[int]]] = field(default_factory=dict)
    partial: bool = True
    why: str | None = None
    spent: float = 0.0
    total: int = 0

    def running(self, path: Path, lines: Iterable[int]) -> list[int]:
        """The positions of the tests that run any of some lines of a file."""
        of_file = self.lines.get(str(path), {})
        return sorted({number for line in lines for number in of_file.get(line, ())})

    def width(self) -> list[int]:
        """Of each test, how many lines of the project it runs."""
        found = [0] * len(self.tests)
        for by_line in self.lines.values():
            for numbers in by_line.values():
                for number in numbers:
                    found[number] += 1
        return found


_LOCK = Lock()
_known: dict[str, Baseline] = {}
_digests: dict[tuple[Path, Path], tuple[int, str]] = {}


def baseline_of(place: Layout, setting: Setting, folder: Path | None = None) -> Baseline | None:
    """The baseline of the project that a file belongs to, made now or when it was last the same.

    Args:
        place: Any file of the project; it makes no difference which.
        setting: Where and how tests run; `map_timeout` bounds all runs together, and with 0 there is none.
        folder: Where baselines are kept.

    Returns:
        None where the project has no tests and no examples, or none are to be run.

    Raises:
        Cancelled: the setting's `cancel` was set; what ran until then is kept.
    """
    if setting.map_timeout <= 0:
        return None
    suite = Suite(place.project)
    if not suite.tests and not suite.examples:
        return None
    kept = folder or Path(platformdirs.user_cache_dir("counterlens")) / "baselines"
    with _LOCK:
        digest = digest_of(suite, setting.python)
        file = kept / f"{digest}.json"
        found = _known.get(str(file)) or _read(file) or Baseline()
        if found.partial and found.why is None and found.spent < setting.map_timeout:
            try:
                _Run(suite, setting, found, file).go_on()
            except SandboxError as error:
                return Baseline(why=error.message)
        _known[str(file)] = found
        return found


def digest_of(suite: Suite, python: Path) -> str:
    """Of all that a baseline depends on: the project's files, the interpreter, and what is installed."""
    stamp = hash(tuple((path, *_stamp(path)) for path in [*suite.sources, *suite.notable]))
    known = _digests.get((suite.project, python))
    packages = installed(python)
    stamp = hash((stamp, packages))
    if known is not None and known[0] == stamp:
        return known[1]
    found = hashlib.sha256(f"{_VERSION}\0{suite.project}\0{python}\0{packages}".encode())
    for path, content in suite.contents():
        found.update(f"\0{path}\0{hashlib.sha256(content).hexdigest()}".encode("utf-8", "replace"))
    _digests[suite.project, python] = stamp, found.hexdigest()
    return found.hexdigest()


def installed(python: Path) -> tuple[str, ...]:
    """The packages that an interpreter has, with their versions, such as `pytest-8.3.0`, and its own."""
    known = describe(python)
    places = [Path(folder) for folder in known.folders]
    places += [at for place in places for at in place.glob("lib*/python*/*-packages")]
    named = {path.stem for at in dict.fromkeys(places) for path in at.glob("*-info") if path.suffix}
    return f"python {known.version[0]}.{known.version[1]}", *sorted(named)


def lent_coverage() -> dict[str, bytes]:
    """coverage.py without its compiled part, for interpreters that do not have it."""
    spec = find_spec("coverage")
    if spec is None or spec.origin is None:
        return {}
    package = Path(spec.origin).parent
    return {f"lent/coverage/{path.name}": path.read_bytes() for path in package.glob("*.py")}


class _Run:
    """Runs what is missing of a baseline, slice by slice."""

    def __init__(self, suite: Suite, setting: Setting, found: Baseline, file: Path) -> None:
        self._suite, self._setting, self._found, self._file = suite, setting, found, file
        self._numbers = {test.key: number for number, test in enumerate(found.tests)}

    def go_on(self) -> None:
        for number in range(10_000):
            left = self._setting.map_timeout - self._found.spent
            if left <= 0:
                return
            self._tell()
            before = len(self._found.tests)
            began = time.monotonic()
            whole = self._slice(min(left, _SLICES[min(number, len(_SLICES) - 1)]))
            self._found.spent += time.monotonic() - began
            stuck = len(self._found.tests) == before
            if whole or stuck:
                self._found.partial = False
                if not self._found.tests and self._found.why is None and not whole:
                    self._found.why = "the tests end the process, or do not end, before the first of them"
            self._keep()
            if not self._found.partial:
                return

    def _tell(self) -> None:
        if self._setting.report:
            found, most = self._found, self._setting.map_timeout
            many = f"{len(found.tests)} of {found.total} tests, " if found.total else ""
            name = self._suite.project.name
            self._setting.report(
                f"running the tests of {name} once: {many}{found.spent:.0f} s of at most {most:.0f} s"
            )

    def _slice(self, seconds: float) -> bool:
        """Run tests for some time; whether that was all of them."""
        suite, setting = self._suite, self._setting
        described = [(path, layout_of(path)) for path in suite.tests]
        beside = [str(path.parent) for path in suite.tests]
        task = {
            "files": [
                {"path": str(path), "module": at.module, "root": str(at.root)} for path, at in described
            ],
            "examples": [{"path": str(path), "module": layout_of(path).module} for path in suite.examples],
            "roots": [str(root) for root in suite.roots],
            "beside": list(dict.fromkeys(beside)),
            "measured": [f"{suite.project}/*"],
            "omitted": [*map(str, suite.tests), "*/site-packages/*", "*/.venv/*", "*/conftest.py"],
            "folder": str(suite.project),
            "done": list(self._numbers),
            "seconds": seconds,
        }
        most = seconds + _START + setting.limits.seconds
        limits = replace(_LIMITS, seconds=most, cpu_seconds=int(most) + 1)
        readable = layout_of(suite.project / "any.py").readable
        outcome = run(
            replace(setting, limits=limits),
            "mapping",
            task,
            readable,
            setting.cancel,
            lent_coverage(),
            preload=_PRELOAD,
        )
        return self._take(outcome)

    def _take(self, outcome: JobOutcome) -> bool:
        """Take in a report, as far as it came; whether it says that nothing is left."""
        began: dict[int, Sequence[str]] = {}
        ended: dict[int, Sequence[Any]] = {}
        known: set[int] = set()
        for line in outcome.result.decode("ascii", "replace").split("\n")[:-1]:
            word, _, text = line.partition(" ")
            try:
                value = json.loads(text)
            except ValueError:
                continue
            if word == "total":
                self._found.total = int(value)
            elif word == "start":
                began[int(value[0])] = value[1]
            elif word == "end":
                ended[int(value[0])] = value[1:]
            elif word == "lines":
                for number in value["of"]:
                    self._add(began[number], *ended[number])
                known.update(value["of"])
                self._add_lines(value["files"], began)
            elif word == "why":
                self._found.why = self._found.why or (str(value) if not self._found.tests else None)
            elif word == "done":
                return bool(value) or self._found.why is not None
        for number, test in began.items():
            if number not in ended:
                late = outcome.ending is Ending.TIMED_OUT
                self._add(test, ENDED, 0.0, "it does not end" if late else "it ends the process")
        return self._found.why is not None

    def _add(self, test: Sequence[str], outcome: str, seconds: float, reason: str) -> None:
        kind, file, owner, name, item = map(str, test)
        made = BaselineTest(kind, file, owner, name, item, str(outcome), float(seconds), str(reason))
        if made.key not in self._numbers:
            self._numbers[made.key] = len(self._found.tests)
            self._found.tests.append(made)

    def _add_lines(self, files: dict[str, Any], began: dict[int, Sequence[str]]) -> None:
        for path, found in files.items():
            by_line = self._found.lines.setdefault(path, {})
            for line, numbers in found:
                kept = by_line.setdefault(int(line), [])
                kept += sorted(self._numbers[tuple(began[number])] for number in numbers)  # type: ignore[index]

    def _keep(self) -> None:
        found = self._found
        document = {
            **{name: getattr(found, name) for name in ("partial", "why", "spent", "total")},
            "tests": [list(asdict(test).values()) for test in found.tests],
            "lines": {
                path: {str(line): _ranges(numbers) for line, numbers in by_line.items()}
                for path, by_line in found.lines.items()
            },
        }
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self._file.parent, delete=False) as file:
            json.dump(document, file)
        os.replace(file.name, self._file)  # noqa: PTH105


def _read(file: Path) -> Baseline | None:
    try:
        document = json.loads(file.read_text())
        return Baseline(
            [BaselineTest(*test) for test in document["tests"]],
            {
                path: {int(line): _numbers(ranges) for line, ranges in by_line.items()}
                for path, by_line in document["lines"].items()
            },
            bool(document["partial"]),
            document["why"],
            float(document["spent"]),
            int(document["total"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _ranges(numbers: Sequence[int]) -> list[int]:
    """First and last of each run of ascending numbers: tests that run a line are often neighbours."""
    found: list[int] = []
    for number in numbers:
        if found and found[-1] == number - 1:
            found[-1] = number
        else:
            found += [number, number]
    return found


def _numbers(ranges: Sequence[int]) -> list[int]:
    return [
        number
        for first, last in zip(ranges[::2], ranges[1::2], strict=True)
        for number in range(first, last + 1)
    ]


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
