"""The truth about a call: its output, and the rounds of its loops."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from typing import Any

from counterlens.errors import SourceError
from counterlens.probes.execution.languages import executed
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document


@dataclass(frozen=True, slots=True)
class CallTruth:
    """The result of a call.

    Attributes:
        value: The output.
        written: The output as a literal.
        rounds: The total number of rounds of all loops; None if unknown.
    """

    value: Any
    written: str
    rounds: int | None


def truth_of(
    document: Document, call: str, sandbox: Sandbox, *, limits: Limits, cancel: Event | None = None
) -> CallTruth:
    """Run a call, and count the rounds of its loops.

    Arguments and errors are those of `ExecutedLanguage.output_of`. A result that depends on a random order
    has no truth: it raises a SourceError, too.
    """
    language = executed(document.language)
    output = language.output_of(document, call, sandbox, limits=limits, cancel=cancel)
    language.require_ordered(document, call, output, sandbox, limits=limits, cancel=cancel)
    rounds: int | None
    try:
        rounds = language.rounds_of(document, call, sandbox, limits=limits, cancel=cancel)
    except SourceError:
        rounds = None
    return CallTruth(output.value, output.written, rounds)
