"""`counterlens complete`: the model's completion at a place, with the probability of each part."""

from __future__ import annotations

import re
from pathlib import Path

import click

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
from counterlens.cli.saying import say
from counterlens.confidence.correctness import load_correctness
from counterlens.explaining.completing import Explained, explain
from counterlens.explaining.places import both_sides, cursor
from counterlens.probes.common_options import MAX_TOKENS
from counterlens.progress import Steps
from counterlens.reports.build.explanation import explanation_report
from counterlens.reports.export.json import explanation_json
from counterlens.reports.render import html as pages
from counterlens.reports.render import terminal
from counterlens.syntax.document import Document

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")


@click.command()
@click.argument("place", metavar="FILE:LINE[:COLUMN]")
@click.option(
    "--mutation",
    metavar="ID",
    help="Complete both sides of this counterfactual, the nearest one to the line.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1, 4096),
    default=MAX_TOKENS,
    show_default=True,
    help="Token limit for one completion.",
)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page to this file.")
@model_options
@cache_option
@json_option
def complete(
    place: str, mutation: str | None, max_tokens: int, html: Path | None, model: ChosenModel, as_json: bool
) -> None:
    """Complete the function at a place and explain the completion, token by token.

    The model writes the rest of the Python function from that line or column on. The report shows the
    probability of each piece, the alternatives, and the first place that differs from the existing code.
    Nothing is run.
    """
    match = _PLACE.fullmatch(place)
    if match is None:
        raise click.BadParameter(f"{place} is not FILE:LINE or FILE:LINE:COLUMN", param_hint="FILE:LINE")
    path, column = Path(match["path"]), match["column"]
    at = cursor(Document.read(path), int(match["line"]), int(column) if column else None)
    places = both_sides(at, mutation) if mutation else (at,)
    with model.opened() as loaded, steps(f"completing {at.qualname}") as report:
        progress = Steps(None, report)
        explained: list[tuple[str, Explained]] = [
            (spot.title, explain(loaded, spot.document, spot.qualname, spot.offset, max_tokens, progress))
            for spot in places
        ]
        info = loaded.info
    maps = load_correctness(info.identity)
    shown = explanation_report(explained, info, f"Completion of {at.qualname} ({place})", maps)
    if html is not None:
        write_page(html, pages.page(shown))
    if as_json:
        print_json(explanation_json(explained, info, str(path), at.qualname))
    elif html is None:
        print_report(terminal.render(shown))
    else:
        say(f"wrote {html}")
