"""The sandboxes, best first. To add one: write its file, and add a line to `_BACK_ENDS`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from counterlens.errors import SandboxError
from counterlens.sandbox.base import Sandbox

_OPEN = {"memory", "disk"}  # what a program can only be a nuisance by


class Availability(NamedTuple):
    """What one back end offers on this machine.

    Attributes:
        name: Its id.
        usable: Whether it can run programs here.
        reason: Why not, or what is weak about it; empty when nothing is.
        guarantees: What it isolates; see `Sandbox.guarantees`.
    """

    name: str
    usable: bool
    reason: str
    guarantees: tuple[tuple[str, bool], ...]

    @property
    def weak(self) -> bool:
        """Whether a program could do harm here: read, write, connect, signal, or leave processes behind."""
        return self.usable and any(not held for what, held in self.guarantees if what not in _OPEN)

    @property
    def strength(self) -> str:
        """`strong`, `weak` or `none`."""
        return ("weak" if self.weak else "strong") if self.usable else "none"


def _bubblewrap() -> Sandbox:
    from counterlens.sandbox.bubblewrap import Bubblewrap
    from counterlens.sandbox.process import ProcessSandbox

    return ProcessSandbox(Bubblewrap())


def _process() -> Sandbox:
    if sys.platform == "win32":
        raise SandboxError("this needs fork, which Windows does not have")
    from counterlens.sandbox.process import ProcessSandbox

    return ProcessSandbox()


def _seatbelt() -> Sandbox:
    from counterlens.sandbox.process import ProcessSandbox
    from counterlens.sandbox.seatbelt import Seatbelt

    return ProcessSandbox(Seatbelt())


def _job_object() -> Sandbox:
    from counterlens.sandbox.job_object import JobObjectSandbox

    return JobObjectSandbox()


# Order of preference; only those for this system are tried.
_BACK_ENDS: dict[str, Callable[[], Sandbox]] = {
    "linux": {"bubblewrap": _bubblewrap, "process": _process},
    "darwin": {"sandbox-exec": _seatbelt, "process": _process},
    "win32": {"job object": _job_object},
}.get(sys.platform, {"process": _process})


@cache
def _made(name: str) -> Sandbox:
    return _BACK_ENDS[name]()


@cache
def available() -> tuple[Availability, ...]:
    """All back ends in order of preference, each tried once in the life of this process by running it."""
    return tuple(_try(name) for name in _BACK_ENDS)


@cache
def chosen() -> Availability:
    """The back end that programs run in: the first strong one, else the first that works at all.

    Raises:
        SandboxError: none does; says why.
    """
    usable = [back_end for back_end in available() if back_end.usable]
    if not usable:
        reasons = "; ".join(f"{back_end.name}: {back_end.reason}" for back_end in available())
        raise SandboxError(f"programs cannot be run safely on this machine ({reasons})")
    return next((back_end for back_end in usable if not back_end.weak), usable[0])


def best_sandbox() -> Sandbox:
    """The sandbox to run programs in; see `chosen`.

    Raises:
        SandboxError: none works here; says why.
    """
    return _made(chosen().name)


def _try(name: str) -> Availability:
    try:
        guarantees = _made(name).guarantees
    except SandboxError as error:
        return Availability(name, False, str(error), ())
    weak = [what for what, held in guarantees if not held]
    return Availability(name, True, f"does not isolate {', '.join(weak)}" if weak else "", guarantees)
