"""The verdicts that a mutation changed as lines: for a terminal or a hook, and as annotations on GitHub."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from counterlens.evaluation.figures import Found
from counterlens.evaluation.store import Item
from counterlens.reports.evaluation.outcomes import evidence, outcome
from counterlens.reports.phrases import done

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = _DATA | {":": "%3A", ",": "%2C"}


@dataclass(frozen=True, slots=True)
class Annotation:
    """A right verdict that was lost.

    Attributes:
        file: Relative to the folder of the run's repository; of a dataset the name of the problem.
        line: Where the code was changed, 1-based.
        end_line: The last line of the change.
        mutation: What was done.
        message: What it means.
    """

    file: str
    line: int
    end_line: int
    mutation: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"

    @property
    def workflow_command(self) -> str:
        """What GitHub Actions reads from a step's output and shows at the line."""
        place = {
            "file": self.file,
            "line": str(self.line),
            "endLine": str(self.end_line),
            "title": f"Counterlens: {self.mutation}",
        }
        properties = ",".join(f"{name}={_escaped(value, _PROPERTY)}" for name, value in place.items())
        return f"::warning {properties}::{_escaped(self.message, _DATA)}"


def annotated(found: Found) -> Iterator[Annotation]:
    """What a run has to say of lines: right verdicts that a mutation lost, in the order of the plan."""
    for item, record in found.records:
        for pair in record.judged_pairs:
            if outcome(pair) == "lost":
                why = evidence(pair["counterfactual"])
                said = f"{done(pair['mutation'])}, {item.model} no longer gets {item.function} right ({why})"
                place = _file(item), pair["start_line"], pair["end_line"]
                yield Annotation(*place, pair["mutation"], " ".join(said.split()))


def run_github(found: Found) -> str:
    """One workflow command a line."""
    return "".join(f"{one.workflow_command}\n" for one in annotated(found))


def _file(item: Item) -> str:
    return item.problem.partition("::")[0]


def _escaped(text: str, how: dict[str, str]) -> str:
    return "".join(how.get(character, character) for character in text)
