"""The only way to a terminal: no text from a file, a model or a server can act as a control sequence."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from counterlens.text import printable


def say(line: object = "", *, err: bool = False, colour: str | None = None, styled: str = "") -> None:
    """Print a line; line breaks in names and messages are indented, so that none passes for a new message.

    Args:
        line: The line, or a path.
        err: Whether it is about progress, and goes to standard error.
        colour: Colour of the text, as click names it.
        styled: A styled prefix: a word of Counterlens.
    """
    shown = printable(str(line)).replace("\n", "\n  ")
    click.echo(styled + (click.style(shown, fg=colour) if colour else shown), err=err)


def say_document(text: str) -> None:
    """Write a whole document, with its own line ends, to standard output."""
    click.echo(printable(text), nl=False)


def at_terminal() -> bool:
    """Whether a user can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def say_json(parts: Iterable[str]) -> None:
    """Write the parts of a JSON document, as `json_text` escapes it, to standard output."""
    sys.stdout.writelines(parts)
    sys.stdout.flush()
