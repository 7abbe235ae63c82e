"""The command line: a thin front end over the library, one file per subcommand."""

from counterlens.cli.main import main

__all__ = ["main"]
