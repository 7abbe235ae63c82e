"""One process at a time: one computes a result that several need, and the others wait for it."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import platformdirs

from counterlens.errors import Cancelled
from counterlens.regular_file import check_database

_PATIENCE = 300.0  # seconds after which a process no longer waits for one that may be suspended
_LOOKING = 0.2  # seconds between two checks whether the wait was cancelled


@contextmanager
def one_process(purpose: str, cancelled: Event, patience: float = _PATIENCE) -> Iterator[None]:
    """Wait until no other process of this user is in this block for the same purpose.

    The lock ends with its process, however that ends. No process waits if the cache cannot be written, which
    only costs time.

    Args:
        purpose: The name of the computation.
        cancelled: Set from another thread to cancel the wait.
        patience: The longest wait in seconds; after it the block is entered without the lock.

    Raises:
        Cancelled: `cancelled` was set during the wait.
    """
    name = hashlib.sha256(purpose.encode()).hexdigest()[:16]
    path = Path(platformdirs.user_cache_dir("counterlens")) / "locks" / f"{name}.sqlite"
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, sqlite3.Error):
            path.parent.mkdir(parents=True, exist_ok=True)
            check_database(path)
            connection = sqlite3.connect(path, timeout=_LOOKING, isolation_level=None)
            stack.callback(connection.close)
            _wait(connection, cancelled, time.monotonic() + patience)
        yield


def _wait(connection: sqlite3.Connection, cancelled: Event, until: float) -> None:
    while True:
        try:
            connection.execute("BEGIN EXCLUSIVE")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        if cancelled.is_set():
            raise Cancelled
