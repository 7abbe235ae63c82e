"""The localisation probe: which line is wrong, and is the fault lost when the code is rewritten?

A bug is a breaking mutation that an input shows, or the bug of a dataset. The model is asked for its line, by
a prompt and by the likelihood of the lines, in the program with the bug and in versions of that program that
keep its meaning (Haroon et al. 2025). A model that follows the code finds a fault in all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice
from os.path import commonprefix

import numpy as np

from counterlens.errors import SourceError
from counterlens.judging.base import lasting
from counterlens.metrics.closed import Closed, share_above_chance
from counterlens.metrics.effects import pooled_share
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Capability, Model, ModelInfo, Prompt, TokenScores
from counterlens.models.chat.replies import without_thought
from counterlens.mutations import Concept
from counterlens.mutations.base import WHOLE_PROGRAM
from counterlens.mutations.languages import mutated
from counterlens.probes.common_options import DEFAULT_TIMEOUT, MaxTokens, Timeout, Without
from counterlens.probes.equivalence.verified import require_behaviour, require_comparable
from counterlens.probes.options import ProbeOptions
from counterlens.probes.pairs.counterfactuals import alternate_mutations
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.prompts.baselines import ChanceComparison, baseline_table, first_words
from counterlens.probes.prompts.closed import AnswerSource, ClosedQuestion, choose, how
from counterlens.probes.prompts.closed_figures import BY_MODEL, closed_table
from counterlens.probes.prompts.function_text import body_lines
from counterlens.probes.prompts.language import prompting_of
from counterlens.probes.prompts.templates import fill
from counterlens.probes.record import Record
from counterlens.probes.robustness.versions import plan
from counterlens.probes.sanity import require_repeatable
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

MOST_BUGS, MOST_VERSIONS = 2, 2
"""Maximum number of bugs per function, and of rewritten versions per bug."""
DATASET = "dataset"
"""The mutation of a bug that comes from a dataset."""
_NUMBER = re.compile(r"\d+")
_TRIES = 4  # mutants that are run for each bug
_MOST_LINES = 2  # one line, or both beside a removed one
_IN_PLACE = frozenset({Concept.NAMING, Concept.TYPES})


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalisationOptions(ProbeOptions):
    """Options of the localisation probe."""

    without: Without = ()
    max_tokens: MaxTokens = 16
    timeout: Timeout = DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedProgram:
    """A program with a bug, and the lines that the model points at.

    Attributes:
        mutation: The mutation that made it from the first program with this bug; empty for that program.
        program: The program, as shown, without the numbers of its lines.
        lines: The lines with the bug, 1-based in the shown program.
        said: The model's text.
        answer: The line that it names; None if it names none.
        least_likely: The least likely line of the function, per token; None if the model gives no token
            probabilities.
        candidates: The lines of the function's body that are not blank, from which it may choose.
        logprobs: The log-probability of each, in nats, given that one of them is the answer; empty if the
            model gives none.
    """

    mutation: str
    concept: Concept
    program: str
    lines: tuple[int, ...]
    said: str
    answer: int | None
    least_likely: int | None
    candidates: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()

    @property
    def located(self) -> bool:
        """Whether the model names a line with the bug."""
        return self.answer in self.lines


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedBug:
    """One bug, in its program and in versions of that program with the same meaning.

    Attributes:
        bug: The mutation that made it, or `dataset`.
        call: An input that shows it.
        original: The result of the right program.
        other: The result of the program with the bug.
    """

    bug: str
    call: str
    original: str
    other: str
    first: LocatedProgram
    versions: tuple[LocatedProgram, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalisationRecord(Record):
    """The answers about the bugs of one function."""

    bugs: tuple[LocatedBug, ...]


class LocalisationProbe(Probe[LocalisationOptions, LocalisationRecord]):
    """Asks for the line of a verified bug, before and after the program is rewritten."""

    id = "localisation"
    title = "does it find the wrong line, also in a rewritten version?"
    source = Source("Haroon et al. 2025", "with verified bugs and versions")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = LocalisationOptions
    record = LocalisationRecord

    def check_target(self, target: Target, options: LocalisationOptions) -> None:  # noqa: ARG002
        """Like `Probe.check_target`: some inputs must be able to compare its behaviour."""
        require_comparable(target)

    def run(self, context: Context, target: Target, options: LocalisationOptions) -> LocalisationRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: its behaviour cannot be compared, or no bug shows.
        """
        left_out = Counter[str]()
        verified = list(_bugs(context, target, options, left_out))
        if not verified:
            raise SourceError("no input shows a bug in one of its lines")
        programs = [
            each
            for bug, versions, _ in verified
            for each in (("", Concept.NOTHING, bug.document, bug.lines), *versions)
        ]
        located = _point_at_lines(context, target, options, programs)
        bugs = [
            LocatedBug(
                bug=bug.mutation, **facts, first=next(located), versions=tuple(islice(located, len(versions)))
            )
            for bug, versions, facts in verified
        ]
        left_out["answer without a line number"] = sum(
            program.answer is None for bug in bugs for program in (bug.first, *bug.versions)
        )
        return LocalisationRecord(left_out=left_out, bugs=tuple(bugs))

    def tables(self, records: Sequence[LocalisationRecord], *, seed: int) -> tuple[Table, ...]:
        tables = (
            _overall(records),
            closed_table(_closed_questions(records), seed=seed),
            _by_change(records),
            baseline_table(_baselines(records)),
            _listing(records),
        )
        return tuple(table for table in tables if table.rows)

    def summary(self, records: Sequence[LocalisationRecord]) -> str:
        bugs = [bug for _, bug in _bugs_of(records)]
        located = sum(bug.first.located for bug in bugs)
        kept = [version.located for bug in bugs if bug.first.located for version in bug.versions]
        lost = f", and lost them in {kept.count(False)} of {len(kept)} rewritten versions" if kept else ""
        return (
            f"{first_words(_baselines(records))}The model named the wrong line of {located} of {len(bugs)} "
            f"bugs{lost}."
        )

    def measures(self, record: LocalisationRecord) -> Mapping[str, bool]:
        return {"every bug located": all(bug.first.located for bug in record.bugs)}

    def excess(self, record: LocalisationRecord) -> float | None:
        """Like `Probe.excess`: the share of bugs whose line is chosen, or without probabilities is named."""
        asked = _closed_questions([record]).get(("line of a bug", BY_MODEL))
        if asked:
            return share_above_chance(asked).value
        (compared,) = _baselines([record])
        return compared.score - compared.random

    def estimate(self, target: Target, options: LocalisationOptions, model: Model) -> int:  # noqa: ARG002
        find_function(target.document, target.qualname)
        return MOST_BUGS * (1 + MOST_VERSIONS) + 1


