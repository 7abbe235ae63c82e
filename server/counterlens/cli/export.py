"""`counterlens export`: a run as Parquet files, or in the form of another harness."""

from __future__ import annotations

from pathlib import Path

import click

from counterlens.cli.runs import read_run
from counterlens.cli.saying import say
from counterlens.evaluation.export import export as write
from counterlens.evaluation.harness.formats import HARNESSES, export_for

_PARQUET = "parquet"


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice([_PARQUET, *HARNESSES]),
    default=_PARQUET,
    show_default=True,
    help="Parquet files, or the files of another harness: EvalPlus samples, lm-evaluation-harness results "
    "and samples, or Inspect logs.",
)
@click.option(
    "--output",
    "-o",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Target folder.  [default: DIR/FORMAT]",
)
def export(folder: Path, form: str, output: Path | None) -> None:
    """Write the records of the run in DIR for other tools.

    Parquet is for DuckDB, Polars and pandas: records.parquet has one row per question, TASK-LIST.parquet one
    per pair, operator or answer, and manifests.parquet what the figures depend on. The other formats hold the
    completions of originals and counterfactuals, with their verdicts. See docs/evaluation.md.
    """
    run = read_run(folder)
    place = output or folder / form
    for path in write(run, place) if form == _PARQUET else export_for(form, run, place):
        say(path)
