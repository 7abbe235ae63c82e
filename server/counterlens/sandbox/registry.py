"""The sandboxes, best first. To add one: write its file, and add a line to `_BACK_ENDS`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from counterlens.errors import SandboxError
from counterlens.sandbox.base import Sandbox
from counterlens.sandbox.claims import ATTEMPTS, UNTRIED, failing_claims

_OPEN = {"memory", "disk"}  # missing ones only let a program use resources
_SEEN = {"names"}  # missing ones only let it learn names and sizes, not contents


class Availability(NamedTuple):
    """The properties of one back end on this machine.

    Attributes:
        name: Its id.
        usable: Whether it can run programs here.
        reason: Why it is not usable, or is weak; empty if neither.
        guarantees: Its isolation, see `Sandbox.guarantees`, corrected by the attempts made in it.
    """

    name: str
    usable: bool
    reason: str
    guarantees: tuple[tuple[str, bool], ...]

    @property
    def weak(self) -> bool:
        """Whether a program could do harm here: read, write, connect, signal, or leave processes behind."""
        return self.usable and any(not held for what, held in self.guarantees if what not in _OPEN | _SEEN)

    @property
    def strength(self) -> str:
        """`strong`, `weak` or `none`."""
        return ("weak" if self.weak else "strong") if self.usable else "none"


def _bubblewrap() -> Sandbox:
    from counterlens.sandbox.process import ProcessSandbox
    from counterlens.sandbox.shell import Bubblewrap

    return ProcessSandbox(Bubblewrap())


def _process() -> Sandbox:
    if sys.platform == "win32":
        raise SandboxError("this needs fork, which Windows does not have")
    from counterlens.sandbox.process import ProcessSandbox

    return ProcessSandbox()


# Order of preference; only those for this system are tried.
_BACK_ENDS: dict[str, Callable[[], Sandbox]] = {
    "linux": {"bubblewrap": _bubblewrap, "process": _process},
}.get(sys.platform, {"process": _process})


@cache
def _create(name: str) -> Sandbox:
    return _BACK_ENDS[name]()


def available() -> tuple[Availability, ...]:
    """All back ends in order of preference, each tested once per process by running it."""
    return tuple(_try(name) for name in _BACK_ENDS)


def choose() -> Availability:
    """The back end that programs run in: the first strong one, else the first usable one.

    Back ends after a strong one are not tested.

    Raises:
        SandboxError: none is usable; the message says why.
    """
    usable: list[Availability] = []
    for back_end in map(_try, _BACK_ENDS):
        if back_end.strength == "strong":
            return back_end
        if back_end.usable:
            usable.append(back_end)
    if not usable:
        reasons = "; ".join(f"{back_end.name}: {back_end.reason}" for back_end in available())
        raise SandboxError(f"programs cannot be run safely on this machine ({reasons})")
    return usable[0]


def best_sandbox() -> Sandbox:
    """The sandbox to run programs in; see `choose`.

    Raises:
        SandboxError: none is usable; the message says why.
    """
    return _create(choose().name)


def tried_again() -> tuple[Availability, ...]:
    """All back ends, with every claim tested now, ignoring stored results."""
    _try.cache_clear()
    for name in _BACK_ENDS:
        with contextlib.suppress(SandboxError):
            failing_claims(_create(name), again=True)
    return available()


@cache
def _try(name: str) -> Availability:
    try:
        sandbox = _create(name)
        claimed = dict(sandbox.guarantees)
    except SandboxError as error:
        return Availability(name, False, str(error), ())
    done = failing_claims(sandbox)
    guarantees = claimed | {claim: claimed.get(claim, True) and claim not in done for claim in ATTEMPTS}
    if UNTRIED in done:
        guarantees |= dict.fromkeys(ATTEMPTS, False)
    weak = [_claim_sentence(what, done.get(what, ())) for what, held in guarantees.items() if not held]
    untried = f"; its claims could not be tested: {done[UNTRIED][0]}" if UNTRIED in done else ""
    reason = f"does not isolate {', '.join(weak)}{untried}" if weak else ""
    return Availability(name, True, reason, tuple(guarantees.items()))


def _claim_sentence(claim: str, done: tuple[str, ...]) -> str:
    return f"{claim} ({', '.join(done)})" if done else claim