@dataclass(frozen=True, slots=True)
class _Bug:
    """A program with a bug: the mutation, the program, and the lines of the bug in the shown program."""

    mutation: str
    document: Document
    lines: tuple[int, ...]


_Version = tuple[str, Concept, Document, tuple[int, ...]]
_Shown = tuple[list[str], range]
"""The shown lines of a program, and which of them are the function's body."""


def _bugs(
    context: Context, target: Target, options: LocalisationOptions, left_out: Counter[str]
) -> Iterator[tuple[_Bug, list[_Version], dict[str, str]]]:
    """The bugs that an input shows, each with rewritten versions on which it shows, too."""
    document, cancel = target.document, context.cancel
    judge = require_behaviour(context, target, lasting(options.timeout))
    programs = [(DATASET, target.buggy)] if target.buggy is not None else []
    surveyed = plan(target, (), seed=options.seed, without=(*options.without, WHOLE_PROGRAM))
    breaking = (each for each in surveyed.counterfactuals if not each.preserving)
    mutants = alternate_mutations(breaking, options.seed)[: _TRIES * MOST_BUGS]
    programs += [(each.mutation, each.source) for each in mutants]
    before, _ = _lines(document, target.qualname)
    known = 0
    for mutation, program in programs:
        if known == MOST_BUGS:
            return
        context.steps.next(f"looking for an input that shows a bug in {target.name}", known, MOST_BUGS)
        difference = judge.difference(program, cancel=cancel)
        changed = replace(document, text=program)
        lines = changed_lines(before, _lines(changed, target.qualname)[0])
        if difference is None or difference.refused:
            left_out["bug that no input shows"] += 1
            continue
        if not 0 < len(lines) <= _MOST_LINES:
            left_out["bug that is not in one line"] += 1
            continue
        known += 1
        bug = _Bug(mutation, changed, lines)
        versions = []
        for version in _versions(bug, target, options):
            if judge.difference(version[2].text, cancel=cancel) is not None:
                versions.append(version)
            if len(versions) == MOST_VERSIONS:
                break
        facts = {"call": difference.call, "original": difference.original, "other": difference.other}
        yield bug, versions, facts


