"""The contract of a probe: one experiment on one function, with its options, its record and its figures.

A probe is one file and one line in `probes/registry.py`, or an entry point `counterlens.probes` of another
package. `probes/runner.py` runs every probe in the same way for all callers: the terminal, an editor, an
assistant or an evaluation of thousands of functions.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from counterlens.judging.base import Judge, Setting
from counterlens.judging.comparison import PrintingCase
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Capability, Completion, Model, Prompt
from counterlens.models.cache import past_cache
from counterlens.probes.options import ProbeOptions
from counterlens.probes.record import Record
from counterlens.progress import Steps
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document

if TYPE_CHECKING:
    from counterlens.datasets.base import Problem
    from counterlens.models.sentences import SentenceEncoder

OptionsT = TypeVar("OptionsT", bound=ProbeOptions)
RecordT = TypeVar("RecordT", bound=Record)


class Need(StrEnum):
    """The requirements of a probe besides the source."""

    COMPLETE = "completions"
    SCORE = "token probabilities"
    EMBED = "embeddings"
    SANDBOX = "a sandbox"
    TESTS = "tests"
    BUG = "a program with a bug"
    CORPUS = "a corpus (--corpus)"
    BENCHMARK = "a problem of a benchmark"


_CAPABILITIES = {
    Need.COMPLETE: Capability.COMPLETE,
    Need.SCORE: Capability.SCORE,
    Need.EMBED: Capability.EMBED,
}


@dataclass(frozen=True, slots=True)
class Source:
    """The publication that a probe comes from.

    Attributes:
        paper: The paper, such as `Hooda et al. 2024`; `ours` if there is none.
        section: The section of the paper.
    """

    paper: str
    section: str = ""

    def __str__(self) -> str:
        return f"{self.paper}, {self.section}" if self.section else self.paper


@dataclass(frozen=True, slots=True)
class Target:
    """One function, or one whole program, to probe.

    Attributes:
        qualname: The function; `MODULE` for a whole program, which reads its input and prints.
        judge: The judge of its versions, if it comes from a dataset; None if its tests are beside the source.
        id: Its name in the dataset.
        call: A call of it, if a dataset has one.
        calls: All calls of it with literal arguments in the tests of a dataset.
        description: Its description, if a dataset has one.
        buggy: The source with a bug, if a dataset has one.
        details: Further data of a dataset on it, such as labels.
        lines: The lines of the source to probe, as first and last, 1-based; empty for all.
        counterpart: The reference solution in another language, if it is to be translated from there.
        runs: The inputs of a whole program with the expected outputs, if a dataset has some.
        problem: Its record in a dataset; None if it comes from none.
    """

    document: Document
    qualname: str
    judge: Judge | None = None
    id: str = ""
    call: str | None = None
    description: str = ""
    buggy: str | None = None
    calls: tuple[str, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[tuple[int, int], ...] = ()
    counterpart: Document | None = None
    runs: tuple[PrintingCase, ...] = ()
    problem: Problem | None = None

    @property
    def name(self) -> str:
        """Its name in reports."""
        return self.id or self.qualname


def _no_sandbox() -> Sandbox:
    raise NotImplementedError("this probe runs no programs")


@dataclass(frozen=True, slots=True)
class Context:
    """The resources of a probe, for every front end.

    Attributes:
        model: The model under examination.
        sandbox: Returns the sandbox, for probes that run programs.
        encoder: Compares sentences; None for the small encoder that is an optional dependency.
        unjudged: Whether to probe a function that nothing can judge, as far as possible.
        vetted: Whether to leave out tests that fail on the function: in runs over many functions, so that a
            bad test does not exclude a function; not for a function that the user named, which may have a
            bug.
        surveyed: Whether to run the suite of a repository once, to choose tests by the lines that they run:
            in runs over many functions, where that is worth minutes.
        interim: Called with a preliminary record of the function, by a probe that refines its result; None if
            there is no listener.
    """

    model: Model
    sandbox: Callable[[], Sandbox] = _no_sandbox
    steps: Steps = field(default_factory=Steps)
    encoder: SentenceEncoder | None = None
    unjudged: bool = True
    vetted: bool = False
    surveyed: bool = False
    interim: Callable[[Record], None] | None = None

    @property
    def cancel(self) -> Event | None:
        """The event that any thread sets to cancel."""
        return self.steps.cancel

    def setting(self, limits: Limits, python: Path | None = None) -> Setting:
        """The sandbox, limits and cancellation, for programs in an interpreter; our own by default."""
        return Setting(self.sandbox(), python or Path(sys.executable), limits, self.cancel)

    @property
    def uncached(self) -> Context:
        """The same context with a model that ignores cached responses, to check repeatability."""
        return replace(self, model=past_cache(self.model))

    def complete(self, prompt: Prompt) -> Completion:
        """Send one prompt to the model.

        Raises:
            ModelError, Cancelled: as `Model.complete`.
        """
        (completion,) = self.model.complete([prompt], cancel=self.cancel)
        return completion

    def complete_all(self, what: str, prompts: Sequence[Prompt]) -> list[Completion]:
        """Send prompts to the model together, so that they share its calls, if that changes no answer.

        Args:
            what: The name of the step, for progress.

        Raises:
            ModelError, Cancelled: as `Model.complete`.
        """
        return complete_together(self.model, what, prompts, self.steps)


def complete_together(model: Model, what: str, prompts: Sequence[Prompt], steps: Steps) -> list[Completion]:
    """Like `Context.complete_all`, with any model.

    Raises:
        ModelError, Cancelled: as `Model.complete`.
    """
    batched = Capability.BATCH in model.info.capabilities
    if not batched or model.offers(Capability.EXACT, cancel=steps.cancel):
        return model.complete(prompts, **steps.request(what, len(prompts)))
    completions = []
    for number, prompt in enumerate(prompts):
        steps.next(what, number, len(prompts))
        completions += model.complete([prompt], cancel=steps.cancel)
    return completions


class Probe(ABC, Generic[OptionsT, RecordT]):
    """One experiment on one function at a time.

    Attributes:
        id: The name that users type.
        title: The question that it answers, in a few words.
        source: The publication that defines it.
        needs: Its requirements; front ends report missing ones before any request to the model.
        options: The class of its options, the only place where they are declared.
        record: The class of its records.
        refused_languages: The unsupported languages, by id, each with the reason.
        whole_programs: Whether it also probes whole programs (`MODULE`).
    """

    id: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[Source]
    needs: ClassVar[frozenset[Need]] = frozenset()
    options: type[OptionsT]
    record: type[RecordT]
    refused_languages: ClassVar[Mapping[str, str]] = {}
    whole_programs: ClassVar[bool] = False

    @abstractmethod
    def run(self, context: Context, target: Target, options: OptionsT) -> RecordT:
        """Probe one function. The runner adds the probe, the model and the function to the record.

        Raises:
            SourceError, UnscorableError: the function cannot be probed; the runner leaves it out.
            CounterlensError: a sanity check failed: figures would be meaningless.
            ModelError, SandboxError: the model or the sandbox failed.
            Cancelled: `context.cancel` was set.
        """

    @abstractmethod
    def tables(self, records: Sequence[RecordT], *, seed: int) -> tuple[Table, ...]:
        """The figures over some records of one model.

        Args:
            records: The records of probed functions; not empty.
            seed: Random seed of intervals.
        """

    @abstractmethod
    def summary(self, records: Sequence[RecordT]) -> str:
        """Describe the records, in a sentence or two."""

    @abstractmethod
    def measures(self, record: RecordT) -> Mapping[str, bool]:
        """The yes-or-no measures of one record, by which two runs are compared."""

    @abstractmethod
    def estimate(self, target: Target, options: OptionsT, model: Model) -> int:
        """The approximate number of prompts, or texts to score; the estimate itself runs nothing.

        Args:
            model: Only `offers` is used.

        Raises:
            SourceError: the function cannot be probed.
        """

    def excess(self, record: RecordT) -> float | None:  # noqa: ARG002
        """The main figure of one record above what chance gives, -1 to 1, for `--until-told`.

        None if the record shows nothing about it; a probe without such a figure does not define this.
        """
        return None

    def side_by_side(self, models: Mapping[str, Sequence[RecordT]], *, seed: int) -> tuple[Table, ...]:
        """The figures of several models: the same tables with a column for the model's name.

        Args:
            seed: Random seed of intervals.
        """
        tables = {model: self.tables(records, seed=seed) for model, records in models.items() if records}
        titles = dict.fromkeys(table.title for table in chain.from_iterable(tables.values()))
        return tuple(_merge(title, tables) for title in titles)

    def check_target(self, target: Target, options: OptionsT) -> None:
        """Refuse a function that cannot be probed with these options, whatever a model answers.

        It runs nothing. If it refuses all functions, no model is asked (`require_suited`).

        Raises:
            SourceError: the function lacks something that the probe needs.
            OptionError: an option does not apply to it.
        """

    @property
    def runs_programs(self) -> bool:
        """Whether it runs programs."""
        return bool(self.needs & {Need.SANDBOX, Need.TESTS})

    def missing_of(self, model: Model, *, cancel: Event | None = None) -> str | None:
        """The capability that a model lacks for this probe, as a reason; None if it lacks none.

        Raises:
            ModelError, Cancelled: as `Model.offers`.
        """
        for need, capability in _CAPABILITIES.items():
            if need in self.needs and not model.offers(capability, cancel=cancel):
                return f"{model.info.name} gives no {need}"
        return None


def _merge(title: str, tables: Mapping[str, Sequence[Table]]) -> Table:
    """The tables with one title as one table, with a column for the model's name."""
    same = [(model, table) for model, drawn in tables.items() for table in drawn if table.title == title]
    first = same[0][1]
    rows: tuple[tuple[Cell, ...], ...] = tuple((model, *row) for model, table in same for row in table.rows)
    return replace(first, columns=("model", *first.columns), rows=rows)
