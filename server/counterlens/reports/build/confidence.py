"""The model's confidence in code: a function in two lines, a document's least certain places, many files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from counterlens.confidence import Confidence
from counterlens.confidence.corpus import CorpusConfidence, Median
from counterlens.confidence.granularity import Granularity, Span, spans
from counterlens.confidence.surprising import surprising
from counterlens.counting import plural
from counterlens.metrics.bootstrap import LEAST_CLUSTERS
from counterlens.models.base import ModelInfo
from counterlens.reports.document import Block, Bullets, Heading, Paragraph, Report, ReportCell, TableBlock
from counterlens.reports.expected import code, surprise_sentence
from counterlens.reports.wording import share, shorten, uncategorised_note

_LEAST = 5
_WIDEST = 60


CAUTION = (
    "Confidence says how likely this model finds the code, not whether the code is right: unusual code that "
    "is right scores low, and common mistakes score high."
)


def confidence_report(
    confidence: Confidence, info: ModelInfo, *, span: tuple[int, int] | None = None, places: int = _LEAST
) -> Report:
    """The model's expectations of code: by concept, the least certain statements, and the surprises.

    Args:
        confidence: The scores of a document.
        span: Byte range; the report is on this part only.
        places: Maximum number of statements and of surprises.
    """
    first, last = span or (0, len(confidence.document.data))
    lines, concepts = confidence.document.positions, confidence.concepts_in(first, last)
    note = uncategorised_note(confidence.document.language, concepts)
    rows = tuple((name, share(value), n) for name, (value, n) in concepts.items())
    blocks: list[Block] = [
        Paragraph(f"Confidence of {info.name} ({info.where}). {CAUTION}"),
        TableBlock("", ("concept", "mean probability", "nodes"), rows, note=note),
    ]
    painted = [s for s in spans(confidence, Granularity.STATEMENT) if first <= s.start and s.end <= last]
    weakest = [
        f"line {lines.line_of(span.start) + 1}: {share(span.value)} {_code(confidence, span)}"
        for span in least_certain_spans(painted, places)
    ]
    surprises = [
        f"line {lines.line_of(place.start) + 1}: {surprise_sentence(confidence, place, info.name)}"
        for place in surprising(confidence, limit=places, span=span)
    ]
    for title, items in (("Least certain statements:", weakest), ("Most surprising places:", surprises)):
        if items:
            blocks += [Paragraph(title), Bullets(tuple(items))]
    return Report(f"Confidence of {info.name}", tuple(blocks))


def least_certain_spans(painted: Sequence[Span], places: int) -> list[Span]:
    """The spans with the lowest values; for a node in several pieces, only the first one."""
    first = {span.index: span for span in reversed(painted)}.values()
    return sorted(first, key=lambda span: (span.value, span.start))[:places]


def _code(confidence: Confidence, span: Span) -> str:
    text = confidence.document.data[span.start : span.end].decode("utf-8", "replace")
    return code(shorten(text, _WIDEST))


def corpus_report(
    summed: Mapping[str, CorpusConfidence], info: ModelInfo, skipped: Sequence[tuple[str, str]]
) -> Report:
    """The global aggregation over some files, by language, and the skipped files."""
    blocks: list[Block] = []
    if len(summed) > 1:
        counts = ", ".join(
            f"{language} ({plural(corpus.files, 'file')})" for language, corpus in summed.items()
        )
        blocks.append(Paragraph(f"{len(summed)} languages, each reported separately: {counts}"))
    blocks += [block for language, corpus in summed.items() for block in _of_language(language, corpus, info)]
    blocks += [Paragraph(f"not scored: {name}: {reason}", quiet=True) for name, reason in skipped]
    return Report("confidence in a corpus", tuple(blocks))


def _of_language(language: str, corpus: CorpusConfidence, info: ModelInfo) -> Iterator[Block]:
    yield Heading(1, f"{language}: {plural(corpus.files, 'file')}, {plural(corpus.tokens, 'token')}")
    yield Paragraph(f"{info.name}, {info.where}", quiet=True)
    medians: list[tuple[str, Median]] = [*corpus.categories.items()]
    medians += [("all", corpus.whole)] if corpus.whole else []
    yield TableBlock(
        "",
        ("concept", "median", "95 % interval", "snippets", "files"),
        tuple(_row(concept, median) for concept, median in medians),
        note=uncategorised_note(language, corpus.categories),
    )
    if corpus.bits_per_byte is not None:
        bits = corpus.bits_per_byte
        interval = f" ({bits.low:.2f} to {bits.high:.2f})" if bits.low is not None else ""
        yield Paragraph(f"{bits.value:.2f}{interval} bits per byte")
    yield Paragraph(
        f"Median of the snippets' means; files resampled {corpus.resamples} times, seed {corpus.seed}."
        if corpus.files >= LEAST_CLUSTERS
        else "Median of the snippets' means; too few files for an interval.",
        quiet=True,
    )


def _row(concept: str, median: Median) -> tuple[ReportCell, ...]:
    has_interval = median.low is not None and median.high is not None
    interval = f"{median.low:.2f} to {median.high:.2f}" if has_interval else None
    return concept, f"{median.value:.2f}", interval, median.snippets, median.files
