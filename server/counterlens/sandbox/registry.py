"""The sandboxes, best first. To add one: write its file, and add a line to `_BACK_ENDS`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from counterlens.errors import SandboxError
from counterlens.sandbox.base import Sandbox


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


def _process() -> Sandbox:
    if sys.platform == "win32":
        raise SandboxError("running programs is not supported on Windows yet", "Use WSL 2")
    from counterlens.sandbox.process import ProcessSandbox

    return ProcessSandbox()


_BACK_ENDS: dict[str, Callable[[], Sandbox]] = {"process": _process}


@cache
def available() -> tuple[Availability, ...]:
    """All back ends in order of preference, each tried once in the life of this process."""
    return tuple(_try(name, make) for name, make in _BACK_ENDS.items())


@cache
def best_sandbox() -> Sandbox:
    """The first back end that works here.

    Raises:
        SandboxError: none does; says why.
    """
    for back_end in available():
        if back_end.usable:
            return _BACK_ENDS[back_end.name]()
    reasons = "; ".join(f"{back_end.name}: {back_end.reason}" for back_end in available())
    raise SandboxError(f"programs cannot be run safely on this machine ({reasons})")


def _try(name: str, make: Callable[[], Sandbox]) -> Availability:
    try:
        guarantees = make().guarantees
    except SandboxError as error:
        return Availability(name, False, str(error), ())
    weak = [what for what, held in guarantees if not held]
    return Availability(name, True, f"does not isolate {', '.join(weak)}" if weak else "", guarantees)
