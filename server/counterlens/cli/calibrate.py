"""`counterlens calibrate`: how often confidences are right, and a map that corrects them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from counterlens.calibration.fitting import NODES
from counterlens.calibration.fitting import calibrate as calibrated
from counterlens.calibration.measuring import NodeTruth
from counterlens.cli.options import (
    ChosenModel,
    cache_option,
    json_option,
    model_options,
    print_json,
    print_report,
)
from counterlens.cli.progress_lines import steps
from counterlens.cli.report_output import write_page
from counterlens.cli.sources import files_of
from counterlens.confidence import Aggregation
from counterlens.confidence.calibration import save_calibration
from counterlens.confidence.exclusion import reason_to_skip
from counterlens.datasets import open_dataset
from counterlens.errors import SourceError
from counterlens.languages.registry import language_named
from counterlens.metrics.fitting import Method, require_statistics
from counterlens.probes.runner import require_one_language
from counterlens.progress import Steps
from counterlens.reports.build.calibration import calibration_report
from counterlens.reports.export.calibration import calibration_json
from counterlens.reports.render import html as pages
from counterlens.reports.render import terminal
from counterlens.syntax.document import Document


@click.command()
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, metavar="[PATH...]")
@model_options
@click.option(
    "--data", metavar="DATASET", help="Measure on a dataset's reference solutions instead of files."
)
@click.option(
    "--truth",
    type=click.Choice([member.value for member in NodeTruth]),
    default=NodeTruth.FILLS.value,
    show_default=True,
    help="fills: let the model write each node. first-choice: take it from the scores, much faster.",
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
@click.option("--dry-run", is_flag=True, help="Measure and report without storing a map.")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with the diagrams."
)
@cache_option
@json_option
def calibrate(
    paths: tuple[Path, ...],
    model: ChosenModel,
    data: str | None,
    truth: str,
    nodes: int | None,
    method: str,
    aggregation: str,
    language: str | None,
    seed: int,
    dry_run: bool,
    html: Path | None,
    as_json: bool,
) -> None:
    """Fit a calibration map of a model's confidence on correct code.

    PATH are files or folders. The editor and `counterlens score` use the map from then on, and say so.
    Answers are kept, so an interrupted run resumes where it stopped.
    """
    if bool(paths) == bool(data):
        raise click.UsageError("give files or folders, or --data DATASET")
    require_statistics()
    documents = list(_of_dataset(data) if data else _of_files(paths))
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
    if html is not None:
        write_page(html, pages.page(calibration_report(outcome, kept)))
    if as_json:
        print_json(calibration_json(outcome, kept))
    else:
        print_report(terminal.render(calibration_report(outcome, kept)))


def _of_dataset(spec: str) -> Iterator[Document]:
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
