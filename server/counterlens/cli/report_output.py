"""`--html`, `--markdown` and similar flags: reports written to files, or shown instead of text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import click

from counterlens.cli.saying import say_document
from counterlens.errors import CounterlensError

Command = TypeVar("Command", bound=Callable[..., Any])
FORMS = {
    "markdown": "Write the report as Markdown (- to show).",
    "html": "Write the report as an HTML page (- to show).",
    "latex": "Write the tables as LaTeX (- to show).",
    "csv": "Write the records as CSV (- to show).",
    "sarif": "Write the changed verdicts as SARIF, for code scanning (- to show).",
}
"""The formats of a report besides JSON, with the help of each."""


class _ReportFile(click.File):
    """A file that is opened on first write; a missing folder is reported at once."""

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


@dataclass(frozen=True, slots=True)
class ReportOutput:
    """The requested reports.

    Attributes:
        files: Target file of each format.
        as_json: Whether JSON goes to standard output.

    Raises:
        click.UsageError: several outputs would go to standard output.
    """

    files: Mapping[str, IO[str]]
    as_json: bool

    def __post_init__(self) -> None:
        if self._shown + self.as_json > 1:
            raise click.UsageError(
                "standard output can hold only one of --json and the formats written to -: give files for "
                "the others"
            )

    @property
    def terminal(self) -> bool:
        """Whether the report is shown at the terminal as text."""
        return not self._shown and not self.as_json

    def write(self, made: Callable[[str], str]) -> None:
        """Create and write the requested formats only.

        Args:
            made: Creates the report in a format.
        """
        for form, file in self.files.items():
            if file.name == "-":
                say_document(made(form))
            else:
                file.write(made(form))

    @property
    def _shown(self) -> int:
        return [file.name for file in self.files.values()].count("-")


def output_options(command: Command) -> Command:
    """`--json` and a flag per format, passed to the command as one `ReportOutput`, `output`."""

    @wraps(command)
    def gathered(*arguments: Any, as_json: bool, **values: Any) -> Any:
        files = {form: file for form in FORMS if (file := values.pop(form)) is not None}
        return command(*arguments, output=ReportOutput(files, as_json), **values)

    decorated: Any = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(
        gathered
    )
    for form, what in reversed(FORMS.items()):
        decorated = click.option(f"--{form}", type=_ReportFile(), help=what)(decorated)
    return cast("Command", decorated)


def write_page(path: Path, text: str) -> None:
    """Write a page to a file.

    Raises:
        CounterlensError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CounterlensError(f"{path} cannot be written: {error.strerror}") from error
