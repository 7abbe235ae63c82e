"""The change of a model's expectation of each statement if an earlier one is changed.

For a changed statement a, the model reads the function up to a's line once, and then each of the
continuations: the unchanged rest, and the changed ones, each to the end of its last observed statement; later
text cannot change the probability of earlier text. The reaction of a token is log p(token | original) - log
p(token | changed): positive if the token was expected because of a.

Interventions: ways to change one statement so that the following text can stay unchanged.

The model reads (teacher forcing) the text before the statement, the changed statement, and the following
text, byte for byte. Only `HIDE` also changes the text in between: a name is easily copied from its last use,
so a renamed definition has an effect on the first use and little on later ones. `HIDE` therefore also
renames the uses between the definition and the observed statement, up to the next binding of the name.

Each language registers how its statements are changed, as `interventions`. `REPLACE` and `DELETE`, which no
figure uses, are only for Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event

import numpy as np
import numpy.typing as npt

from counterlens.languages.part import LanguagePart
from counterlens.languages.registry import LANGUAGES
from counterlens.models.base import Model, TokenScores
from counterlens.probes.dependence.examined import (
    ExaminedFunction,
    Intervention,
    NameRole,
    Part,
    Span,
    StatementChange,
    StatementEdits,
)
from counterlens.probes.prompts.language import PROMPTED

LookedAt = Callable[[Intervention, Part], bool]
"""Whether any token of a statement is observed under a kind of change to another one."""
INTERVENTIONS: LanguagePart[Mapping[Intervention, StatementChange]] = LanguagePart("interventions", Mapping)
"""The statement changes of each language, besides renaming."""
FRESH = ("other", "item", "value", "temp", "first", "second", "entry", "extra", "spare", "thing", "unused")
"""Plain words, so that the new name is a plausible one."""


@dataclass(frozen=True, slots=True)
class ChangedText:
    """One changed text, and the statements observed in it.

    Attributes:
        data: The text, UTF-8; it ends with the last observed statement, and is empty if there is none.
        stop: The end of its range in the subject's text.
        shifts: Statement id to the byte offset by which the observed statement moved.
    """

    data: bytes
    stop: int
    shifts: dict[int, int]


@dataclass(frozen=True, slots=True)
class SpanEdit:
    """New bytes for a span of the subject's text."""

    span: Span
    new: bytes


def everything(_kind: Intervention, _part: Part) -> bool:
    """True: every statement is observed."""
    return True


def readings(
    subject: ExaminedFunction, part: Part, kind: Intervention, looked_at: LookedAt = everything
) -> list[ChangedText]:
    """The changed texts in which the statements after one can be observed; none if it does not apply.

    Args:
        looked_at: Selects the observed statements; no text continues after the last one.
    """
    edits = [SpanEdit(span, new.encode()) for span, new in _edits(kind, subject, part)]
    later = [other for other in subject.parts if other.span[0] >= part.span[1]]
    if not edits or not later:
        return []
    if kind is not Intervention.HIDE:
        return [_reading(subject, edits, later, kind, looked_at)]
    texts, group = [], []
    names = {subject.data[edit.span[0] : edit.span[1]].decode(): edit.new for edit in edits}
    for other in later:
        group.append(other)
        uses = [use for use in other.occurrences if use.name in names and use.role is not NameRole.BOUND]
        if uses:
            texts.append(_reading(subject, edits, group, kind, looked_at))
            edits = edits + [SpanEdit(use.span, names[use.name]) for use in uses]
            group = []
        for use in other.occurrences:
            if use.role is NameRole.BOUND:
                names.pop(use.name, None)
    return [*texts, _reading(subject, edits, group, kind, looked_at)] if group else texts


def _reading(
    subject: ExaminedFunction,
    edits: list[SpanEdit],
    parts: list[Part],
    kind: Intervention,
    looked_at: LookedAt,
) -> ChangedText:
    """The text with some edits, up to the end of the last observed one of some statements."""
    stop = max((part.span[1] for part in parts if looked_at(kind, part)), default=0)
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        pieces += [subject.data[at : edit.span[0]], edit.new]
        at = edit.span[1]
    pieces.append(subject.data[at:stop])
    grown = [(edit.span[1], len(edit.new) - (edit.span[1] - edit.span[0])) for edit in edits]
    shifts = {part.statement.id: sum(by for end, by in grown if end <= part.span[0]) for part in parts}
    return ChangedText(b"".join(pieces) if stop else b"", stop, shifts)


def _rename(subject: ExaminedFunction, part: Part) -> StatementEdits:
    """Rename the bound names, only here: the following text uses a name that was never bound."""
    taken = frozenset().union(*(other.names for other in subject.parts))
    fresh = iter([name for name in FRESH if name not in taken])
    chosen: dict[str, str] = {}
    for occurrence in part.occurrences:
        if occurrence.role is not NameRole.READ:
            if occurrence.name not in chosen:
                chosen[occurrence.name] = next(fresh, f"{occurrence.name}_")
            yield occurrence.span, chosen[occurrence.name]


