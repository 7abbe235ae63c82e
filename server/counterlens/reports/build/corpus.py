"""The report on a model's confidence in many files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from counterlens.confidence.corpus import CorpusConfidence, Median
from counterlens.counting import plural
from counterlens.metrics.bootstrap import LEAST_CLUSTERS
from counterlens.models.base import ModelInfo
from counterlens.reports.document import Block, Heading, Paragraph, Report, ReportCell, TableBlock
from counterlens.reports.wording import uncategorised_note


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
    known = median.low is not None and median.high is not None
    interval = f"{median.low:.2f} to {median.high:.2f}" if known else None
    return concept, f"{median.value:.2f}", interval, median.snippets, median.files
