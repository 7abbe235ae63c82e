"""How fast local models are on this machine: measured once for each, estimated by size for the others."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import msgspec

from counterlens.counting import plural
from counterlens.models.base import PROCESSOR, RUNS_ON, Model, Prompt
from counterlens.models.files import note, recall

SLOW = 8.0
"""Tokens per second below which a probe of one function takes many minutes."""

_MEMORY = "model-speeds.json"
_QUIET = 0.1  # share of the processors that other programs may use
_GLANCE = 0.3  # seconds: long enough for a system that counts in hundredths
_TEXT = "".join(f"def total_{i}(items):\n    return sum(item.price for item in items)\n" for i in range(12))
_PROMPT = Prompt("def fizz(n):\n    for i in range(n):\n        print(", 48)
_LONG = Prompt(_TEXT.replace("total", "cost") * 3, 1)
_FIRST_TOKENS = 600
"""About what is read before the first mark of a file: its header, and a function."""


@dataclass(frozen=True, slots=True)
class ModelSpeed:
    """What a model needs on this machine.

    Attributes:
        writing: Tokens of a completion per second, one prompt at a time.
        reading: Tokens of a scored text per second.
        opening: Seconds until the file is loaded.
        memory: Largest resident size of its process, in bytes; 0 if unknown.
        measured: Whether it was measured, not estimated.
        first_token: Seconds until the first token after a prompt of some 700 tokens; 0 if unknown.
        machine: The processor of this machine, and the device that computes layers of the model, if any.
        others: Share of the processors that other programs used meanwhile; 0 if unknown.
    """

    writing: float
    reading: float
    opening: float
    memory: int
    measured: bool = True
    first_token: float = 0.0
    machine: str = ""
    others: float = 0.0

    @property
    def disturbed(self) -> bool:
        """Whether other programs made the model slower: then it is not the speed of the model."""
        return self.others > _QUIET

    @property
    def first_mark(self) -> float:
        """Seconds from opening a file to its first mark, with the model not loaded yet."""
        return self.opening + _FIRST_TOKENS / self.reading


def measure_speed(
    model: Model, opening: float, *, pid: int | None = None, cancel: Event | None = None
) -> ModelSpeed:
    """Measure an open model, and store the result unless other programs disturbed it; takes a few seconds.

    Args:
        model: The model, without a response cache.
        opening: Seconds that it took to open it.
        pid: The process that holds it.

    Raises:
        Cancelled: `cancel` was set.
    """
    model.complete([Prompt(_PROMPT.text, 1)], cancel=cancel)  # a warm-up
    used_before = _used_by_others(pid)
    begun = time.perf_counter()
    model.complete([_LONG], cancel=cancel)
    started = time.perf_counter()
    (answer,) = model.complete([_PROMPT], cancel=cancel)
    written = time.perf_counter()
    scores = model.score(_TEXT, alternatives=0, cancel=cancel)
    ended = time.perf_counter()
    used = _used_by_others(pid) - used_before
    speed = ModelSpeed(
        max(1, answer.tokens) / max(written - started, 1e-6),
        len(scores.logprob) / max(ended - written, 1e-6),
        opening,
        _peak_memory(pid),
        first_token=started - begun,
        machine=_machine(dict(model.info.details)),
        others=_share(used, ended - begun),
    )
    if not speed.disturbed:
        note(_MEMORY, model.info.identity, msgspec.json.encode(speed).decode())
    return speed


def undisturbed_speed(
    model: Model,
    opening: float,
    *,
    notice: Callable[[str], None],
    pid: int | None = None,
    cancel: Event | None = None,
) -> ModelSpeed | str:
    """`measure_speed` if other programs leave the processors to the model; else why there is no speed.

    While they do not, nothing is measured: a large model would take many seconds for what is not kept.
    """
    others = share_of_others(pid)
    if others <= _QUIET:
        notice(f"measuring the speed of {model.info.id}")
        speed = measure_speed(model, opening, pid=pid, cancel=cancel)
        if not speed.disturbed:
            return speed
        others = speed.others
    return f"no speed is kept of {model.info.id}: other programs used {others:.0%} of the processors"


def share_of_others(pid: int | None) -> float:
    """The share of the processors that other programs use now; 0 where the system does not tell.

    Args:
        pid: The process that holds an idle model, which is none of the others.
    """
    before, begun = _used_by_others(pid), time.perf_counter()
    time.sleep(_GLANCE)
    return _share(_used_by_others(pid) - before, time.perf_counter() - begun)


def noted_speed(identity: str) -> ModelSpeed | None:
    """The measured speed of a model on this machine; None if it was never measured undisturbed.

    Args:
        identity: SHA-256 of its file.
    """
    try:
        speed = msgspec.json.decode(str(recall(_MEMORY, identity)), type=ModelSpeed)
    except msgspec.DecodeError:
        return None
    return None if speed.disturbed else speed


def estimated_speed(measured: ModelSpeed, measured_bytes: int, file_bytes: int) -> ModelSpeed:
    """The speed of another model: each token reads the whole file once, and memory is the file's.

    Args:
        measured_bytes: The size of its file.
        file_bytes: The size of the other model's file.
    """
    ratio = file_bytes / measured_bytes
    return replace(
        measured,
        writing=measured.writing / ratio,
        reading=measured.reading / ratio,
        opening=measured.opening * ratio,
        first_token=measured.first_token * ratio,
        memory=max(0, measured.memory + file_bytes - measured_bytes) if measured.memory else 0,
        measured=False,
    )


def available_memory() -> int | None:
    """Bytes of memory that programs could still have, within a container's limit; None if unknown."""
    try:
        rows = dict(
            line.split(":") for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        )
        available = int(rows["MemAvailable"].split()[0]) << 10
    except (OSError, ValueError, KeyError):
        return None
    try:
        most = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        used = int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no container limits it
        return available
    return min(available, max(0, most - used))


def _machine(details: Mapping[str, str]) -> str:
    """The device of a local model, and the number of processors."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    processor = next(names, "") or platform.processor() or platform.machine()
    device = details.get(RUNS_ON, PROCESSOR)
    return ", ".join(
        [
            f"{processor}, {plural(os.cpu_count() or 1, 'processor')}",
            *([] if device == PROCESSOR else [device]),
        ]
    )


def _share(used: float, elapsed: float) -> float:
    """The share of all processors that some processor seconds are, of so many seconds that have passed."""
    return min(1.0, max(0.0, used / elapsed / (os.cpu_count() or 1)))


def _used_by_others(pid: int | None) -> float:
    """Processor seconds of all processes but this one and another; 0 where the system does not tell."""
    try:
        every = Path("/proc/stat").read_text(encoding="ascii", errors="replace").split(maxsplit=8)[1:8]
        child = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2]
    except OSError:
        return 0.0
    user, nice, system, _, _, interrupts, soft = map(int, every)
    ticks = user + nice + system + interrupts + soft - sum(map(int, child.split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK") - time.process_time()


def _peak_memory(pid: int | None) -> int:
    """The largest resident size of a process; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
