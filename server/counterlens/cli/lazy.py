"""A group of subcommands that are imported on first use."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

CONFIG = "counterlens.config"
"""Under this name a context keeps which settings file was named, and whether none is to be read."""


class LazyGroup(click.Group):
    """Imports a subcommand when it is called, or all of them when they are listed.

    Args:
        places: The modules of the subcommands by their names, which they also have in these modules.
        options: Those of every group.
    """

    def __init__(self, *, places: Mapping[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names, in alphabetical order."""
        return sorted(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The subcommand of a name, if there is one."""
        place = self._places.get(cmd_name)
        if place is None:
            return None
        command = getattr(import_module(place), cmd_name)
        assert isinstance(command, click.Command)
        return command
