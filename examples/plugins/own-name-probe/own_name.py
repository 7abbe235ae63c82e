"""A probe: is a function's own name likelier than a meaningless one, once the body has been read?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from counterlens.errors import OptionError
from counterlens.metrics.effects import wilson
from counterlens.metrics.table import Table
from counterlens.models.base import Model
from counterlens.probes.options import ProbeOptions, option
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.record import Record
from counterlens.syntax.functions import find_function


def check_letter(letter: str) -> None:
    """Refuse what is not one letter."""
    if len(letter) != 1 or not letter.isalpha():
        raise OptionError(f"--letter is one letter, not {letter!r}")


Letter = Annotated[str, option("Letter that the meaningless name is made of.", check=check_letter)]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNameOptions(ProbeOptions):
    """Its options; `--letter` appears on the command line, and in the manifest of a run."""

    letter: Letter = "x"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNameRecord(Record):
    """Log-probabilities, in nats, of both names of a function."""

    own: float
    meaningless: float


class OwnNameProbe(Probe[OwnNameOptions, OwnNameRecord]):
    """Scores both names behind the body of the function."""

    id = "own-name"
    title = "does it expect the name that the function has?"
    source = Source("ours")
    needs = frozenset({Need.SCORE})
    options = OwnNameOptions
    record = OwnNameRecord

    def run(self, context: Context, target: Target, options: OwnNameOptions) -> OwnNameRecord:
        """Score both names."""
        context.steps.next(f"scoring the names of {target.name}")
        function = find_function(target.document, target.qualname)
        body = target.document.data[function.body : function.end].decode()
        names = [function.name, options.letter * len(function.name)]
        own, other = context.model.score_continuations(
            f"# A function:\n\n{body}\n\n# Its name:", [f" {name}" for name in names], cancel=context.cancel
        )
        return OwnNameRecord(own=float(own.logprob.sum()), meaningless=float(other.logprob.sum()))

    def tables(self, records: Sequence[OwnNameRecord], *, seed: int) -> tuple[Table, ...]:
        """How often the own name is likelier, with its interval."""
        likelier = wilson(sum(record.own > record.meaningless for record in records), len(records))
        listed = tuple((record.target, record.own, record.meaningless) for record in records)
        return (
            Table("names", ("function", "own", "meaningless"), listed, "log-probabilities in nats"),
            Table("together", ("n", "own name likelier"), ((likelier.n, likelier),)),
        )

    def summary(self, records: Sequence[OwnNameRecord]) -> str:
        """The same in a sentence."""
        likelier = sum(record.own > record.meaningless for record in records)
        return f"The own name was likelier for {likelier} of {len(records)} functions."

    def measures(self, record: OwnNameRecord) -> Mapping[str, bool]:
        """What two runs are compared by."""
        return {"own name likelier": record.own > record.meaningless}

    def estimate(self, target: Target, options: OwnNameOptions, model: Model) -> int:
        """Two texts are scored."""
        return 2
