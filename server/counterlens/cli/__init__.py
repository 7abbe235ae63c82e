"""The command line: a thin front end over the library, one file per subcommand."""

from counterlens.environment import close_search_path

close_search_path()

from counterlens.cli.main import main  # noqa: E402 - with a closed path

__all__ = ["main"]