def _versions(bug: _Bug, target: Target, options: LocalisationOptions) -> Iterator[_Version]:
    """Versions of a program with a bug that keep its meaning, and the line of the bug."""
    preserving = [
        name
        for name, mutation in mutated(target.document.language).mutations.items()
        if mutation.preserving and not mutation.needs_observation
    ]
    without = (*options.without, WHOLE_PROGRAM)
    there = replace(target, document=bug.document)
    surveyed = plan(there, preserving, seed=options.seed, without=without)
    before, _ = _lines(bug.document, target.qualname)
    for each in alternate_mutations(surveyed.counterfactuals, options.seed)[: _TRIES * MOST_VERSIONS]:
        document = replace(bug.document, text=each.source)
        after, _ = _lines(document, target.qualname)
        lines = moved_lines(before, after, bug.lines, in_place=each.concept in _IN_PLACE)
        if lines and each.concept is not Concept.NOTHING:
            yield each.mutation, each.concept, document, lines


def _lines(document: Document, qualname: str) -> _Shown:
    return body_lines(document, find_function(document, qualname))


def changed_lines(before: Sequence[str], after: Sequence[str]) -> tuple[int, ...]:
    """The lines of a program that differ from another one, 1-based; beside a removed line, its neighbours."""
    lines = set[int]()
    for kind, _, _, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "delete":
            lines |= {start, start + 1}
        elif kind != "equal":
            lines |= set(range(start + 1, end + 1))
    return tuple(sorted(line for line in lines if 0 < line <= len(after) and after[line - 1].strip()))


def moved_lines(
    before: Sequence[str], after: Sequence[str], lines: Sequence[int], *, in_place: bool = False
) -> tuple[int, ...]:
    """The same lines in a rewritten version; empty if it rewrites them: the fault might be elsewhere then.

    Args:
        before: The lines of the program.
        lines: Some lines of the program, 1-based.
        in_place: Whether the version only renames, so that each line stays where it is.
    """
    if in_place:
        return tuple(lines) if len(before) == len(after) else ()
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    places = {block.a + i + 1: block.b + i + 1 for block in blocks for i in range(block.size)}
    return tuple(places[line] for line in lines) if all(line in places for line in lines) else ()


