"""`counterlens calibrate`: how often code that a model wrote is right, and maps that say so."""

from __future__ import annotations

from pathlib import Path

import click

from counterlens.calibration.correctness import fit_correctness, require_statistics
from counterlens.calibration.outcomes import SAMPLES, TEMPERATURE, observe
from counterlens.cli.options import (
    ChosenModel,
    cache_option,
    json_option,
    model_options,
    sandbox_option,
    show,
    strong_sandbox,
)
from counterlens.cli.progress_lines import steps
from counterlens.cli.report_output import write_page
from counterlens.confidence.correctness import save_correctness
from counterlens.datasets import open_dataset
from counterlens.datasets.registry import absolute, repository_in
from counterlens.languages.registry import language_named
from counterlens.probes.common_options import MAX_TOKENS
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.runner import require_one_language
from counterlens.progress import Steps
from counterlens.reports.build.calibration import correctness_report
from counterlens.reports.export.calibration import correctness_json, write_observations
from counterlens.reports.render import html as pages


@click.command()
@model_options
@click.option(
    "--data",
    required=True,
    multiple=True,
    metavar="DATASET",
    help="The functions that the model completes: a dataset, or repo:PATH. Repeat it for several.",
)
@click.option("--language", metavar="ID", help="Only code in this language; languages are never pooled.")
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Random seed for the choice of functions.",
)
@click.option(
    "--samples",
    type=click.IntRange(1, 20),
    default=SAMPLES,
    show_default=True,
    help=f"Completions per function: a greedy one, the others sampled at {TEMPERATURE}.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Only N functions of each dataset, at random.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1, 4096),
    default=MAX_TOKENS,
    show_default=True,
    help="Token limit for one completion.",
)
@click.option(
    "--records",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the judged completions to this file, as compressed JSON lines.",
)
@click.option("--dry-run", is_flag=True, help="Measure and report without storing a map.")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with the diagrams."
)
@cache_option
@sandbox_option
@json_option
def calibrate(
    model: ChosenModel,
    data: tuple[str, ...],
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
    """Measure how often code that a model wrote is right, by its confidence in it.

    The model writes the bodies of a dataset's functions (--data repo:PATH for those of a repository), tests
    judge them, and the fitted maps give the probability that a completion, or a statement of one, is right.
    The editor and `counterlens complete` use them from then on, and say so. Answers are kept, so an
    interrupted run resumes where it stopped.
    """
    require_statistics()
    sandbox = strong_sandbox(*(place for spec in data for place in repository_in(absolute(spec))))
    targets = [
        target
        for spec in data
        for target in targets_of(open_dataset(spec), limit=limit, seed=seed, sandbox=sandbox)
        if language is None or target.document.language == language_named(language)
    ]
    require_one_language(target.document.language for target in targets)
    with steps("loading the model") as report, model.opened() as loaded:
        outcomes = observe(
            loaded,
            targets,
            sandbox,
            samples=samples,
            max_tokens=max_tokens,
            seed=seed,
            steps=Steps(progress=report),
        )
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
