"""`counterlens report`, `compare` and `replay`: what runs found, and whether it comes out again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import IO

import click

from counterlens.cli.options import (
    json_option,
    print_json,
    print_report,
    sandbox_option,
    steps,
    strong_sandbox,
)
from counterlens.evaluation.comparison import compare_runs
from counterlens.evaluation.figures import Found
from counterlens.evaluation.replay import replay as ask_again
from counterlens.reports.evaluation.terminal import run_report
from counterlens.reports.evaluation.text import (
    comparison_json,
    comparison_markdown,
    run_csv,
    run_json,
    run_markdown,
)

FORMATS = {"markdown": run_markdown, "json": run_json, "csv": run_csv}
_folder = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


@click.command()
@_folder
@click.option("--format", "form", type=click.Choice(["text", *FORMATS]), default="text", show_default=True)
@click.option("--output", "-o", type=click.File("w", encoding="utf-8", lazy=True), help="A file to write to.")
def report(folder: Path, form: str, output: IO[str] | None) -> None:
    """Show what the run in DIR found, finished or not.

    Markdown has the tables and every pair whose verdict changed, JSON everything, CSV one line a pair.
    """
    found = Found.read(folder)
    if form == "text" and output is None:
        print_report(run_report(found))
        return
    text = FORMATS["markdown" if form == "text" else form](found)
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write(text)


@click.command()
@click.argument("first", metavar="DIR1", type=click.Path(path_type=Path))
@click.argument("second", metavar="DIR2", type=click.Path(path_type=Path))
@json_option
def compare(first: Path, second: Path, as_json: bool) -> None:
    """Tell what changed from the run in DIR1 to that in DIR2, function by function, with McNemar's test."""
    found = compare_runs(Found.read(first), Found.read(second), (str(first), str(second)))
    if as_json:
        print_json(comparison_json(found))
    else:
        click.echo(comparison_markdown(found), nl=False)


@click.command()
@_folder
@click.argument("record", metavar="ID")
@sandbox_option
@json_option
def replay(folder: Path, record: str, as_json: bool) -> None:
    """Ask one record of the run in DIR again: does it come out the same?

    ID is the record's position, its id MODEL|PROBLEM, or the problem's name. The exit code is 1 where
    something else comes out.
    """
    sandbox = strong_sandbox()
    with steps("reading the data", total_known=True) as told:
        found = ask_again(folder, record, sandbox, report=told)
    if as_json:
        print_json(
            {
                "item": asdict(found.item),
                "same": found.same,
                "differences": list(found.differences),
                "circumstances": list(found.circumstances),
            }
        )
    else:
        click.echo(f"{found.item.id}: {'the same' if found.same else 'not the same'}")
        for line in found.differences:
            click.echo(f"  {line}")
        for line in found.circumstances:
            click.echo(f"  no longer as it was: {line}")
    if not found.same:
        raise click.exceptions.Exit(1)