def _point_at_lines(
    context: Context, target: Target, options: LocalisationOptions, programs: Sequence[_Version]
) -> Iterator[LocatedProgram]:
    """The lines that the model points at in each program; the first question is asked twice.

    All are asked before any is scored: the programs differ in few lines, and a model reads what two texts
    have in common only once if one follows the other.
    """
    context.steps.next(f"asking for the lines of bugs in {target.name}")
    model, info = context.model, context.model.info
    shown = [_lines(document, target.qualname) for _, _, document, _ in programs]
    candidates = [tuple(at + 1 for at in own if lines[at].strip()) for lines, own in shown]
    prompts = [question(info, target, lines, options.max_tokens) for lines, _ in shown]
    said = [answer.text for answer in model.complete(prompts, cancel=context.cancel)]
    again = context.uncached
    require_repeatable(model, "answer the same question", said[0], lambda: again.complete(prompts[0]).text)
    scored = model.offers(Capability.SCORE, cancel=context.cancel)
    surprising = _least_likely(context, shown) if scored else [None] * len(shown)
    chosen: Sequence[tuple[float, ...]] = [()] * len(shown)
    if how(model, context.cancel) is AnswerSource.PROBABILITY:
        asked = [
            ClosedQuestion(prompt.text, tuple(f" {number}\n" for number in numbers))
            for prompt, numbers in zip(prompts, candidates, strict=True)
        ]
        chosen = choose(model, asked, context.steps, f"weighing the lines of {target.name}")
    for (mutation, concept, _, bug), (lines, _), text, line, numbers, logprobs in zip(
        programs, shown, said, surprising, candidates, chosen, strict=True
    ):
        yield LocatedProgram(
            mutation=mutation,
            concept=concept,
            program="\n".join(lines),
            lines=bug,
            said=text,
            answer=read_line(text),
            least_likely=line,
            candidates=numbers,
            logprobs=logprobs,
        )


def _least_likely(context: Context, shown: Sequence[_Shown]) -> list[int | None]:
    """The function's line with the lowest mean log-probability per token, for each of some programs.

    A token counts for the line it ends in. What the programs have in common before the function is read once,
    and what follows the function is not read.
    """
    texts = ["\n".join(lines[: own.stop]) for lines, own in shown]
    before = [sum(len(line) + 1 for line in lines[: own.start]) for lines, own in shown]
    shared = commonprefix([text[:start] for text, start in zip(texts, before, strict=True)])  # noqa: RUF071
    shared = shared[: shared.rfind("\n") + 1]
    read = [len(text[len(shared) : start].encode()) for text, start in zip(texts, before, strict=True)]
    scores = context.model.score_continuations(
        shared,
        [text[len(shared) :] for text in texts],
        unscored=read,
        alternatives=0,
        cancel=context.cancel,
    )
    return [
        _least(lines, own, shared.count("\n"), given)
        for (lines, own), given in zip(shown, scores, strict=True)
    ]


def _least(lines: Sequence[str], own: range, first: int, scores: TokenScores) -> int | None:
    """The number of the least likely line; `first` is the index of the line with which the scores begin."""
    ends = np.cumsum([len(line.encode()) + 1 for line in lines[first : own.stop]])
    at = first + np.searchsorted(ends, scores.end, side="left")
    means = {
        number: float(these.mean())
        for number in own
        if lines[number].strip() and len(these := scores.logprob[(at == number) & ~np.isnan(scores.logprob)])
    }
    return 1 + min(means, key=means.__getitem__) if means else None


def question(info: ModelInfo, target: Target, lines: Sequence[str], max_tokens: int) -> Prompt:
    """The question for the line of the bug."""
    name = f"localisation{prompting_of(target.document.language).suffix}"
    function = find_function(target.document, target.qualname).name
    return fill(info, __package__, name, max_tokens, ("\n",), source=number_lines(lines), function=function)


def number_lines(lines: Sequence[str]) -> str:
    """The text of some lines, each with its number."""
    return "\n".join(f"{number:>3}: {line}" for number, line in enumerate(lines, 1))


def read_line(text: str) -> int | None:
    """The first number in an answer; None if there is none."""
    number = _NUMBER.search(without_thought(text))
    return int(number[0]) if number and len(number[0]) < 7 else None


def _bugs_of(records: Sequence[LocalisationRecord]) -> Iterator[tuple[str, LocatedBug]]:
    return ((record.target, bug) for record in records for bug in record.bugs)


def _hit(program: LocatedProgram, way: str) -> bool:
    return (program.answer if way == "prompt" else program.least_likely) in program.lines


