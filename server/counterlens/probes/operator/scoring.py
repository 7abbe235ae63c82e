"""The operator that a model expects in a gap: each candidate by the probability of the following text.

A left-to-right model, which predicts the next token, sees only the text before the gap. Here it scores the
whole text with each candidate in the gap, from the line of the gap to the end of the function: so the text
after the gap also counts, and by Bayes' rule the candidates' shares of that probability are the model's
belief about the gap, given both sides.

A masked model reads both sides itself. It is queried as in Ahmed et al. 2024: all pieces of a candidate are
masked at once, and their log-probabilities are summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import Event

import numpy as np
import numpy.typing as npt

from counterlens.confidence.units import units
from counterlens.errors import SourceError
from counterlens.models.base import Capability, Model, Progress, TokenScores
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions
from counterlens.syntax.operators import OperatorSite, leaves

CONTEXT_BYTES = 8192
"""Maximum text shown before the gap, besides the document's header."""
AFTER_BYTES = 8192
"""Maximum text scored after the gap."""
_NEUTRAL = "\n"  # precedes a text without context, so that its first token has a score


@dataclass(frozen=True, slots=True, eq=False)
class OperatorDistribution:
    """The model's belief about a gap.

    Attributes:
        site: The existing operator.
        logprob: (k,) float64, natural logarithm of the probability of the scored text with each of the
            site's k candidates, given the text before it.
        surprisal: The negative log-likelihood of the operator's own tokens, in nats over the whole
            vocabulary, given the text before them; None if it was not scored.
    """

    site: OperatorSite
    logprob: npt.NDArray[np.float64]
    surprisal: float | None = None

    @property
    def probability(self) -> npt.NDArray[np.float64]:
        """(k,) float64, each candidate's share of the probability of all of them."""
        weights = np.exp(self.logprob - self.logprob.max())
        return np.asarray(weights / weights.sum(), np.float64)

    @property
    def entropy(self) -> float:
        """Entropy over the candidates, in nats: 0 if one is certain, at most the log of their number."""
        p = self.probability
        return float(-np.sum(p[p > 0] * np.log(p[p > 0])) + 0.0)

    @property
    def nll(self) -> float:
        """The negative log-likelihood of the existing operator among the candidates, in nats.

        Ahmed et al. 2024, section 4.3, call it entropy.
        """
        at = self.site.candidates.index(self.site.operator)
        highest = self.logprob.max()
        return float(highest + np.log(np.exp(self.logprob - highest).sum()) - self.logprob[at])

    @property
    def predicted(self) -> str:
        """The likeliest candidate; the first of equally likely ones."""
        return self.site.candidates[int(np.argmax(self.logprob))]

    @property
    def correct(self) -> bool:
        """Whether the likeliest candidate is the existing one."""
        return self.predicted == self.site.operator

    @property
    def expected(self) -> float:
        """The probability of the existing operator."""
        return float(self.probability[self.site.candidates.index(self.site.operator)])

    @property
    def margin(self) -> float:
        """Log-probability of the text with the best other candidate minus that of the text as it is, in nats.

        Below 0 if the existing one is the likeliest.
        """
        at = self.site.candidates.index(self.site.operator)
        return float(np.delete(self.logprob, at).max() - self.logprob[at])


@dataclass(frozen=True, slots=True, eq=False)
class OperatorScores:
    """The scores of a gap's text with each candidate, from which distributions for any window are read.

    Attributes:
        scores: The log-probabilities of the text with each candidate, in their order.
        gap: The byte of the scored text at which the candidates begin.
        cuts: Lexical tokens of a window to bytes after the gap at which its text ends.
    """

    site: OperatorSite
    scores: tuple[TokenScores, ...]
    gap: int
    cuts: tuple[int, ...]

    def distribution(self, after: int | None = None) -> OperatorDistribution:
        """The distribution with only `after` lexical tokens after the gap; None for all of them."""
        logprob = np.empty(len(self.scores))
        for i, (scores, candidate) in enumerate(zip(self.scores, self.site.candidates, strict=True)):
            counted = ~np.isnan(scores.logprob)
            if after is not None and after < len(self.cuts):
                counted &= scores.start < self.gap + len(candidate.encode()) + self.cuts[after]
            logprob[i] = scores.logprob[counted].sum()
        return OperatorDistribution(self.site, logprob, self._surprisal())

    def _surprisal(self) -> float | None:
        """The surprisal of the operator's tokens, including a blank or sign before it in the same token."""
        at = self.site.candidates.index(self.site.operator)
        scores, end = self.scores[at], self.gap + len(self.site.operator.encode())
        own = scores.logprob[(scores.end > self.gap) & (scores.start < end)]
        return -float(own.sum()) + 0.0 if len(own) and not np.isnan(own).any() else None


