"""The command line: a thin front end over the library, one file per subcommand."""

from counterlens.environment import close_search_path

close_search_path()

try:
    from counterlens.cli.main import main
except KeyboardInterrupt:  # before it is handled there
    raise SystemExit(130) from None

__all__ = ["main"]