def _edits(kind: Intervention, subject: ExaminedFunction, part: Part) -> StatementEdits:
    if kind in {Intervention.RENAME, Intervention.HIDE}:
        return _rename(subject, part)
    change = INTERVENTIONS.get(subject.language, {}).get(kind)
    return change(subject, part) if change is not None else iter(())


def lead_of(language: str) -> str:
    """The line before every function of a language: a comment with the language's name.

    It anchors attention, as a BOS token would, so that the first statement does not have to. Without it, a
    change to the header would change the anchor of the whole text.

    Raises:
        SourceError: functions in the language are not supported.
    """
    PROMPTED.require(language)
    registered_language = LANGUAGES[language]
    return f"{registered_language.comment} {registered_language.title}\n"


@dataclass(frozen=True, slots=True, eq=False)
class Reaction:
    """The reaction of one statement to a change of another one.

    Attributes:
        source: The id of the changed statement.
        target: The id of the observed statement.
        kind: The kind of change to the source.
        spans: (n, 2) int64, bytes of the target's tokens in the subject's text, including the line's
            indentation and the line break before it.
        drops: (n,) float64, log p(original) - log p(changed) in nats; NaN if the text was split into other
            tokens, and after the end of the reading.
    """

    source: int
    target: int
    kind: Intervention
    spans: npt.NDArray[np.int64]
    drops: npt.NDArray[np.float64]

    def within(self, spans: Sequence[Span]) -> npt.NDArray[np.float64]:
        """The known drops of the tokens that overlap any of the spans."""
        start, end = self.spans[:, 0], self.spans[:, 1]
        chosen = np.zeros(len(start), bool)
        for low, high in spans:
            chosen |= (start < high) & (end > low)
        drops: npt.NDArray[np.float64] = self.drops[chosen & ~np.isnan(self.drops)]
        return drops


def react(
    model: Model,
    subject: ExaminedFunction,
    part: Part,
    kinds: Sequence[Intervention],
    *,
    looked_at: LookedAt = everything,
    lead: str | None = None,
    cancel: Event | None = None,
) -> list[Reaction]:
    """Change one statement in some ways, and measure the reaction of each later statement.

    Args:
        looked_at: Selects the statements whose reactions are needed; others may be unknown.
        lead: The text before the function; None for `lead_of` its language.

    Raises:
        ModelError: the model cannot answer, or returns no token probabilities.
        Cancelled: `cancel` was set.
    """
    wanted = _wanted_readings(subject, part, kinds, looked_at)
    read = [reading for _, reading in wanted if reading.stop]
    cut = subject.data.rfind(b"\n", 0, part.span[0])
    cut = max(0, cut if cut > 0 and part.statement.id else 0)
    base: dict[Span, float] = {}
    after: list[dict[Span, float]] = []
    if read:
        texts = [subject.data[: max(reading.stop for reading in read)], *(reading.data for reading in read)]
        context = (lead_of(subject.language) if lead is None else lead) + subject.data[:cut].decode()
        rests = [text[cut:].decode() for text in texts]
        scores = model.score_continuations(context, rests, alternatives=0, cancel=cancel)
        base, *after = [_by_span(scored, cut) for scored in scores]
    remaining = iter(after)
    reactions = []
    for kind, reading in wanted:
        then = next(remaining) if reading.stop else {}
        reactions += [
            _compare(subject, part, target, kind, (base, then), shift)
            for target, shift in reading.shifts.items()
        ]
    return reactions


def texts(
    subject: ExaminedFunction, part: Part, kinds: Sequence[Intervention], *, looked_at: LookedAt = everything
) -> int:
    """The number of texts that `react` scores: the changed ones, and the unchanged rest."""
    changed = sum(bool(reading.stop) for _, reading in _wanted_readings(subject, part, kinds, looked_at))
    return 1 + changed if changed else 0


def _wanted_readings(
    subject: ExaminedFunction, part: Part, kinds: Sequence[Intervention], looked_at: LookedAt
) -> list[tuple[Intervention, ChangedText]]:
    return [(kind, reading) for kind in kinds for reading in readings(subject, part, kind, looked_at)]


def _compare(
    subject: ExaminedFunction,
    part: Part,
    target: int,
    kind: Intervention,
    scores: tuple[dict[Span, float], dict[Span, float]],
    shift: int,
) -> Reaction:
    base, then = scores
    start, end = subject.line_of(subject.parts[target])
    spans = [span for span in base if span[0] >= start and span[0] < end]
    drops = [base[low, high] - then.get((low + shift, high + shift), np.nan) for low, high in spans]
    return Reaction(
        part.statement.id,
        target,
        kind,
        np.array(spans, np.int64).reshape(-1, 2),
        np.array(drops, np.float64),
    )


def _by_span(scores: TokenScores, offset: int) -> dict[Span, float]:
    """Log-probabilities by the bytes of each token."""
    spans = zip((scores.start + offset).tolist(), (scores.end + offset).tolist(), strict=True)
    return dict(zip(spans, scores.logprob.tolist(), strict=True))
