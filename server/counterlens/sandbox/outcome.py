"""The outcome of a program, from what its launcher reported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from counterlens.errors import SandboxError
from counterlens.sandbox.base import Ending, Job, JobOutcome, Limits
from counterlens.sandbox.pipes import Pipes

_SIGXCPU, _SIGKILL = 24, 9


@dataclass(frozen=True, slots=True)
class LaunchedRun:
    """The raw result of a run."""

    pipes: Pipes
    in_time: bool
    seconds: float


def outcome_of(run: LaunchedRun, job: Job) -> tuple[JobOutcome, frozenset[str]] | None:
    """The outcome and the confinements that held; None if the launcher reported no end.

    Raises:
        SandboxError: the program could not be started.
    """
    pipes = run.pipes
    lines = [line.split(" ") for line in pipes.data("status").decode("utf-8", "replace").splitlines()]
    held = frozenset(words[1] for words in lines if words[0] == "holds")
    for words in lines:
        if words[0] == "error":
            raise SandboxError(f"the program could not be started in the sandbox: {' '.join(words[1:])}")
    ended = next((words for words in lines if words[0] in {"exited", "signalled", "exceeded"}), None)
    if run.in_time and ended is None:
        return None
    ending, code, cpu = _ending_of(ended, job) if ended else (Ending.TIMED_OUT, _SIGKILL, 0.0)
    outcome = JobOutcome(
        ending, code, pipes.data("output"), pipes.data("errors"), pipes.data("result"), pipes.truncated,
        run.seconds, cpu, tuple(_refusals(lines, job.limits)),
    )  # fmt: skip
    return outcome, held


def _refusals(lines: list[list[str]], limits: Limits) -> Iterator[str]:
    """What a program was kept from, in words."""
    exceeded = {
        "memory": f"use more than {limits.memory_bytes >> 20} MiB of memory",
        "disk": f"write more than {limits.disk_bytes >> 20} MiB of files",
        "processes": f"have more than {limits.processes} processes and threads",
        "machine": "use the last memory of this machine",
    }
    for word, *values in lines:
        if word == "refused":
            from counterlens.sandbox.linux.calls import describe_call  # names that few programs need

            yield f"it may not {describe_call(int(values[0]), int(values[1]))}"
        elif word == "exceeded" and values[0] in exceeded:
            yield f"it may not {exceeded[values[0]]}"


def _ending_of(words: list[str], job: Job) -> tuple[Ending, int, float]:
    if words[0] == "exceeded":
        late, burnt = words[1] == "time", words[1] == "processor"
        ending = Ending.TIMED_OUT if late or burnt else Ending.SIGNALLED
        return ending, _SIGXCPU if burnt else _SIGKILL, job.limits.cpu_seconds if burnt else 0.0
    code, cpu = int(words[1]), float(words[2])
    if words[0] == "exited":
        return Ending.EXITED, code, cpu
    burnt = code == _SIGXCPU or (code == _SIGKILL and cpu >= job.limits.cpu_seconds)
    return (Ending.TIMED_OUT if burnt else Ending.SIGNALLED), code, cpu
