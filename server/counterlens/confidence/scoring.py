"""Scoring a document unit by unit, in byte offsets of the unchanged document.

Smaller differences than the numerical noise of a score are not shown. The same tokens of the same unit,
decoded in the same groups, get bit-identical scores. Other groups (another model server, another chunk size)
round differently, as `benchmarks/noise.py` measures (docs/confidence.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event

import numpy as np
import numpy.typing as npt

from counterlens.confidence.aggregate import Confidence, confidence
from counterlens.confidence.units import HEADER_BYTES, Unit, units
from counterlens.errors import Cancelled, ModelError, SourceError
from counterlens.models.base import Capability, Model, Progress, TokenScores
from counterlens.progress import ProgressCallback, Steps
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

MEASURING = 0.1
"""Share of a budget that must be left for the confidence in a function to be measured."""
TOKEN_NATS = 0.22
"""Log-probability of a token: 95 of 100 differ by less. Embedded model, 128 tokens together against one."""
_PIECE = "\N{REPLACEMENT CHARACTER}"
MAX_BYTES = 65_536
"""Longer documents are refused by default: at a few hundred tokens per second they take minutes."""


@dataclass(frozen=True, slots=True)
class FunctionConfidence:
    """Confidence in the definition that contains a function.

    Attributes:
        scored: The confidence; None if it is unknown.
        note: Why it is unknown.
    """

    scored: Confidence | None
    note: str | None = None


def measure(
    model: Model,
    document: Document,
    *,
    span: tuple[int, int] | None = None,
    cancel: Event | None = None,
    progress: ProgressCallback,
) -> Confidence:
    """Score a document and aggregate the scores.

    Args:
        span: Byte range; only its units are scored.
        progress: Called with a description of the current step.

    Raises:
        ModelError: the model returns no token probabilities, or failed.
        SourceError: the document cannot be scored.
        Cancelled: `cancel` was set.
    """
    if not model.offers(Capability.SCORE, cancel=cancel):
        raise ModelError(f"{model.info.name} returns no token probabilities, so its confidence is unknown")
    scores = score_document(
        model,
        document,
        span=span,
        cancel=cancel,
        progress=lambda done, total: progress("scoring", done, total),
    )
    return confidence(document, scores)


def measure_function(
    model: Model,
    document: Document,
    qualname: str,
    steps: Steps | None = None,
    *,
    most: int | None = None,
) -> FunctionConfidence:
    """Measure the confidence in the definition that contains a function; a note replaces missing scores.

    A method is scored with its whole class, which may take half a minute.

    Args:
        qualname: Qualified name of the function.
        most: Maximum size of a measured definition, in bytes; None for no limit.

    Raises:
        Cancelled: the user cancelled.
    """
    function, steps = find_function(document, qualname), steps or Steps()
    if most is not None:
        around = [unit for unit in units(document) if unit.start < function.end and function.start < unit.end]
        if sum(unit.end - unit.start for unit in around) > most:
            return FunctionConfidence(None, "not measured yet: it is part of a long definition")
    try:
        if not model.offers(Capability.SCORE, cancel=steps.cancel):
            return FunctionConfidence(None, "unknown: this model returns no token probabilities")
        scores = score_document(
            model,
            document,
            span=(function.start, function.end),
            cancel=steps.cancel,
            progress=lambda done, total: steps.report("measuring confidence", done, total),
        )
    except (ModelError, SourceError) as error:  # the model may still complete what it cannot score
        return FunctionConfidence(None, f"unknown: {error.message}")
    return FunctionConfidence(confidence(document, scores))


def distinguishable(logprob: float, two: float, noise: float = TOKEN_NATS) -> bool:
    """Whether two log-probabilities differ by more than the noise.

    Args:
        logprob: A log-probability, in nats.
        two: A log-probability, in nats.
        noise: The noise, in nats.
    """
    return abs(logprob - two) > noise


def score_document(
    model: Model,
    document: Document,
    *,
    alternatives: int = 5,
    max_bytes: int = MAX_BYTES,
    header_bytes: int = HEADER_BYTES,
    span: tuple[int, int] | None = None,
    cancel: Event | None = None,
    progress: Progress | None = None,
) -> TokenScores:
    r"""Score every token of a document, each unit after the document's header.

    Models have hardly seen `\r\n`, so they get `\n`; the offsets are those of the unchanged document.

    Args:
        alternatives: Number of most likely tokens to return per token.
        max_bytes: Maximum size of the document, in bytes.
        header_bytes: Maximum length of the header before each unit, in bytes.
        span: Score only the units that share a byte with this range; `max_bytes` then limits those.
        progress: Called with (finished bytes, all bytes).

    Raises:
        SourceError: the document is longer than `max_bytes`, or empty.
        ModelError, Cancelled: as `Model.score`.
    """
    wanted = [
        unit
        for unit in units(document, header_bytes)
        if span is None or (unit.start < span[1] and span[0] < unit.end)
    ]
    size = len(document.data) if span is None else sum(unit.end - unit.start for unit in wanted)
    if size > max_bytes:
        raise SourceError(
            f"{document.path or 'the text'} has {size:,} bytes, and scoring is limited to {max_bytes:,}",
            "Raise the limit if you can wait: a small local model reads about 1 kB per second",
        )
    parts = []
    for unit in wanted:
        if cancel is not None and cancel.is_set():
            raise Cancelled
        parts.append(
            score_unit(model, document, unit, alternatives=alternatives, cancel=cancel, progress=progress)
        )
        if progress:
            progress(unit.end, len(document.data))
    if not parts:
        raise SourceError(f"{document.path or 'the text'} is empty: there is nothing to score")
    return join_scores(parts, document.text)


def score_alone(
    model: Model, text: str, *, max_bytes: int = MAX_BYTES, cancel: Event | None = None
) -> TokenScores:
    """Score a snippet without context, as in Palacio et al. 2023 (section VI-B).

    Its first token has no score, because no text precedes it.

    Args:
        text: The snippet, in one piece.
        max_bytes: Maximum size of the snippet, in bytes.

    Raises:
        SourceError: the snippet is longer than `max_bytes`, or empty.
        ModelError, Cancelled: as `Model.score`.
    """
    document = Document(text)
    size = len(document.data)
    if size > max_bytes:
        raise SourceError(f"the snippet has {size:,} bytes; the limit for scoring is {max_bytes:,}")
    if not text.strip():
        raise SourceError("the snippet is empty: there is nothing to score")
    scores = score_unit(model, document, Unit(0, size, 0), alternatives=0, cancel=cancel)
    logprob = scores.logprob.copy()
    logprob[:1] = np.nan
    return replace(scores, text=text, logprob=logprob)


def score_unit(
    model: Model,
    document: Document,
    unit: Unit,
    *,
    alternatives: int = 5,
    cancel: Event | None = None,
    progress: Progress | None = None,
) -> TokenScores:
    """Score one unit after its header: a part of the result of `score_document`, at the same offsets.

    Args:
        unit: One of the document's `units`.
        alternatives: Number of most likely tokens to return per token.
        progress: Called with (finished bytes, all bytes) of the document.

    Raises:
        ModelError, Cancelled: as `Model.score`.
    """
    data, size = document.data, len(document.data)
    raw = data[unit.start : unit.end]
    # Without a header, a later unit still has a line break before it, so that its first token has a score.
    context = _unix(data[: unit.context]) or ("\n" if unit.start else "")

    def advanced(done: int, total: int) -> None:
        if progress:
            progress(unit.start + len(raw) * done // max(total, 1), size)

    scores = model.score(
        _unix(raw),
        context=context,
        alternatives=alternatives,
        cancel=cancel,
        progress=advanced,
    )
    encoded = np.frombuffer(raw, np.uint8)
    returns = np.flatnonzero((encoded[:-1] == 13) & (encoded[1:] == 10))
    dropped = returns - np.arange(len(returns))  # sorted offsets, in the text with LF, of those without CR
    placed = replace(
        scores,
        start=scores.start + np.searchsorted(dropped, scores.start) + unit.start,
        end=scores.end + np.searchsorted(dropped, scores.end) + unit.start,
    )
    return whole_characters(placed, data)


def whole_characters(scores: TokenScores, data: bytes) -> TokenScores:
    """Join the tokens that are pieces of one character, and leave out alternatives that are such pieces.

    The log-probability of a joined token is the sum, its rank the largest; entropy and alternatives are those
    of its first piece. An alternative that is left out has the text "" and NaN, after the others.

    Args:
        data: The UTF-8 text at their offsets.
    """
    text = np.frombuffer(data, np.uint8)
    begins = np.ones(len(scores), bool)
    inside = (scores.start > 0) & (scores.start < len(text))
    begins[inside] = (text[scores.start[inside]] & 0xC0) != 0x80
    begins[:1] = True
    first = np.flatnonzero(begins)
    alternatives = scores.alternative_logprob[first].copy()
    texts = [scores.alternative_text[i] for i in first.tolist()]
    for row, names in enumerate(texts):
        if any(_PIECE in name for name in names):
            whole = [i for i, name in enumerate(names) if _PIECE not in name]
            alternatives[row] = np.nan
            alternatives[row, : len(whole)] = scores.alternative_logprob[first[row], whole]
            texts[row] = (*(names[i] for i in whole), *[""] * (len(names) - len(whole)))
    if not len(first):
        return scores
    return replace(
        scores,
        start=scores.start[first],
        end=scores.end[np.append(first[1:], len(scores)) - 1],
        logprob=np.add.reduceat(scores.logprob, first),
        entropy=scores.entropy[first],
        rank=np.maximum.reduceat(scores.rank, first),
        alternative_logprob=alternatives,
        alternative_text=tuple(texts),
        context=scores.context[first],
    )


def _unix(data: bytes) -> str:
    return data.replace(b"\r\n", b"\n").decode("utf-8", "surrogatepass")


def join_scores(parts: Sequence[TokenScores], text: str) -> TokenScores:
    """Join the scores of pieces of a text, in its order, to scores of the text; gaps have none."""

    def column(name: str) -> npt.NDArray[np.float64]:
        return np.concatenate([getattr(part, name) for part in parts])

    return TokenScores(
        text=text,
        start=column("start").astype(np.int64),
        end=column("end").astype(np.int64),
        logprob=column("logprob"),
        entropy=column("entropy"),
        rank=column("rank").astype(np.int64),
        alternative_logprob=column("alternative_logprob"),
        alternative_text=tuple(row for part in parts for row in part.alternative_text),
        context=column("context").astype(np.int64),
    )
