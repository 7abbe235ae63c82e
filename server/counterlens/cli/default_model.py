"""The model of a command that names none; a terminal offers the recommended code model once."""

from __future__ import annotations

from pathlib import Path

import click

from counterlens.cli.progress_lines import steps
from counterlens.cli.saying import at_terminal, say
from counterlens.errors import ModelError
from counterlens.models.code_models import CodeModel, fetch_code_model
from counterlens.models.default import RECOMMENDED, default_model, recommended_model
from counterlens.models.files import note, recall

_MEMORY, _DECLINED = "offers.json", RECOMMENDED


def default_for_command() -> str:
    """The default model's name; says what the user should know about it, on standard error."""
    default = default_model()
    if not default.advice:
        return default.spec
    if at_terminal() and recall(_MEMORY, _DECLINED) is None:
        offered = recommended_model()
        question = (
            f"{offered.name} ({offered.licence}, {offered.bytes / 1e9:.1f} GB) knows code far better than "
            f"the embedded model, and runs on this machine, too. Download it now?"
        )
        if click.confirm(question, default=True, err=True):
            try:
                fetch_with_progress(offered)
            except ModelError as error:
                say(f"{error}", err=True, colour="yellow")
            else:
                return RECOMMENDED
        else:
            note(_MEMORY, _DECLINED, "declined")
    say(default.advice, err=True, colour="yellow")
    return default.spec


def fetch_with_progress(offered: CodeModel) -> Path:
    """Fetch the file of an offered model, and return its path.

    Raises:
        ModelError: it cannot be fetched.
    """
    name = f"fetching {offered.name}"
    with steps(name, total_known=True) as report:
        return fetch_code_model(
            offered,
            lambda done, total: report(f"{name}, {total / 1e6:.0f} MB", done, total),
        )