def _rows(bugs: Sequence[tuple[str, LocatedBug, LocatedProgram]], first: str) -> Iterator[tuple[Cell, ...]]:
    """For each way: located in the first program, located in versions, and the located ones that are lost."""
    for way in ("prompt", "likelihood"):
        if way == "likelihood" and any(bug.first.least_likely is None for _, bug, _ in bugs):
            continue
        before = [(target, _hit(bug.first, way)) for target, bug, _ in bugs]
        after = [(target, _hit(version, way)) for target, _, version in bugs]
        lost = [(target, not _hit(version, way)) for target, bug, version in bugs if _hit(bug.first, way)]
        yield first, way, len(bugs), pooled_share(before), pooled_share(after), pooled_share(lost)


_COLUMNS = ("rewritten", "by", "n", "located before", "located after", "located faults that are lost")


def _overall(records: Sequence[LocalisationRecord]) -> Table:
    bugs = list(_bugs_of(records))
    ways = ["prompt"] + ["likelihood"] * all(bug.first.least_likely is not None for _, bug in bugs)
    rows = tuple(
        (way, len(bugs), pooled_share((target, _hit(bug.first, way)) for target, bug in bugs)) for way in ways
    )
    note = "likelihood: the line of the function with the lowest log-probability per token"
    return Table("located bugs", ("by", "bugs", "located"), rows, note)


def _closed_questions(records: Sequence[LocalisationRecord]) -> dict[tuple[str, str], list[Closed]]:
    """The choices among the lines of a function, by the model, and by what needs none."""
    asked: dict[tuple[str, str], list[Closed]] = {}
    for target, bug in _bugs_of(records):
        program = bug.first
        right = frozenset(at for at, line in enumerate(program.candidates) if line in program.lines)
        if not program.logprobs or not right:
            continue
        lines = program.program.split("\n")
        lengths = tuple(float(len(lines[number - 1].strip())) for number in program.candidates)
        order = tuple(-float(number) for number in program.candidates)
        for way, scores in ((BY_MODEL, program.logprobs), ("longest line", lengths), ("first line", order)):
            question = Closed(target, program.candidates, scores, right)
            asked.setdefault(("line of a bug", way), []).append(question)
    return asked


def _by_change(records: Sequence[LocalisationRecord]) -> Table:
    pairs = [(target, bug, version) for target, bug in _bugs_of(records) for version in bug.versions]
    rows = list(_rows(pairs, "all")) if pairs else []
    for mutation in sorted({version.mutation for _, _, version in pairs}):
        rows += _rows([pair for pair in pairs if pair[2].mutation == mutation], mutation)
    note = "each row compares a program with a bug and a version of it that keeps its meaning"
    return Table("before and after rewriting", _COLUMNS, tuple(rows), note)


def _baselines(records: Sequence[LocalisationRecord]) -> list[ChanceComparison]:
    """The best line number for all bugs, and a random line that is not blank."""
    programs = [bug.first for _, bug in _bugs_of(records)]
    counts = Counter(line for program in programs for line in program.lines)
    if not programs:
        return []
    sizes = [sum(bool(line.strip()) for line in program.program.splitlines()) for program in programs]
    random = sum(len(program.lines) / size for program, size in zip(programs, sizes, strict=True))
    n = len(programs)
    right = sum(program.located for program in programs)
    return [ChanceComparison("line of a bug", n, right / n, max(counts.values()) / n, random / n, 0)]


def _listing(records: Sequence[LocalisationRecord]) -> Table:
    bugs = list(_bugs_of(records))
    rows = tuple(
        (
            target,
            bug.bug,
            ", ".join(map(str, bug.first.lines)),
            bug.first.answer,
            bug.first.least_likely,
            bug.call,
        )
        for target, bug in (bugs if len(bugs) <= 12 else ())
    )
    columns = ("function", "bug", "lines", "named", "least likely", "an input that shows it")
    return Table("bugs", columns, rows, "lines of the program as shown to the model")
