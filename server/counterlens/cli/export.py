"""`counterlens export`: a run as Parquet files."""

from __future__ import annotations

from pathlib import Path

import click

from counterlens.cli.saying import say
from counterlens.evaluation.export import export as write
from counterlens.evaluation.results import RunResults


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Target folder.  [default: DIR/parquet]",
)
def export(folder: Path, output: Path | None) -> None:
    """Write the records of the run in DIR as Parquet files, for DuckDB, Polars or pandas.

    records.parquet has a line for each question, TASK-LIST.parquet one for each pair, operator or answer,
    manifests.parquet what they depend on. See docs/evaluation.md for queries.
    """
    found = RunResults.read(folder)
    for path in write(found, output or folder / "parquet"):
        say(path)
