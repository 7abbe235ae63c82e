"""Runs one call on a program in the sandbox, under an observer that reports what it saw."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

from counterlens.attribution.layout import layout_of
from counterlens.sandbox.base import Job, Limits, Outcome, Sandbox
from counterlens.syntax.document import Document


def run_observer(
    observer: Path,
    document: Document,
    call: str,
    sandbox: Sandbox,
    limits: Limits,
    *,
    cancel: Event | None = None,
) -> Outcome:
    """Run a call where its program can import what it imports on disk.

    Args:
        observer: A program that takes the document's file, the call, and folders to import from.
        document: The program.
        call: An expression over its names.
        sandbox: Where it is run.
        limits: What it may use.
        cancel: Set it to give up.

    Raises:
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    place = layout_of(document.path, document.text) if document.path else None
    return sandbox.run(
        Job(
            files={"observed.py": document.data, "observe.py": observer.read_bytes()},
            entry="observe.py",
            python=Path(sys.executable),
            arguments=("observed.py", call, *(str(root) for root in (place.roots if place else ()))),
            readable=place.readable if place else (),
            limits=limits,
        ),
        cancel=cancel,
    )
