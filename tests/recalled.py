"""Programs that have run before in this process are recalled, for tests of what is made of their outcomes.

Two thirds of them are the same as before: the tests of examples, counterfactuals, cheats. The same means the
same files, limits and arguments, with the same content of all that it may read beside this repository and the
installed packages. What did not end by itself runs again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

from counterlens.errors import Cancelled
from counterlens.sandbox.base import Ending, Job, JobOutcome
from counterlens.sandbox.following import follow
from counterlens.sandbox.process import ProcessSandbox

Run = Callable[..., JobOutcome]
REPOSITORY = Path(__file__).parents[1]
FOLDERS = tuple(
    f"tests/{name}/"
    for name in ("cli", "confidence", "doubt", "evaluation", "probes", "reports", "survivors")
)
"""Where tests recall programs; those of judging and of the sandbox itself run each."""
_MOST_FILES = 500  # that a program may read: of a larger project each runs
_MOST_BYTES = 1 << 18  # of an outcome


class RecalledPrograms:
    """What programs did, by all that they depend on. Thread-safe."""

    def __init__(self) -> None:
        self._outcomes: dict[bytes, tuple[JobOutcome, bytes]] = {}

    def around(self, run: Run) -> Run:
        """`ProcessSandbox.run`, with recollection in the tests of some folders."""

        @follow
        def recall(sandbox: ProcessSandbox, job: Job, *, cancel: Event | None = None) -> JobOutcome:
            if not os.environ.get("PYTEST_CURRENT_TEST", "").startswith(FOLDERS):
                return run(sandbox, job, cancel=cancel)
            nonce, key = _nonce(job), _key(sandbox, job)
            known = self._outcomes.get(key) if key else None
            if known is not None:
                if cancel is not None and cancel.is_set():
                    raise Cancelled
                outcome, before = known
                return replace(outcome, result=outcome.result.replace(before, nonce)) if before else outcome
            outcome = run(sandbox, job, cancel=cancel)
            written = len(outcome.result) + len(outcome.output) + len(outcome.errors)
            if key and outcome.ending is Ending.EXITED and written < _MOST_BYTES:
                self._outcomes[key] = (outcome, nonce)
            return outcome

        return recall


def _nonce(job: Job) -> bytes:
    """The random text by which a job knows its own report; empty if it has none."""
    task = job.files.get("task.json", b"")
    return str(json.loads(task).get("nonce", "")).encode() if b'"nonce"' in task else b""


def _key(sandbox: ProcessSandbox, job: Job) -> bytes | None:
    """A digest of all that a program depends on; None if that is too much to look at."""
    nonce, digest = _nonce(job), hashlib.blake2b()
    named = (
        sandbox.name,
        job.entry,
        job.python,
        job.arguments,
        job.limits,
        job.preload,
        job.readable,
        job.writable,
    )
    digest.update(repr((*named, os.environ.get("TZ"))).encode())
    for name, content in sorted(job.files.items()):
        digest.update(repr((name, content.replace(nonce, b"") if nonce else content)).encode())
    for path, content in sorted(job.covers.items()):
        digest.update(repr((str(path), content)).encode())
    for count, part in enumerate(_content([*job.readable, *job.writable])):
        if count > _MOST_FILES:
            return None
        digest.update(part)
    return digest.digest()


def _content(places: Iterable[Path]) -> Iterator[bytes]:
    """The names and contents of all files of places outside of the repository."""
    for place in sorted({*map(str, places)}):
        if not Path(place).is_relative_to(REPOSITORY):
            yield from _files(place)


def _files(path: str) -> Iterator[bytes]:
    try:
        found = Path(path).stat()
        if stat.S_ISREG(found.st_mode):
            yield repr((path, found.st_mode)).encode() + Path(path).read_bytes()
            return
        yield repr((path, found.st_mode)).encode()
        if stat.S_ISDIR(found.st_mode) and not (Path(path).is_symlink() or path.endswith("/.git")):
            for inner in sorted(Path(path).iterdir()):
                yield from _files(str(inner))
    except OSError as error:
        yield repr((path, error.errno)).encode()
