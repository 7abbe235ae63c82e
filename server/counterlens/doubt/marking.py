"""`Doubt`: a mark where an alternative makes the code clearly likelier, by more than a margin."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Event

from counterlens.confidence.exclusion import Ignored, ignore_comments
from counterlens.doubt.alternative import Alternative
from counterlens.doubt.disagreeing import DisagreeingFunction
from counterlens.doubt.failing import FailedTest, FailingFunction
from counterlens.doubt.generating import alternatives_in, changed_text
from counterlens.doubt.margins import SILENT, Margins, margins_of
from counterlens.doubt.passages import passages
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import Trial, trials
from counterlens.judging.comparing import Distinction
from counterlens.models.base import Model
from counterlens.syntax.concepts import Category

LEAST_SHARE = 0.5
"""Minimum share of the probability of all tried versions for a mark."""
FAILING = "tests"
"""The kind of a mark at a function whose tests fail."""
DISAGREEING = "docstring"
"""The kind of a mark at a function whose docstring and code disagree."""


class Verification(StrEnum):
    """The tests' results for the existing code and for the alternative."""

    FAIL = "fail"  # they fail on the existing code, and pass with the alternative, which has no rival
    UNCONFIRMED = "unconfirmed"  # the same, but another alternative that behaves differently may pass, too
    SAME = "same"  # they do not distinguish the two
    NONE = "none"  # there are none, or they did not run


@dataclass(frozen=True, slots=True)
class Doubt:
    """A place in doubt.

    Attributes:
        trial: The alternative, with its gain in likelihood.
        tests: The result of the function's tests.
        failed: The nearest test that fails on the existing code; None if none does.
        rival: Another alternative that passes the failing tests and behaves differently, if any is known.
        apart: An input that distinguishes the alternative from its rival, or from the existing code.
    """

    scope: DoubtScope
    trial: Trial
    tests: Verification = Verification.NONE
    failed: FailedTest | None = None
    rival: Alternative | None = None
    apart: Distinction | None = None

    def within(self, scope: DoubtScope) -> Doubt:
        """The same doubt in a version of the document with the same function, possibly elsewhere."""
        shift = scope.function.start - self.scope.function.start
        trial = replace(self.trial, alternative=self.alternative.moved(shift))
        return replace(self, scope=scope, trial=trial, rival=self.rival and self.rival.moved(shift))

    @property
    def alternative(self) -> Alternative:
        """The alternative."""
        return self.trial.alternative

    @property
    def place(self) -> tuple[int, int]:
        """The byte range of the mark."""
        return self.alternative.place

    @property
    def text(self) -> str:
        """The marked text, on one line."""
        return " ".join(self.scope.text(*self.alternative.place).split())

    @property
    def fixed(self) -> str:
        """The whole document with the alternative."""
        return changed_text(self.scope.document, self.alternative)


Mark = Doubt | FailingFunction | DisagreeingFunction
"""What is marked in a function."""


def kind_of(mark: Mark) -> str:
    """The kind of a mark."""
    if isinstance(mark, Doubt):
        return mark.alternative.kind
    return FAILING if isinstance(mark, FailingFunction) else DISAGREEING


def audible_kinds(margins: Margins) -> frozenset[str]:
    """The kinds that can produce a mark."""
    return frozenset(kind for kind, margin in margins.items() if margin < SILENT)


def fingerprint(scope: DoubtScope) -> str:
    """A hash of everything besides the model and its margins that determines the marks of a function."""
    start = scope.function.start
    digest = hashlib.blake2b(scope.document.data[start : scope.function.end], digest_size=16)
    for passage, inside in passages(scope, alternatives_in(scope)):
        texts = [
            (
                alternative.kind,
                alternative.start - start,
                alternative.end - start,
                alternative.text,
                alternative.refuted,
            )
            for alternative in inside
        ]
        digest.update(repr((passage.context, texts)).encode("utf-8", "surrogatepass"))
    digest.update(repr(sorted(ignore_comments(scope.document).everywhere)).encode())
    return digest.hexdigest()


def marks_of(trials: Sequence[Trial], margins: Margins) -> list[Trial]:
    """The alternatives that are marks, in the order of the text.

    Each has a gain above the margin of its kind and above the noise, makes the following code not less likely
    by more than the noise, and is likelier than all other alternatives of its place together: if several are
    similar, the existing code is rare, not wrong. Marks do not overlap.

    Args:
        trials: The tried alternatives of a function.
        margins: Margins in nats, by kind.
    """
    chosen: list[Trial] = []
    for trial in sorted(trials, key=lambda trial: -trial.gain):
        start, end = trial.alternative.place
        if all(end <= other.alternative.place[0] or other.alternative.place[1] <= start for other in chosen):
            chosen.append(trial)
    loud = [
        mark for mark in chosen if mark.gain > max(margins.get(mark.alternative.kind, SILENT), mark.noise)
    ]
    clear = [mark for mark in loud if mark.rest > -mark.noise and mark.share > LEAST_SHARE]
    return sorted(clear, key=lambda mark: mark.alternative.place)


def doubts(
    model: Model,
    scope: DoubtScope,
    *,
    margins: Margins | None = None,
    cancel: Event | None = None,
) -> list[Doubt]:
    """The places in doubt of a function, in the order of the text; none on an ignored line.

    Args:
        margins: Margins in nats, by kind; by default those of the model. Silent kinds are not tried.

    Raises:
        UnscorableError, ModelError, Cancelled: as `trials`.
    """
    margins = margins_of(model.info) or {} if margins is None else margins
    comments = ignore_comments(scope.document)
    marks = marks_of(trials(model, scope, kinds=audible_kinds(margins), cancel=cancel), margins)
    return [Doubt(scope, mark) for mark in marks if not is_silenced(comments, mark.alternative.place)]


def is_silenced(comments: Ignored, place: tuple[int, int]) -> bool:
    """Whether a comment says that a place is not to be marked."""
    return all(comments.covers(*place, category) for category in Category)
