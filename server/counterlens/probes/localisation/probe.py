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
from typing import NamedTuple

import numpy as np

from counterlens.errors import SourceError
from counterlens.judging.base import lasting
from counterlens.metrics.closed import Closed
from counterlens.metrics.figures import GroupedFigure, ListedFigure, count, most_frequent, share
from counterlens.models.base import Capability, TokenScores
from counterlens.models.chat.replies import without_thought
from counterlens.mutations import Concept
from counterlens.mutations.base import WHOLE_PROGRAM
from counterlens.mutations.languages import mutated
from counterlens.probes.common_options import DEFAULT_TIMEOUT, MaxTokens, Timeout, Without
from counterlens.probes.equivalence.verified import require_behaviour, require_comparable
from counterlens.probes.options import PromptedOptions
from counterlens.probes.pairs.counterfactuals import alternate_mutations
from counterlens.probes.probe import Context, Need, Source, Target
from counterlens.probes.prompts.asking import Question, TaskAnswer, number_question
from counterlens.probes.prompts.baselines import ChanceComparison
from counterlens.probes.prompts.closed_figures import BY_MODEL
from counterlens.probes.prompts.function_text import body_lines
from counterlens.probes.prompts.task import JudgedAnswer, PromptedTask
from counterlens.probes.record import Record
from counterlens.probes.robustness.versions import plan
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
_Version = tuple[str, Concept, Document, tuple[int, ...]]
_Shown = tuple[list[str], range]
"""The shown lines of a program, and which of them are the function's body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalisationOptions(PromptedOptions):
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


@dataclass(frozen=True, slots=True)
class _Bug:
    """A program with a bug: the mutation, the program, and the lines of the bug in the shown program."""

    mutation: str
    document: Document
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Programs:
    """The verified bugs; their programs, each before its rewritten versions; and these as shown."""

    verified: Sequence[tuple[_Bug, list[_Version], dict[str, str]]]
    programs: Sequence[_Version]
    shown: Sequence[_Shown]


class _Hit(NamedTuple):
    """Whether a bug was located, by a prompt or by likelihood; `after` in a version with the same meaning."""

    way: str
    before: bool
    rewritten: str = ""
    after: bool = False


def _hit(program: LocatedProgram) -> dict[str, bool]:
    ways = {"prompt": program.answer, "likelihood": program.least_likely}
    return {way: line in program.lines for way, line in ways.items() if way == "prompt" or line is not None}


def _hits(record: LocalisationRecord) -> Iterator[_Hit]:
    return (_Hit(way, before) for bug in record.bugs for way, before in _hit(bug.first).items())


def _changes(record: LocalisationRecord) -> Iterator[_Hit]:
    return (
        _Hit(way, before, rewritten, _hit(version).get(way, False))
        for bug in record.bugs
        for version in bug.versions
        for rewritten in ("all", version.mutation)
        for way, before in _hit(bug.first).items()
    )


class LocalisationProbe(PromptedTask[LocalisationOptions, LocalisationRecord, _Programs]):
    """Asks for the line of a verified bug, before and after the program is rewritten."""

    id = "localisation"
    title = "does it find the wrong line, also in a rewritten version?"
    source = Source("Haroon et al. 2025", "with verified bugs and versions")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = LocalisationOptions
    record = LocalisationRecord
    asking = "asking for the lines of bugs in"
    main = "line of a bug"
    requests = MOST_BUGS * (1 + MOST_VERSIONS) + 1
    unread = "answer without a line number"
    figures = (
        GroupedFigure[LocalisationRecord, _Hit](
            "located bugs",
            of=_hits,
            by={"by": lambda hit: hit.way},
            columns={"bugs": count, "located": share(lambda hit: hit.before)},
            note="likelihood: the line of the function with the lowest log-probability per token",
        ),
        GroupedFigure[LocalisationRecord, _Hit](
            "before and after rewriting",
            of=_changes,
            by={"rewritten": lambda hit: hit.rewritten, "by": lambda hit: hit.way},
            columns={
                "n": count,
                "located before": share(lambda hit: hit.before),
                "located after": share(lambda hit: hit.after),
                "located faults that are lost": share(lambda hit: not hit.after if hit.before else None),
            },
            order=lambda hit: (hit.rewritten != "all", hit.rewritten, hit.way != "prompt"),
            note="each row compares a program with a bug and a version of it that keeps its meaning",
        ),
    )
    listing = ListedFigure[LocalisationRecord, LocatedBug](
        "bugs",
        of=lambda record: record.bugs,
        columns={
            "bug": lambda bug: bug.bug,
            "lines": lambda bug: ", ".join(map(str, bug.first.lines)),
            "named": lambda bug: bug.first.answer,
            "least likely": lambda bug: bug.first.least_likely,
            "an input that shows it": lambda bug: bug.call,
        },
        note="lines of the program as shown to the model",
    )

    def check_target(self, target: Target, options: LocalisationOptions) -> None:  # noqa: ARG002
        """Like `Probe.check_target`: some inputs must be able to compare its behaviour."""
        require_comparable(target)

    def questions(
        self, context: Context, target: Target, options: LocalisationOptions, left_out: Counter[str]
    ) -> tuple[_Programs, list[Question[int]]]:
        """Like `PromptedTask.questions`: the line of each bug, in its program and in rewritten versions."""
        verified = list(_bugs(context, target, options, left_out))
        if not verified:
            raise SourceError("no input shows a bug in one of its lines")
        programs = [
            each
            for bug, versions, _ in verified
            for each in (("", Concept.NOTHING, bug.document, bug.lines), *versions)
        ]
        shown = [_lines(document, target.qualname) for _, _, document, _ in programs]
        function = find_function(target.document, target.qualname).name
        questions = [
            number_question(
                "localisation",
                {"source": number_lines(lines), "function": function},
                read_line,
                [at + 1 for at in own if lines[at].strip()],
                options.max_tokens,
            )
            for lines, own in shown
        ]
        return _Programs(verified, programs, shown), questions

    def answered(
        self,
        context: Context,
        target: Target,  # noqa: ARG002
        options: LocalisationOptions,  # noqa: ARG002
        facts: _Programs,
        answers: Sequence[TaskAnswer[int]],
    ) -> LocalisationRecord:
        # Scored after all was asked: the programs differ in few lines, and a model reads what two texts
        # have in common only once if one follows the other.
        scored = context.model.offers(Capability.SCORE, cancel=context.cancel)
        surprising = _least_likely(context, facts.shown) if scored else [None] * len(facts.shown)
        located = (
            LocatedProgram(
                mutation=mutation,
                concept=concept,
                program="\n".join(lines),
                lines=bug,
                said=answer.said,
                answer=answer.value,
                least_likely=line,
                candidates=tuple(at + 1 for at in own if lines[at].strip()),
                logprobs=answer.logprobs,
            )
            for (mutation, concept, _, bug), (lines, own), answer, line in zip(
                facts.programs, facts.shown, answers, surprising, strict=True
            )
        )
        bugs = [
            LocatedBug(
                bug=bug.mutation,
                **results,
                first=next(located),
                versions=tuple(islice(located, len(versions))),
            )
            for bug, versions, results in facts.verified
        ]
        return LocalisationRecord(bugs=tuple(bugs))

    def judged(self, record: LocalisationRecord) -> Iterator[JudgedAnswer]:
        """Like `PromptedTask.judged`: the bugs in their first programs."""
        for bug in record.bugs:
            program, lines = bug.first, bug.first.program.split("\n")
            size = sum(bool(line.strip()) for line in lines)
            right = frozenset(at for at, line in enumerate(program.candidates) if line in program.lines)
            scores = {
                BY_MODEL: program.logprobs,
                "longest line": tuple(float(len(lines[n - 1].strip())) for n in program.candidates),
                "first line": tuple(-float(number) for number in program.candidates),
            }
            ranked = {
                way: Closed(record.target, program.candidates, values, right)
                for way, values in (scores.items() if program.logprobs and right else ())
            }
            yield JudgedAnswer(self.main, program.lines, program.located, ranked, len(program.lines) / size)

    def baselines(self, records: Sequence[LocalisationRecord]) -> list[ChanceComparison]:
        """The best line number for all bugs, and a random line that is not blank."""
        bugs = [each for record in records for each in self.judged(record)]
        constant = most_frequent(
            line for record in records for bug in record.bugs for line in bug.first.lines
        )
        right, random = sum(bug.right for bug in bugs), sum(bug.chance or 0 for bug in bugs)
        n = len(bugs)
        return [ChanceComparison(self.main, n, right / n, constant / n, random / n, 0)] if n else []

    def finding(self, records: Sequence[LocalisationRecord]) -> str:
        bugs = [bug for record in records for bug in record.bugs]
        located = sum(bug.first.located for bug in bugs)
        kept = [version.located for bug in bugs if bug.first.located for version in bug.versions]
        lost = f", and lost them in {kept.count(False)} of {len(kept)} rewritten versions" if kept else ""
        return f"The model named the wrong line of {located} of {len(bugs)} bugs{lost}."

    def measures(self, record: LocalisationRecord) -> Mapping[str, bool]:
        return {"every bug located": all(bug.first.located for bug in record.bugs)}


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
    bug_count = 0
    for mutation, program in programs:
        if bug_count == MOST_BUGS:
            return
        context.steps.next(f"looking for an input that shows a bug in {target.name}", bug_count, MOST_BUGS)
        difference = judge.difference(program, cancel=cancel)
        changed = replace(document, text=program)
        lines = changed_lines(before, _lines(changed, target.qualname)[0])
        if difference is None or difference.refused:
            left_out["bug that no input shows"] += 1
            continue
        if not 0 < len(lines) <= _MOST_LINES:
            left_out["bug that is not in one line"] += 1
            continue
        bug_count += 1
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


def number_lines(lines: Sequence[str]) -> str:
    """The text of some lines, each with its number."""
    return "\n".join(f"{number:>3}: {line}" for number, line in enumerate(lines, 1))


def read_line(text: str) -> int | None:
    """The first number in an answer; None if there is none."""
    number = _NUMBER.search(without_thought(text))
    return int(number[0]) if number and len(number[0]) < 7 else None
