"""The command line: a thin face over the library, one file per subcommand."""

from counterlens.cli.main import main

__all__ = ["main"]
