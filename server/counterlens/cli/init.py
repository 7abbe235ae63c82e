"""`counterlens init`: write a settings file for a repository."""

from __future__ import annotations

from pathlib import Path

import click

from counterlens.cli.progress_lines import steps
from counterlens.cli.report_output import write_page
from counterlens.cli.saying import say
from counterlens.counting import plural
from counterlens.errors import DataError
from counterlens.evaluation.settings_file import NAME
from counterlens.evaluation.starter import RepositoryFacts, starter


@click.command()
@click.argument("folder", default=".", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--force", is_flag=True, help="Replace an existing file.")
def init(folder: Path, force: bool) -> None:
    """Write a counterlens.toml for a repository, with every setting explained.

    No code of the repository is run. The file sets defaults for bench, changed, probe and the editor; options
    of the command line and settings of the editor override it.
    """
    path = folder / NAME
    if path.exists() and not force:
        raise DataError(f"{path} is there already", "--force replaces it")
    with steps("reading the repository", total_known=False):
        facts = RepositoryFacts.of(folder)
    write_page(path, starter(facts))
    say(f"{path}: {plural(sum(facts.functions.values()), 'function')} with tests found")
    say("next: counterlens bench --out runs/first --plan")
