"""The change of a model's expectation of each statement if an earlier one is changed.

For a changed statement a, the model reads the function up to a's line once, and then each of the
continuations: the unchanged rest, and the changed ones, each to the end of its last observed statement; later
text cannot change the probability of earlier text. The reaction of a token is log p(token | original) - log
p(token | changed): positive if the token was expected because of a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event

import numpy as np
import numpy.typing as npt

from counterlens.languages.registry import LANGUAGES
from counterlens.models.base import Model, TokenScores
from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.intervention import Intervention
from counterlens.probes.dependence.interventions import (
    ChangedText,
    LookedAt,
    everything,
    readings,
)
from counterlens.probes.dependence.parts import Part, Span
from counterlens.probes.prompts.languages import PROMPTED


def lead_of(language: str) -> str:
    """The line before every function of a language: a comment with the language's name.

    It anchors attention, as a BOS token would, so that the first statement does not have to. Without it, a
    change to the header would change the anchor of the whole text.

    Raises:
        SourceError: functions in the language are not supported.
    """
    PROMPTED.require(language)
    known = LANGUAGES[language]
    return f"{known.comment} {known.title}\n"


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
        found: npt.NDArray[np.float64] = self.drops[chosen & ~np.isnan(self.drops)]
        return found


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
        model: The model.
        subject: The function.
        part: The changed statement.
        kinds: The kinds of change.
        looked_at: Selects the statements whose reactions are needed; others may be unknown.
        lead: The text before the function; None for `lead_of` its language.
        cancel: Set to cancel.

    Raises:
        ModelError: the model cannot answer, or returns no token probabilities.
        Cancelled: `cancel` was set.
    """
    wanted = _wanted(subject, part, kinds, looked_at)
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
    known = iter(after)
    found = []
    for kind, reading in wanted:
        then = next(known) if reading.stop else {}
        found += [
            _compare(subject, part, target, kind, (base, then), shift)
            for target, shift in reading.shifts.items()
        ]
    return found


def texts(
    subject: ExaminedFunction, part: Part, kinds: Sequence[Intervention], *, looked_at: LookedAt = everything
) -> int:
    """The number of texts that `react` scores: the changed ones, and the unchanged rest."""
    changed = sum(bool(reading.stop) for _, reading in _wanted(subject, part, kinds, looked_at))
    return 1 + changed if changed else 0


def _wanted(
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
