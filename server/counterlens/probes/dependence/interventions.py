"""Interventions: ways to change one statement so that the following text can stay unchanged.

The model reads (teacher forcing) the text before the statement, the changed statement, and the following
text, byte for byte. Only `HIDE` also changes the text in between: a name is easily copied from its last use,
so a renamed definition has an effect on the first use and little on later ones. `HIDE` therefore also
renames the uses between the definition and the observed statement, up to the next binding of the name.

Each language registers how its statements are changed, as `interventions`. `REPLACE` and `DELETE`, which no
figure uses, are only for Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from counterlens.languages.part import LanguagePart
from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.intervention import Intervention, StatementChange
from counterlens.probes.dependence.parts import NameRole, Part, Span, StatementEdits


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


LookedAt = Callable[[Intervention, Part], bool]
"""Whether any token of a statement is observed under a kind of change to another one."""


def everything(_kind: Intervention, _part: Part) -> bool:
    """True: every statement is observed."""
    return True


def readings(
    subject: ExaminedFunction, part: Part, kind: Intervention, looked_at: LookedAt = everything
) -> list[ChangedText]:
    """The changed texts in which the statements after one can be observed; none if it does not apply.

    Args:
        subject: The function.
        part: The changed statement.
        kind: The kind of change.
        looked_at: Selects the observed statements; no text continues after the last one.
    """
    edits = [SpanEdit(span, new.encode()) for span, new in _edits(kind, subject, part)]
    later = [other for other in subject.parts if other.span[0] >= part.span[1]]
    if not edits or not later:
        return []
    if kind is not Intervention.HIDE:
        return [_reading(subject, edits, later, kind, looked_at)]
    found, group = [], []
    names = {subject.data[edit.span[0] : edit.span[1]].decode(): edit.new for edit in edits}
    for other in later:
        group.append(other)
        uses = [use for use in other.occurrences if use.name in names and use.role is not NameRole.BOUND]
        if uses:
            found.append(_reading(subject, edits, group, kind, looked_at))
            edits = edits + [SpanEdit(use.span, names[use.name]) for use in uses]
            group = []
        for use in other.occurrences:
            if use.role is NameRole.BOUND:
                names.pop(use.name, None)
    return [*found, _reading(subject, edits, group, kind, looked_at)] if group else found


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


INTERVENTIONS: LanguagePart[Mapping[Intervention, StatementChange]] = LanguagePart("interventions", Mapping)
"""The statement changes of each language, besides renaming."""


def _edits(kind: Intervention, subject: ExaminedFunction, part: Part) -> StatementEdits:
    if kind in {Intervention.RENAME, Intervention.HIDE}:
        return _rename(subject, part)
    change = INTERVENTIONS.get(subject.language, {}).get(kind)
    return change(subject, part) if change is not None else iter(())


FRESH = ("other", "item", "value", "temp", "first", "second", "entry", "extra", "spare", "thing", "unused")
"""Plain words, so that the new name is a plausible one."""