class OperatorScorer:
    r"""Scores the operators of one document.

    Args:
        model: The model; it must give token probabilities.
        document: The source. Models are shown `\n` at line ends.
    """

    def __init__(self, model: Model, document: Document) -> None:
        self._model, self._document = model, document

    def score(
        self,
        site: OperatorSite,
        *,
        before: int | None = None,
        after: int | None = None,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> OperatorScores:
        """Score a gap with each of its candidates, as one batch with a shared prefix.

        Scoring begins with the line of the gap, so that no candidate changes how the text before it is cut
        into tokens.

        Args:
            before: Number of lexical tokens before the gap that are shown; None for the header of the
                document and all of the definition before it.
            after: Number of lexical tokens after it that are scored, or shown to a masked model; None for
                all up to the end of the function.
            progress: Like `Model.score_continuations`.

        Raises:
            SourceError: the site is not in the document.
            ModelError, Cancelled: as `Model.score_continuations`.
        """
        data = self._document.data
        masked = self._model.offers(Capability.MASKED, cancel=cancel)
        if data[site.start : site.end].split() != site.operator.encode().split():
            raise SourceError(f"there is no `{site.operator}` at byte {site.start}")
        end = self._end(site, after)
        context, start = self._context(site, before)
        lead, follow = _unix(data[start : site.start]), _unix(data[site.end : end])
        if masked:
            return self._masked(site, context + lead, follow, cancel, progress)
        texts = [f"{lead}{candidate}{follow}" for candidate in site.candidates]
        scores = self._model.score_continuations(
            context or _NEUTRAL, texts, alternatives=0, cancel=cancel, progress=progress
        )
        cuts = [0, *(len(_unix(data[site.end : stop]).encode()) for _, stop in self._leaves_after(site, end))]
        return OperatorScores(site, tuple(scores), len(lead.encode()), tuple(cuts))

    def _masked(
        self, site: OperatorSite, before: str, after: str, cancel: Event | None, progress: Progress | None
    ) -> OperatorScores:
        """The scores of each candidate alone, given its whole context."""
        scores, gap = [], len(before.encode())
        for candidate in site.candidates:
            text, end = f"{before}{candidate}{after}", gap + len(candidate.encode())
            scores.append(self._model.score_span(text, gap, end, cancel=cancel))
            if progress:
                progress(len(scores), len(site.candidates))
        return OperatorScores(site, tuple(scores), gap, ())

    def sides(self, site: OperatorSite) -> tuple[str, str]:
        """Return the text shown before a gap, and the text after it up to the end of the function."""
        context, start = self._context(site, None)
        data, end = self._document.data, self._end(site, None)
        return context + _unix(data[start : site.start]), _unix(data[site.end : end])

    def _context(self, site: OperatorSite, before: int | None) -> tuple[str, int]:
        """The context before the scored text, and the start of that text."""
        data = self._document.data
        line = max(data.rfind(b"\n", 0, site.start), 0)
        line -= data[line - 1 : line] == b"\r"
        if before is not None:
            earlier = [leaf for leaf in self._leaves if leaf[1] <= site.start]
            first = earlier[-before][0] if 0 < before <= len(earlier) else 0 if before else site.start
            begin = max(first, line)
            return _unix(data[first:begin]), begin
        unit = next(unit for unit in units(self._document) if unit.start <= site.start < unit.end)
        begin = max(unit.start, line)
        lower = max(unit.start, begin - CONTEXT_BYTES)
        if lower > unit.start:
            lower = max(data.find(b"\n", lower), lower)
        return _unix(data[: unit.context]) + _unix(data[lower:begin]), begin

    def _end(self, site: OperatorSite, after: int | None) -> int:
        """The end of the scored text: the end of the window, or of the innermost function around the gap."""
        around = [f.end for f in functions(self._document) if f.start <= site.start < f.end]
        whole = units(self._document)
        end = around[-1] if around else next(u.end for u in whole if u.start <= site.start < u.end)
        end = min(end, site.end + AFTER_BYTES)
        if after is not None:
            following = self._leaves_after(site, end)[:after]
            return following[-1][1] if following else site.end
        while end < len(self._document.data) and self._document.data[end] & 0xC0 == 0x80:
            end += 1
        return end

    def _leaves_after(self, site: OperatorSite, end: int) -> list[tuple[int, int]]:
        return [leaf for leaf in self._leaves if site.end <= leaf[0] and leaf[1] <= end]

    @cached_property
    def _leaves(self) -> list[tuple[int, int]]:
        return leaves(self._document)


def operator_distribution(
    model: Model,
    document: Document,
    site: OperatorSite,
    *,
    before: int | None = None,
    after: int | None = None,
    cancel: Event | None = None,
) -> OperatorDistribution:
    """The model's belief about one gap; arguments and errors as in `OperatorScorer.score`."""
    return (
        OperatorScorer(model, document).score(site, before=before, after=after, cancel=cancel).distribution()
    )


def _unix(data: bytes) -> str:
    return data.replace(b"\r\n", b"\n").decode("utf-8", "replace")
