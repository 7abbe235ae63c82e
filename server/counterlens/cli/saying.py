"""The one way to a terminal: no text of a file, a model or a server reaches it as a command."""

from __future__ import annotations

import click

from counterlens.text import printable


def say(line: object = "", *, err: bool = False, colour: str | None = None, styled: str = "") -> None:
    """Print a line; line breaks in names and messages are indented, so they cannot pass for ours.

    Args:
        line: The line, or a path.
        err: Whether it is about the work, and goes to standard error.
        colour: The text's colour, as click names it.
        styled: What stands before it, in a style: a word of ours.
    """
    shown = printable(str(line)).replace("\n", "\n  ")
    click.echo(styled + (click.style(shown, fg=colour) if colour else shown), err=err)


def say_document(text: str) -> None:
    """Put a whole document, with its own line ends, on standard output."""
    click.echo(printable(text), nl=False)
