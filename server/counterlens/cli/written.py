"""`--markdown` and `--html`: reports that are written to files, or instead of what the terminal shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from counterlens.errors import CounterlensError

Command = TypeVar("Command", bound=Callable[..., Any])


class _ReportFile(click.File):
    """A file that is opened when there is something to write; that its folder is there is seen at once."""

    def __init__(self) -> None:
        super().__init__("w", encoding="utf-8", lazy=True)

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> IO[Any]:
        if isinstance(value, str) and value != "-":
            if Path(value).is_dir():
                self.fail(f"{value} is a folder", parameter, context)
            if not Path(value).parent.is_dir():
                self.fail(f"there is no folder {Path(value).parent}", parameter, context)
        return super().convert(value, parameter, context)


def written_options(command: Command) -> Command:
    """`--markdown` and `--html`, for `Written`."""
    for option in (
        click.option("--html", type=_ReportFile(), help="Write the report as a page of its own (- to show)."),
        click.option("--markdown", type=_ReportFile(), help="Write the report as Markdown (- to show)."),
    ):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Written:
    """Which reports are asked for.

    Attributes:
        markdown: Where the Markdown goes.
        html: Where the page goes.
        as_json: Whether standard output takes JSON.

    Raises:
        click.UsageError: standard output is to take several of them.
    """

    markdown: IO[str] | None
    html: IO[str] | None
    as_json: bool

    def __post_init__(self) -> None:
        if self._shown + self.as_json > 1:
            raise click.UsageError(
                "standard output takes one of --json, --markdown - and --html -: name files for the others"
            )

    @property
    def terminal(self) -> bool:
        """Whether the terminal shows the report in its own form."""
        return not self._shown and not self.as_json

    def write(self, markdown: Callable[[], str], html: Callable[[], str]) -> None:
        """Write what was asked for; only that is made."""
        for file, made in ((self.markdown, markdown), (self.html, html)):
            if file is not None:
                file.write(made())

    @property
    def _shown(self) -> int:
        return [file.name for file in (self.markdown, self.html) if file is not None].count("-")


def write_page(path: Path, text: str) -> None:
    """Write a page to a file.

    Raises:
        CounterlensError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CounterlensError(f"{path} cannot be written: {error.strerror}") from error
