"""The claims of a back end are tested; failed ones are named, and reduce the strength."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

import platformdirs
import pytest

from counterlens.cli.doctor import _sandboxes
from counterlens.errors import SandboxError
from counterlens.processes import find_program
from counterlens.sandbox import claims, registry
from counterlens.sandbox.base import Ending, Job, JobOutcome, Sandbox, ServedProgram
from counterlens.sandbox.claims import ATTEMPTS, UNTRIED, attempt_all, failing_claims
from counterlens.sandbox.process import ProcessSandbox
from counterlens.sandbox.serving import Conversation
from counterlens.sandbox.shell import Bare

LESS = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'


class Boastful:
    """Claims everything, and runs programs as they are.

    Attributes:
        runs: How many.
    """

    name = "boastful"
    guarantees = tuple((claim, True) for claim in ("time", *ATTEMPTS))

    def __init__(self) -> None:
        self.runs = 0

    def run(self, job: Job, *, cancel: Event | None = None) -> JobOutcome:  # noqa: ARG002
        self.runs += 1
        program = job.files[job.entry].decode()
        done = subprocess.run(
            [str(job.python), "-c", program, *job.arguments], capture_output=True, timeout=20, check=False
        )
        return JobOutcome(Ending.EXITED, done.returncode, done.stdout, done.stderr, b"", False, 0.0)

    def serve(self, service: ServedProgram) -> Conversation:
        raise NotImplementedError


class WithoutNamespaces(Bare):
    """A container that lets nobody make user namespaces; Landlock and seccomp are there."""

    name = "without namespaces"

    def wrap(self, command: Sequence[str], folder: str, readable: Sequence[str], disk: int) -> list[str]:
        inner = super().wrap(command, folder, readable, disk)
        return [
            find_program("unshare") or "unshare",
            "--user",
            "--map-root-user",
            "sh",
            "-c",
            LESS,
            "sh",
            *inner,
        ]


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nothing, at first."""
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_: str(tmp_path))
    registry._try.cache_clear()
    yield
    registry._try.cache_clear()


def offered(monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox) -> None:
    """Make it the only back end."""
    monkeypatch.setattr(registry, "_BACK_ENDS", {sandbox.name: lambda: sandbox})
    registry._create.cache_clear()


@pytest.mark.usefixtures("remembered")
def test_what_only_claims_to_isolate_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = attempt_all(Boastful())
    assert set(everything) == set(ATTEMPTS)
    for claim, names in ATTEMPTS.items():
        hard = {"setxattr", "renaming", "linking"}  # not on every file system
        assert set(names) - hard <= {*everything[claim], "F_SETOWN"}, claim
    before = registry._BACK_ENDS
    offered(monkeypatch, Boastful())
    try:
        (found,) = registry.available()
        assert found.strength == "weak"
        assert dict(found.guarantees)["time"]
        assert not any(held for claim, held in found.guarantees if claim in ATTEMPTS)
        assert "chmod, utime" in found.reason
        said = " ".join(finding.detail for finding in _sandboxes())
        assert "NOT writes" in said
        assert "a Unix datagram" in said
    finally:
        monkeypatch.setattr(registry, "_BACK_ENDS", before)
        registry._create.cache_clear()


@pytest.mark.usefixtures("remembered")
def test_it_is_tried_once_and_again_when_asked_or_when_something_changed() -> None:
    sandbox = Boastful()
    first = failing_claims(sandbox)
    assert failing_claims(sandbox) == first
    assert sandbox.runs == 2  # a room each
    assert failing_claims(sandbox, again=True) == first
    assert sandbox.runs == 4
    sandbox.guarantees = (("time", True),)  # the kernel gives something else
    failing_claims(sandbox)
    assert sandbox.runs == 6


@pytest.mark.usefixtures("remembered")
@pytest.mark.parametrize("said", [b"", b"{}", b"[]", b'{"tried": [], "done": []}'])
def test_what_could_not_be_tried_does_not_hold(said: bytes) -> None:
    class Silent(Boastful):
        def run(self, job: Job, *, cancel: Event | None = None) -> JobOutcome:
            outcome = super().run(job, cancel=cancel)
            return JobOutcome(outcome.ending, 0, said, b"", b"", False, 0.0)

    found = failing_claims(Silent())
    assert set(found) in ({UNTRIED}, set(ATTEMPTS))


def test_without_user_namespaces_it_is_weak_and_says_what_it_lets_through() -> None:
    if find_program("unshare") is None:
        pytest.skip("there is nothing to take the namespaces away with")
    sandbox = ProcessSandbox(WithoutNamespaces())
    try:
        found = attempt_all(sandbox)
    except SandboxError as error:
        pytest.skip(str(error))
    assert {"chmod", "utime"} <= {*found["writes"]}
    assert found["originals"] == ("reading the original",)
    assert "reads" not in found
    assert "network" not in found


def test_a_strong_one_holds_all_that_it_claims() -> None:
    for found in registry.tried_again():
        if found.strength == "strong":
            assert not {*attempt_all(registry._create(found.name))} - {"names"}, found


def test_the_attempts_are_those_that_are_judged(tmp_path: Path) -> None:
    given = {name: str(tmp_path / name) for name in ("victim", "original", "folder", "socket")}
    program = Path(claims.__file__).with_name("attempts.py")
    done = subprocess.run(
        [sys.executable, program, json.dumps({**given, "bystander": 2**30, "port": 1, "datagrams": 1})],
        capture_output=True,
        check=True,
    )
    tried = json.loads(done.stdout)["tried"]
    assert sorted(tried) == sorted(name for names in ATTEMPTS.values() for name in names)
