"""Observer of the output as `outputs`, in an interpreter with another hash seed.

Results that depend on the order of a set then differ. Without `exec` (Windows), the hash seed stays.
"""

from __future__ import annotations

import os
import sys

from .outputs import main as observe_outputs

SEED = "1"


def main() -> None:
    """Observe the call given by the arguments."""
    if os.name == "posix" and os.environ.get("PYTHONHASHSEED") != SEED:
        os.set_inheritable(int(os.environ["COUNTERLENS_RESULT_FD"]), True)
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": SEED})  # noqa: S606
    observe_outputs()
