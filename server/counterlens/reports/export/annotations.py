"""Verdicts that a mutation changed, as lines: for a terminal or a hook, and as annotations on GitHub."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from counterlens.metrics.effects import PairOutcome
from counterlens.probes.pairs.phrases import change_phrase
from counterlens.reports.export.view import Exported
from counterlens.reports.wording import evidence
from counterlens.text import printable

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = _DATA | {":": "%3A", ",": "%2C"}


@dataclass(frozen=True, slots=True)
class Annotation:
    """A right verdict that was lost.

    Attributes:
        file: As the user named it, or relative to the folder of the repository; for a dataset, the name of
            the problem.
        line: The changed line, 1-based.
        end_line: The last line of the change.
        mutation: The change.
        message: Its meaning, and a suggestion for the author of the line.
    """

    file: str
    line: int
    end_line: int
    mutation: str
    message: str

    def __str__(self) -> str:
        return printable(f"{self.file}:{self.line}: {self.message}", keep="\t")

    @property
    def workflow_command(self) -> str:
        """The format that GitHub Actions reads from a step's output and shows at the line."""
        place = {
            "file": self.file,
            "line": str(self.line),
            "endLine": str(self.end_line),
            "title": f"Counterlens: {self.mutation}",
        }
        properties = ",".join(f"{name}={_escape(value, _PROPERTY)}" for name, value in place.items())
        return f"::warning {properties}::{_escape(self.message, _DATA)}"


def annotation_commands(export: Exported) -> Iterator[Annotation]:
    """Annotations of lines: right verdicts that a mutation lost, in the order of the records.

    Functions whose verdict placebos change, too, have none, and neither have unstable pairs.
    """
    for exported in export.records:
        for pair in () if exported.noise else exported.judged_pairs:
            if pair.outcome is PairOutcome.LOST and not pair.changed_unstably:
                why, function = evidence(pair.counterfactual), exported.function
                change = change_phrase(pair.mutation)
                message = f"{change}, {exported.model} no longer gets {function} right ({why})"
                test = pair.counterfactual.failed or "its tests"
                message += f". Before you accept a suggestion here, run {test}, which detected this"
                place = exported.file, pair.start_line, pair.end_line
                yield Annotation(*place, pair.mutation, " ".join(message.split()))


def github(export: Exported) -> str:
    """One workflow command per line."""
    return "".join(f"{annotation.workflow_command}\n" for annotation in annotation_commands(export))


def _escape(text: str, how: dict[str, str]) -> str:
    return "".join(how.get(character, character) for character in printable(text, keep="\t\r\n"))
