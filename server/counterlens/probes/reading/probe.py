"""The reading probe: what the model writes from a function's docstring, run beside the code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from counterlens.counting import plural
from counterlens.judging.base import lasting
from counterlens.judging.projects import interpreter_for
from counterlens.metrics.effects import pooled_share
from counterlens.metrics.table import Table
from counterlens.models.base import Completion, Model
from counterlens.probes.common_options import DEFAULT_TIMEOUT, MAX_TOKENS, MaxTokens, Timeout
from counterlens.probes.options import ProbeOptions, option
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.prompts.literals import short
from counterlens.probes.reading.readings import (
    SAMPLES,
    USUAL,
    Disagreement,
    DocstringReading,
    gap_of,
    read,
    require_readable,
    write_readings,
)
from counterlens.probes.record import Record
from counterlens.probes.sanity import repeats, require_repeatable

_NOTE = (
    "first: the model's likeliest version, written from name, signature and docstring, behaves like the code "
    "on every input; disagree: on some input the code returns another value than most versions do. Docstring "
    "or code may be wrong, or the model"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions(ProbeOptions):
    """Options of the reading probe."""

    readings: Annotated[
        int,
        option(
            "Number of versions to sample of a function whose likeliest version differs from the code.",
            metavar="K",
            low=USUAL.given.fewest - 1,
            high=50,
        ),
    ] = SAMPLES
    max_tokens: MaxTokens = MAX_TOKENS
    timeout: Timeout = DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRecord(Record):
    """The readings of one function.

    Attributes:
        inputs: Number of inputs.
        readings: What the model wrote: the likeliest version first; others only if that one differs.
        disagreement: The input on which docstring and code disagree; None if none shows it.
    """

    inputs: int
    readings: tuple[DocstringReading, ...]
    disagreement: Disagreement | None

    @property
    def alike(self) -> bool:
        """Whether the likeliest version behaves like the code."""
        return self.readings[0].alike


class ReadingProbe(Probe[ReadingOptions, ReadingRecord]):
    """Has the model write a function from its docstring, and runs both on the same inputs."""

    id = "reading"
    title = "does it read from the docstring what the code does?"
    source = Source("Li et al. 2023", "Differential Prompting, on one function and its docstring")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = ReadingOptions
    record = ReadingRecord

    def check_target(self, target: Target, options: ReadingOptions) -> None:  # noqa: ARG002
        """Like `Probe.check_target`: a function needs a docstring of at least a sentence."""
        require_readable(target)

    def run(self, context: Context, target: Target, options: ReadingOptions) -> ReadingRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: it has no docstring of a sentence, or no inputs.
        """
        function = require_readable(target)
        gap, tokens = gap_of(target, function), options.max_tokens

        def require_same(first: Completion) -> None:
            require_repeatable(
                context.model,
                "write a function from the same docstring",
                first.text,
                lambda: write_readings(context.uncached, gap, [None], tokens, "reading again")[0].text,
            )

        readings = read(
            context,
            target,
            function,
            context.setting(lasting(options.timeout), interpreter_for(target.document.path)),
            samples=options.readings,
            seed=options.seed,
            max_tokens=tokens,
            check_first=require_same,
        )
        return ReadingRecord(
            left_out=Counter(filter(None, readings.dropped)),
            inputs=len(readings.runs.inputs),
            readings=tuple(
                DocstringReading(
                    body=completion.text,
                    finish=completion.finish,
                    dropped=reason,
                    alike=readings.is_alike(number),
                )
                for number, (completion, reason) in enumerate(
                    zip(readings.completions, readings.dropped, strict=True), 1
                )
            ),
            disagreement=readings.disagreement(),
        )

    def tables(self, records: Sequence[ReadingRecord], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        first = pooled_share((record.target, record.alike) for record in records)
        some = pooled_share((record.target, any(r.alike for r in record.readings)) for record in records)
        apart = pooled_share((record.target, record.disagreement is not None) for record in records)
        columns = ("functions", "first behaves alike", "one of them does", "disagree")
        rows = tuple(
            (
                record.target,
                short(case.call),
                short(case.code),
                short(case.readings),
                f"{case.agreeing} of {case.of}",
            )
            for record in records
            if (case := record.disagreement) is not None
        )
        listing = Table(
            "docstring and code disagree",
            ("function", "call", "the code", "versions from the docstring", "of them"),
            rows,
        )
        overall = Table("readings", columns, ((len(records), first, some, apart),), _NOTE)
        return (overall, listing) if rows else (overall,)

    def summary(self, records: Sequence[ReadingRecord]) -> str:
        alike = sum(record.alike for record in records)
        cases = [record.disagreement for record in records if record.disagreement is not None]
        text = (
            f"From the docstring alone, the model wrote the same behaviour for {alike} of "
            f"{plural(len(records), 'function')}."
        )
        if len(records) == 1 and cases:
            return f"{text} {sentence(cases[0])}"
        return f"{text} Docstring and code disagree in {len(cases)}." if cases else text

    def measures(self, record: ReadingRecord) -> Mapping[str, bool]:
        return {"behaves alike": record.alike, "docstring and code agree": record.disagreement is None}

    def estimate(self, target: Target, options: ReadingOptions, model: Model) -> int:
        require_readable(target)
        return 1 + options.readings + repeats(model)


def sentence(shown: Disagreement) -> str:
    """A disagreement in words."""
    return (
        f"Docstring and code disagree: `{shown.call}` {shown.code}; {shown.agreeing} of "
        f"{plural(shown.of, 'version')} written from the docstring {shown.readings}."
    )
