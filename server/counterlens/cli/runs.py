"""Runs that commands read: warnings about damage, and the user's agreement to what a foreign run names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from counterlens.cli.saying import at_terminal, say
from counterlens.counting import plural
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.run_consent import ForeignRunError, consent
from counterlens.evaluation.settings import RunSettings


def read_run(folder: Path) -> RunResults:
    """Read the run in a folder, with a warning about records that are damaged, missing or unverified.

    Raises:
        DataError: there is no run, or it cannot be read.
    """
    results = RunResults.read(folder)
    for lost in results.lost:
        say(f"warning: a record in {folder} cannot be read: {lost}", err=True, colour="yellow")
    if results.unverified:
        records = plural(results.unverified, "record")
        say(f"note: {records} in {folder} without a checksum: an earlier version stored them", err=True)
    return results


def agreed_settings(
    settings: RunSettings, models: Sequence[str], *, base_url: str | None, data: str | None
) -> RunSettings:
    """The settings of a run as the user's own choice; a terminal asks the user if they are somebody else's.

    Args:
        models: The models that will be opened.
        base_url: The address that the user named in this command.
        data: The data that the user named in this command; its path is absolute.

    Raises:
        ForeignRunError: the user did not agree.
        ModelError: there is no such model, or an address is invalid.
    """
    asked = list(dict.fromkeys([*models, *([settings.encoder] if settings.encoder else [])]))
    try:
        return consent(settings, asked, base_url=base_url, data=data)
    except ForeignRunError as error:
        if not at_terminal():
            raise
        say(error.message, err=True)
        if not click.confirm("Do you agree?", default=False, err=True):
            raise
        return consent(settings, asked, agreed=True)
