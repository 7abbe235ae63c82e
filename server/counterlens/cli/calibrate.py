"""`counterlens calibrate`: how often confidences are right, and maps that say so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from counterlens.calibration.correctness import fit_correctness
from counterlens.calibration.curves import Method, require_statistics
from counterlens.calibration.fitting import NODES
from counterlens.calibration.fitting import calibrate as calibrated
from counterlens.calibration.measuring import NodeTruth
from counterlens.calibration.outcomes import SAMPLES, TEMPERATURE, observe
from counterlens.cli.options import (
    ChosenModel,
    cache_option,
    json_option,
    model_options,
    refuse_given,
    sandbox_option,
    show,
    strong_sandbox,
)
from counterlens.cli.progress_lines import steps
from counterlens.cli.report_output import write_page
from counterlens.cli.sources import files_of
from counterlens.confidence import Aggregation
from counterlens.confidence.calibration import save_calibration
from counterlens.confidence.correctness import save_correctness
from counterlens.confidence.exclusion import reason_to_skip
from counterlens.datasets import open_dataset
from counterlens.errors import SourceError
from counterlens.evaluation.plan import absolute, repository_in
from counterlens.languages.registry import language_named
from counterlens.probes.common_options import MAX_TOKENS
from counterlens.probes.runner import require_one_language
from counterlens.probes.subjects import targets_of
from counterlens.progress import Steps
from counterlens.reports.build.calibration import calibration_report, correctness_report
from counterlens.reports.export.calibration import calibration_json, correctness_json, write_observations
from counterlens.reports.render import html as pages
from counterlens.syntax.document import Document

_TESTS = "tests"
_OF_NODES = ("nodes", "method", "aggregation")
_OF_TESTS = ("samples", "limit", "max_tokens", "records")


@click.command()
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, metavar="[PATH...]")
@model_options
@click.option(
    "--data",
    multiple=True,
    metavar="DATASET",
    help="Measure on a dataset's reference solutions instead of files; with --truth tests, on completions of "
    "its functions. Repeat it for several.",
)
@click.option(
    "--truth",
    type=click.Choice([*(member.value for member in NodeTruth), _TESTS]),
    default=NodeTruth.FILLS.value,
    show_default=True,
    help="fills: let the model write each node. first-choice: take it from the scores, much faster. tests: "
    "let the model write whole bodies, and run their tests.",
)
@click.option(
    "--nodes",
    type=click.IntRange(20),
    help=f"Number of nodes [default: {NODES[NodeTruth.FILLS]}; first-choice: "
    f"{NODES[NodeTruth.FIRST_CHOICE]:,}]",
)
@click.option(
    "--method",
    type=click.Choice([member.value for member in Method]),
    default=Method.AUTOMATIC.value,
    show_default=True,
    help="automatic: isotonic for 1,000 nodes or more, else Platt's.",
)
@click.option(
    "--aggregate",
    "aggregation",
    type=click.Choice([member.value for member in Aggregation]),
    default=Aggregation.MEAN.value,
    show_default=True,
    help="The confidence to calibrate.",
)
@click.option("--language", metavar="ID", help="Only code in this language; languages are never pooled.")
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Random seed for the choice of functions and nodes.",
)
@click.option(
    "--samples",
    type=click.IntRange(1, 20),
    default=SAMPLES,
    show_default=True,
    help=f"Completions per function (--truth tests): a greedy one, the others sampled at {TEMPERATURE}.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Only N functions of each dataset, at random (--truth tests).",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1, 4096),
    default=MAX_TOKENS,
    show_default=True,
    help="Token limit for one completion (--truth tests).",
)
@click.option(
    "--records",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the judged completions to this file, as compressed JSON lines (--truth tests).",
)
@click.option("--dry-run", is_flag=True, help="Measure and report without storing a map.")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with the diagrams."
)
@cache_option
@sandbox_option
@json_option
def calibrate(
    paths: tuple[Path, ...],
    model: ChosenModel,
    data: tuple[str, ...],
    truth: str,
    nodes: int | None,
    method: str,
    aggregation: str,
    language: str | None,
    seed: int,
    samples: int,
    limit: int | None,
    max_tokens: int,
    records: Path | None,
    dry_run: bool,
    html: Path | None,
    as_json: bool,
) -> None:
    """Fit a calibration map of a model's confidence on correct code.

    PATH are files or folders. The editor and `counterlens score` use the map from then on, and say so.
    Answers are kept, so an interrupted run resumes where it stopped.

    With --truth tests, the model writes the bodies of a dataset's functions (--data repo:PATH for those of a
    repository), tests judge them, and the maps give the probability that a completion, or a statement of one,
    is right.
    """
    if bool(paths) == bool(data):
        raise click.UsageError("give files or folders, or --data DATASET")
    require_statistics()
    if truth == _TESTS:
        refuse_given(_OF_NODES, "not with --truth tests")
        if paths:
            raise click.UsageError("--truth tests needs --data; the functions of a repository are repo:PATH")
        sampling = {"samples": samples, "max_tokens": max_tokens, "seed": seed}
        _calibrate_by_tests(
            model, data, language, limit, sampling, records, dry_run=dry_run, html=html, as_json=as_json
        )
        return
    refuse_given(_OF_TESTS, "only with --truth tests")
    documents = list(_of_datasets(data) if data else _of_files(paths))
    if language is not None:
        named = language_named(language)
        documents = [document for document in documents if document.language == named]
    require_one_language(document.language for document in documents)
    with (
        steps("loading the model") as report,
        model.opened() as loaded,
    ):
        outcome = calibrated(
            loaded,
            documents,
            truth=NodeTruth(truth),
            method=Method(method),
            aggregation=Aggregation(aggregation),
            nodes=nodes,
            seed=seed,
            steps=Steps(progress=report),
        )
    kept = None if dry_run or not outcome.better else save_calibration(outcome.calibration)
    shown = calibration_report(outcome, kept)
    if html is not None:
        write_page(html, pages.page(shown))
    show(shown, lambda: calibration_json(outcome, kept), as_json=as_json)


def _calibrate_by_tests(
    model: ChosenModel,
    data: tuple[str, ...],
    language: str | None,
    limit: int | None,
    sampling: dict[str, int],
    records: Path | None,
    *,
    dry_run: bool,
    html: Path | None,
    as_json: bool,
) -> None:
    sandbox = strong_sandbox(*(place for spec in data for place in repository_in(absolute(spec))))
    seed = sampling["seed"]
    targets = [
        target
        for spec in data
        for target in targets_of(open_dataset(spec), limit=limit, seed=seed, sandbox=sandbox)
        if language is None or target.document.language == language_named(language)
    ]
    require_one_language(target.document.language for target in targets)
    with steps("loading the model") as report, model.opened() as loaded:
        outcomes = observe(loaded, targets, sandbox, steps=Steps(progress=report), **sampling)
        info = loaded.info
    if records is not None:
        write_observations(records, outcomes.completions)
    names = ", ".join(dict.fromkeys(open_dataset(spec).provenance.title for spec in data))
    outcome = fit_correctness(outcomes, info, data=names, language=targets[0].document.language, seed=seed)
    kept = None if dry_run else save_correctness(outcome.maps)
    shown = correctness_report(outcome, kept)
    if html is not None:
        write_page(html, pages.page(shown))
    show(shown, lambda: correctness_json(outcome, kept), as_json=as_json)


def _of_datasets(specs: tuple[str, ...]) -> Iterator[Document]:
    for spec in specs:
        for problem in open_dataset(spec):
            yield Document(problem.source, Path(problem.id.replace("/", "-")), problem.language)


def _of_files(paths: tuple[Path, ...]) -> Iterator[Document]:
    """The files that can be read and are worth scoring; a file that the user named must be readable."""
    for path in files_of(paths):
        try:
            document = Document.read(path)
        except SourceError:
            if path in paths:
                raise
            continue
        if reason_to_skip(document) is None:
            yield document
