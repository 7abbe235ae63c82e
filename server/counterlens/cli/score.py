"""`counterlens score`: the probability of code, per token, per syntax node, or over a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from counterlens.cli.measuring import functions_of, measure, unscored_functions
from counterlens.cli.options import (
    ChosenModel,
    cache_option,
    json_option,
    model_options,
    print_json,
    print_report,
    refuse_given,
    show,
)
from counterlens.cli.probe_options import options_of
from counterlens.cli.progress_lines import steps
from counterlens.cli.report_output import write_page
from counterlens.cli.saying import say
from counterlens.cli.sources import files_of
from counterlens.confidence import Aggregation, Confidence, confidence, score_document
from counterlens.confidence.alignment import Rule
from counterlens.confidence.corpus import FileConfidence, corpus_confidence
from counterlens.confidence.exclusion import ScoringLimits, reason_to_skip
from counterlens.confidence.granularity import Granularity
from counterlens.confidence.scoring import MAX_BYTES
from counterlens.confidence.units import HEADER_BYTES
from counterlens.errors import SourceError
from counterlens.evaluation.causal import TASK
from counterlens.languages.registry import language_named
from counterlens.models import Model
from counterlens.probes.options import make
from counterlens.probes.registry import PROBES
from counterlens.reports.build.confidence import corpus_report
from counterlens.reports.build.probe_run import probe_report
from counterlens.reports.export import json as plain
from counterlens.reports.export.json import corpus, probe_document
from counterlens.reports.page import page
from counterlens.reports.render import terminal
from counterlens.reports.scores import score_report
from counterlens.syntax.concepts.sets import OWN, concept_set
from counterlens.syntax.document import Document

Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class _How:
    """The options for reading and scoring a document."""

    language: str | None
    aggregation: Aggregation
    rule: Rule
    alternatives: int
    max_bytes: int
    anyway: bool
    concepts: str = OWN
    no_context: bool = False

    def read(self, path: Path) -> Document:
        """Read a document for scoring.

        Raises:
            SourceError: it cannot be read, or there is a reason not to score it.
        """
        document = Document.read(path, self.language)
        if not document.text.strip():
            raise SourceError(f"{path} is empty: there is nothing to score")
        reason = None if self.anyway else reason_to_skip(document, ScoringLimits(bytes=self.max_bytes))
        if reason is not None:
            raise SourceError(
                f"{path} is not scored: {reason}",
                "--anyway scores it nevertheless; the embedded model reads about 1 kB per second",
            )
        return document

    def score(self, model: Model, document: Document, progress: Callable[[int, int], None]) -> Confidence:
        """Compute the confidence in a document."""
        scores = score_document(
            model,
            document,
            alternatives=self.alternatives,
            max_bytes=len(document.data),
            header_bytes=0 if self.no_context else HEADER_BYTES,
            progress=progress,
        )
        return confidence(document, scores, self.aggregation, self.rule, concept_set(self.concepts))


@click.command()
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="PATH...")
@model_options
@click.option(
    "--by",
    type=click.Choice([member.value for member in Granularity]),
    default=Granularity.STATEMENT.value,
    show_default=True,
    help="Unit to colour.",
)
@click.option(
    "--aggregate",
    "--aggregation",
    "aggregation",
    type=click.Choice([member.value for member in Aggregation]),
    default=Aggregation.MEAN.value,
    show_default=True,
    help="Aggregation of token probabilities to a node's confidence.",
)
@click.option(
    "--rule",
    type=click.Choice([member.value for member in Rule]),
    default=Rule.OVERLAP.value,
    show_default=True,
    help="Assign a token that spans two nodes to both, or to the node where it starts.",
)
@click.option("--language", metavar="ID", help="Language, if the file extension does not determine it.")
@click.option(
    "--global",
    "as_corpus",
    is_flag=True,
    help="Summarise all files by language, with bootstrapped medians. Default for folders and several files.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Random seed for the intervals of a corpus."
)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page to this file.")
@click.option("--alternatives", type=click.IntRange(0, 100), default=5, show_default=True)
@click.option("--max-bytes", type=click.IntRange(1), default=MAX_BYTES, show_default=True)
@click.option("--anyway", is_flag=True, help="Also score generated, minified and over-long files.")
@options_of(TASK, "protocol", "concepts", "no_context")
@cache_option
@json_option
def score(
    paths: tuple[Path, ...],
    model: ChosenModel,
    by: Granularity,
    aggregation: Aggregation,
    rule: Rule,
    language: str | None,
    as_corpus: bool,
    seed: int,
    html: Path | None,
    alternatives: int,
    max_bytes: int,
    anyway: bool,
    given: dict[str, Any],
    as_json: bool,
) -> None:
    """Show how likely a model finds each token, node and concept of a file.

    A folder, or several files, are summarised by language: medians with intervals, per concept. With
    --protocol each Python function is scored alone, and the tables are those of the paper.
    """
    named = language_named(language) if language else None
    if "protocol" in given:
        fixed = (Aggregation(aggregation), Rule(rule)) == (Aggregation.MEAN, Rule.OVERLAP)
        if html is not None or not fixed:
            raise click.UsageError("--protocol fixes --html, --aggregate and --rule; omit them")
        untaken = ("by", "language", "alternatives", "max_bytes", "anyway", "as_corpus")
        refuse_given(untaken, "not with --protocol")
        score_by_protocol(paths, model, {"seed": seed, **given}, as_json=as_json)
        return
    if anyway:
        refuse_given(("max_bytes",), "not with --anyway, which has no limits")
    how = _How(named, Aggregation(aggregation), Rule(rule), alternatives, max_bytes, anyway, **given)
    several = as_corpus or len(paths) > 1 or paths[0].is_dir()
    if several and html is not None:
        raise click.UsageError("--html shows one file; give one, without --global")
    if several:
        refuse_given(("by", "alternatives"), "only for one file, without --global")
    else:
        refuse_given(("seed",), "only for folders, several files, --global or --protocol")
    document = None if several else how.read(paths[0])
    files = files_of(paths) if several else []
    with model.opened() as loaded:
        if document is None:
            _corpus(loaded, files, how, seed, as_json=as_json)
        else:
            _file(loaded, document, how, Granularity(by), html, as_json=as_json)


def _file(
    model: Model, document: Document, how: _How, by: Granularity, html: Path | None, *, as_json: bool
) -> None:
    """Score one file and show it."""
    what = f"scoring {document.path.name if document.path else 'the text'}"
    with steps(what) as report:
        scored = how.score(model, document, lambda done, total: report(what, done, total))
    if html is not None:
        write_page(html, page(scored, model.info, by))
    if as_json:
        print_json(plain.confidence(scored, model.info, by))
    elif html is None:
        print_report(score_report(scored, model.info, by))
    else:
        say(f"wrote {html}")


def _corpus(model: Model, paths: list[Path], how: _How, seed: int, *, as_json: bool) -> None:
    """Score some files and aggregate them by language; skipped files are listed with the reason."""
    scored: dict[str, dict[str, FileConfidence]] = {}
    skipped: list[tuple[str, str]] = []
    with steps("scoring") as report:
        for number, path in enumerate(paths):
            what = f"scoring {path.name}, {number + 1} of {len(paths)}"

            def progress(done: int, total: int, *, what: str = what, number: int = number) -> None:
                report(what, 1000 * number + 1000 * done // max(total, 1), 1000 * len(paths))

            progress(0, 1)
            try:
                document = how.read(path)
                confident = FileConfidence.of(how.score(model, document, progress))
                scored.setdefault(document.language, {})[str(path)] = confident
            except SourceError as error:
                skipped.append(
                    (str(path), error.message.removeprefix(f"{path} ").removeprefix("is not scored: "))
                )
    if not scored:
        name, reason = skipped[0]
        raise SourceError(f"none of {len(paths)} files is scored; {name}: {reason}", "See --anyway")
    summed = {
        language: corpus_confidence(list(files.values()), seed=seed)
        for language, files in sorted(scored.items())
    }
    paths_by_language = {name: list(files) for name, files in scored.items()}
    shown = corpus_report(summed, model.info, skipped)
    show(shown, lambda: corpus(summed, model.info, paths_by_language, skipped), as_json=as_json)


def score_by_protocol(
    paths: Sequence[Path], model: ChosenModel, given: Mapping[str, Any], *, as_json: bool
) -> None:
    """Score the functions of some files with a protocol, and show its tables.

    Args:
        paths: Files and folders.
        given: Options of the probe `confidence`.
        as_json: Whether to print one JSON document.

    Raises:
        OptionError: an option contradicts the protocol.
        SourceError: no function could be scored.
    """
    options = make(PROBES[TASK].options, given)
    left_out: dict[str, str] = {}
    chosen = list(functions_of(paths, left_out))
    with model.opened() as loaded:
        measured = measure(loaded, chosen, options)
    left_out |= unscored_functions(measured)
    run = replace(measured, records=measured.probed)
    if not run.records:
        name, reason = next(iter(left_out.items()), ("these", "they have no functions"))
        raise SourceError(f"no function is scored; {name}: {reason}")
    if as_json:
        print_json(probe_document(run) | {"not_scored": left_out})
        return
    print_report(terminal.render(probe_report(run, "functions")))
    for name, reason in left_out.items():
        say(f"not scored: {name}: {reason}")
