"""`counterlens trend`: the changes of a repository's figures from run to run."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import click

from counterlens.cli.options import print_report
from counterlens.cli.runs import read_run
from counterlens.cli.saying import say_document
from counterlens.evaluation.trend import trend as trend_of
from counterlens.reports.build.trend import trend_report
from counterlens.reports.formats import TREND_FORMATS, write_trend
from counterlens.reports.render import terminal


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--across",
    multiple=True,
    metavar="PART",
    help="Also connect runs that differ in this part of their manifests, such as judged_by.tests, packages "
    "or counterlens (repeatable).",
)
@click.option("--format", "form", type=click.Choice(TREND_FORMATS), default="text", show_default=True)
@click.option("--output", "-o", type=click.File("w", encoding="utf-8", lazy=True), help="Output file.")
def trend(folders: tuple[Path, ...], across: tuple[str, ...], form: str, output: IO[str] | None) -> None:
    """Show how the figures changed over the runs in the DIRs, in order of time.

    For each model the report shows the average mutation effect, the share of right originals and the number
    of informative pairs, with intervals and the change since the run before. The code may differ between two
    connected runs. Runs that differ in anything else that the figures depend on, such as the model, an option
    or the test files, are not connected, and the reason is shown.
    """
    series = trend_of([(str(folder), read_run(folder)) for folder in folders], across)
    if form == "text" and output is None:
        print_report(terminal.render(trend_report(series)))
    elif output is None:
        say_document(write_trend(form, series))
    else:
        output.write(write_trend(form, series))
