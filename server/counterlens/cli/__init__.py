"""The command line: a thin front end over the library, one file per subcommand."""

import signal
import sys

from counterlens.environment import close_search_path

close_search_path()

# Python loses an interrupt that arrives in one of its own callbacks, as the locks of imports have them.
if sys.platform != "win32":
    _held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
try:
    from counterlens.cli.main import main

    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_SETMASK, _held)
except KeyboardInterrupt:  # before it is handled there
    raise SystemExit(130) from None

__all__ = ["main"]
