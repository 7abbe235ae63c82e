"""Calls of a program's function in the sandbox, and their results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.judging.base import Setting
from counterlens.judging.comparison import Form, comparable, same, show
from counterlens.judging.pace import bound_limits
from counterlens.python.judging.layout import Layout
from counterlens.sandbox.base import Ending, Job, JobOutcome
from counterlens.sandbox.interpreter import describe
from counterlens.sandbox.shipping import IMPORTED, quick_files, start_script

_PACKAGE = Path(__file__).with_name("sandboxed")
_OTHERS = (
    *("runner", "pytest_", "warm_up_cases", "imported_ahead", "kept_code", "recorder_warm", "shipped_loader"),
    *(
        f"recorder/{name}"
        for name in ("compiling", "exclusion", "line_probes", "mapping", "survey", "watcher")
    ),
)
OBSERVING = (*IMPORTED, "counterlens.python.judging.sandboxed.recorder_warm")
"""What an interpreter that waits for observed calls imports, of any kind: for `Job.preload`."""
_RESTARTS = 3
_FULL = "full"  # the kind of trouble of a process that cannot start more threads


@dataclass(frozen=True, slots=True)
class CallRecord:
    """The result of one call.

    Attributes:
        result: The encoded result, if it returned.
        exception: The name of the exception's class, if it raised one.
        limit: The limit that it reached, if any; nothing else is known then.
        after: The encoded arguments after the call; None if unchanged.
        output: Its printed output.
        effects: What else others can see of it, such as `changes the environment`.
        traces: What it did that is its own matter, such as `changes the state of random`; never compared.
        outside: Its outside effects, such as `opens files`.
        arcs: Arcs that no earlier call took, if arcs are traced.
    """

    result: Form = None
    exception: str | None = None
    limit: str | None = None
    after: Form = None
    output: str = ""
    effects: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    outside: str | None = None
    arcs: frozenset[tuple[int, int]] = frozenset()

    @property
    def returned(self) -> bool:
        """Whether the call returned: it raised nothing and reached no limit."""
        return self.exception is None and self.limit is None

    @property
    def comparable(self) -> bool:
        """Whether its result and arguments can be compared with those of another call."""
        return self.limit is None and comparable(self.result) and comparable(self.after)

    def like(self, other: CallRecord) -> bool:
        """Whether two calls behaved the same: result or exception, arguments, output, effects."""
        if self.limit or other.limit or self.exception != other.exception or self.output != other.output:
            return False
        if self.effects != other.effects or self.outside != other.outside:
            return False
        if self.exception is None and not same(self.result, other.result):
            return False
        if (self.after is None) != (other.after is None):
            return False
        return self.after is None or same(self.after, other.after)

    def ends_like(self, other: CallRecord) -> bool:
        """Whether two calls return the same value or raise the same exception, whatever else they do."""
        if self.limit or other.limit or self.exception or other.exception:
            return self.limit == other.limit and self.exception == other.exception
        return same(self.result, other.result)

    def differences(self, other: CallRecord) -> tuple[str, str]:
        """Describe the results of two calls that differ."""
        if self.limit or other.limit or self.exception or other.exception:
            return self.ending, other.ending
        if not same(self.result, other.result):
            return self.ending, other.ending
        if self.output != other.output:
            return f"printed {self.output!r}", f"printed {other.output!r}"
        if (self.effects, self.outside) != (other.effects, other.outside):
            return self._doing(other), other._doing(self)
        return self._leaving(), other._leaving()

    @property
    def ending(self) -> str:
        """How the call ended, in words."""
        if self.limit:
            return f"did not end ({self.limit})" if self.limit in {"steps", "time"} else self.limit
        return f"raised {self.exception}" if self.exception else f"returned {show(self.result)}"

    def _doing(self, other: CallRecord) -> str:
        """What it did that the other call did not."""
        effects = [effect for effect in (*self.effects, self.outside) if effect]
        only = [effect for effect in effects if effect not in (*other.effects, other.outside)]
        return ", ".join(only) or "does not do that"

    def _leaving(self) -> str:
        if self.after is None:
            return "left its arguments as they were"
        positional, named = self.after[1][1:], self.after[2][1:]
        values = [*map(show, positional), *(f"{name}={show(value)}" for name, value in named)]
        return f"left its arguments as ({', '.join(values)})"


@dataclass(frozen=True, slots=True)
class Trouble:
    """The reason why a program could not be called at all.

    Attributes:
        kind: `invalid` (it does not parse), `import` (it cannot be imported), `missing` (it lacks the
            function), `ended` (it ended the process), `timed out`.
        message: Further detail.
    """

    kind: str
    message: str

    def __str__(self) -> str:
        if self.kind == "import":
            return f"it cannot be imported: {self.message}"
        return f"it does not define {self.message}" if self.kind == "missing" else self.message


@dataclass(frozen=True, slots=True)
class Recording:
    """The results of a series of calls, up to its end: one observation per call, in order."""

    observations: tuple[CallRecord, ...]
    trouble: Trouble | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Recorder:
    """Calls one function of programs that replace one file.

    Attributes:
        setting: Their sandbox and interpreter.
        place: The file that they replace; None for a text without a file.
        target: The qualified name of the function.
        readable: Whether the program may read its project, to import from it.
        seeded: Whether random numbers are the same for the same call.
        shared: Variables of the module that the target is not alone to read.
    """

    setting: Setting
    place: Layout | None
    target: str
    readable: bool
    seeded: bool = False
    shared: frozenset[str] = frozenset()

    def record(
        self,
        program: str,
        calls: Sequence[Mapping[str, Any]],
        *,
        seconds: float,
        steps: int | None = None,
        stop: bool = False,
        cancel: Event | None = None,
    ) -> Recording:
        """Make calls, all in one process.

        Args:
            program: The whole source.
            calls: The arguments, in the form of `sandboxed/recorder/calls.py`.
            seconds: The limit of each call, in seconds of processor time; five times that elapsed.
            steps: Maximum lines of the program that a call may run; None for no bound and no tracing.
            stop: Whether to stop at the first call that reaches a limit. Otherwise a call that ends the
                process is recorded, and another process makes the calls after it.

        Raises:
            Cancelled: `cancel` was set.
            SandboxError: the sandbox could not be set up.
        """
        seen: list[CallRecord] = []
        spent = 0.0
        project = self.place if self.readable else None
        readable = project.readable if project else ()
        covers = project.covered_by(program) if project else {}
        for _ in range(_RESTARTS + 1):
            task = {
                "source": program,
                "path": str(self.place.path) if self.place else "program.py",
                "module": self.place.module if self.place else "program",
                "roots": [str(root) for root in project.roots] if project else [],
                "target": self.target,
                "calls": list(calls[len(seen) :]),
                "first": len(seen),
                "seeded": self.seeded,
                "shared": sorted(self.shared),
                "seconds": seconds,
                "steps": steps,
                "stop": stop,
            }
            outcome = run(self.setting, "calls", task, readable, cancel, covers=covers)
            spent += outcome.seconds
            trouble, running = _read(outcome, seen, len(calls))
            if trouble is not None and trouble.kind == _FULL:
                continue
            if trouble is None or trouble.kind in {"invalid", "import", "missing"} or not running or stop:
                return Recording(tuple(seen), trouble, spent)
            seen.append(CallRecord(limit="time" if trouble.kind == "timed out" else trouble.message))
        return Recording(tuple(seen), trouble, spent)


def run(
    setting: Setting,
    module: str,
    task: Mapping[str, Any],
    readable: tuple[Path, ...],
    cancel: Event | None,
    more: Mapping[str, bytes] | None = None,
    covers: Mapping[Path, bytes] | None = None,
    preload: tuple[str, ...] = OBSERVING,
    writable: tuple[Path, ...] = (),
) -> JobOutcome:
    """Run one module of the recorder on a task, with `more` files beside it; other parameters as in `Job`.

    The room is closed unless something in it is writable.
    """
    ahead = module == "calls" and preload == OBSERVING
    package = quick_files(_PACKAGE, describe(setting.python).bytecode, _OTHERS if module == "calls" else ())
    files = {
        **({} if ahead else package),
        "start.py": start_script(f"sandboxed.recorder.{module}"),
        "task.json": json.dumps(task).encode(),
        **(more or {}),
    }
    limits = bound_limits(setting.limits)
    if not writable:
        limits = replace(limits, processes=0)
    job = Job(
        files,
        "start.py",
        setting.python,
        cold_files=package if ahead else {},
        readable=readable,
        limits=limits,
        covers=covers or {},
        preload=preload,
        writable=writable,
    )
    return setting.sandbox.run(job, cancel=cancel)


def _read(outcome: JobOutcome, seen: list[CallRecord], wanted: int) -> tuple[Trouble | None, bool]:
    """Add the lines of a report to `seen`; return the trouble, and whether a call was running at the end."""
    running, ended, before = False, False, len(seen)
    for line in outcome.result.decode("ascii", "replace").split("\n")[:-1]:
        word, _, rest = line.partition(" ")
        number, _, text = rest.partition(" ")
        try:
            if word == "failed":
                failure = json.loads(rest)
                where = f"line {failure['line']}: " if failure.get("line") else ""
                return Trouble(str(failure["kind"]), f"{where}{failure['why']}"), False
            if word == "call":
                running = int(number) == len(seen)
            elif word == "done" and running and int(number) == len(seen) < wanted:
                observation = _observation(json.loads(text))
                if observation.limit == "threads" and len(seen) > before:
                    # The kernel counts threads that have ended, too: a new process can start as many again.
                    return Trouble(_FULL, "it starts too many threads"), True
                seen.append(observation)
                running, ended = False, bool(seen[-1].limit)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            return Trouble("ended", "its report is malformed"), running
    if outcome.ending is Ending.TIMED_OUT:
        return Trouble("timed out", f"stopped after {outcome.seconds:.0f} s"), running
    if len(seen) == wanted or ended:
        return None, False
    if outcome.truncated:
        return Trouble("ended", "its result is too large to compare"), running
    how = f"exit code {outcome.code}" if outcome.ending is Ending.EXITED else f"signal {outcome.code}"
    return Trouble("ended", f"it ended the process ({how})"), running


def _observation(seen: Mapping[str, Any]) -> CallRecord:
    """One observation; its fields have the right types whatever the report contains."""

    def text(name: str) -> str | None:
        value = seen.get(name)
        return None if value is None else str(value)

    limit = text("l")
    return CallRecord(
        result=seen.get("r"),
        exception=None if limit else text("x"),
        limit=limit,
        after=seen.get("a"),
        output=text("o") or "",
        effects=tuple(map(str, seen.get("s") or ())),
        traces=tuple(map(str, seen.get("t") or ())),
        outside=text("e"),
        arcs=frozenset((int(a), int(b)) for a, b in seen.get("b") or ()),
    )
