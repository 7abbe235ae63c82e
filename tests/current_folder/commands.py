"""A front end as the console script starts it, which runs many commands, one after the other.

Arguments: a file of commands as JSON, and a file for what each of them was: its exit code and the marks that
it left. A script's own folder is first in its path, as it is for the console script.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from counterlens.cli import main


def run() -> None:
    """Run the commands; what one says is of no interest."""
    commands, results, mark = map(Path, sys.argv[1:])
    sys.argv[1:] = []
    outcomes = {}
    for name, arguments in json.loads(commands.read_text()).items():
        code: object = 0
        try:
            main([*name.split(), *arguments])
        except SystemExit as ending:
            code = ending.code
        marks = mark.read_text().split() if mark.exists() else []
        mark.unlink(missing_ok=True)
        outcomes[name] = code, marks
    results.write_text(json.dumps(outcomes))


if __name__ == "__main__":
    run()
