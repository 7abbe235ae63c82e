"""`counterlens export`: a run as Parquet files, or in the form of another harness."""

from __future__ import annotations

from pathlib import Path

import click

from counterlens.cli.saying import say
from counterlens.evaluation.export import export as write
from counterlens.evaluation.harness.formats import HARNESSES, export_for
from counterlens.evaluation.results import RunResults

_PARQUET = "parquet"


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice([_PARQUET, *HARNESSES]),
    default=_PARQUET,
    show_default=True,
    help="Parquet files, or what another harness reads: samples for EvalPlus, results and samples of "
    "lm-evaluation-harness, or logs of Inspect.",
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

    As Parquet for DuckDB, Polars or pandas, records.parquet has a line for each question, TASK-LIST.parquet
    one for each pair, operator or answer, manifests.parquet what they depend on. The other formats have the
    completions of originals and counterfactuals, with their verdicts. See docs/evaluation.md.
    """
    found = RunResults.read(folder)
    place = output or folder / form
    for path in write(found, place) if form == _PARQUET else export_for(form, found, place):
        say(path)
