"""The common steps of every observer: read the program and the call, run them, and report.

The arguments are the program's file, the call, the program's package, and the folders for `sys.path`. The
report is one JSON document on the result descriptor: the observer's entries, and `error`, a text or null.
"""

from __future__ import annotations

import json
import os
import sys
import traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any, NoReturn

ERROR = 400  # maximum characters kept of an exception's message


class Observed:
    """The observed program and call; `package` is where its relative imports begin, empty outside of one."""

    def __init__(self, source: str, path: str, call: str, package: str) -> None:
        self.source, self.path, self.call, self.package = source, path, call, package

    def namespace(self, **names: Any) -> dict[str, Any]:
        """A new namespace for the program, with additional names."""
        place = {"__package__": self.package} if self.package else {}
        return {"__name__": "observed", "__file__": self.path, **place, **names}

    def load(self, space: dict[str, Any], code: CodeType | None = None) -> None:
        """Run the program, or other code instead, in a namespace."""
        code = code or compile(self.source, self.path, "exec", dont_inherit=True)
        exec(code, space)  # noqa: S102 - the purpose of the sandbox

    def evaluate(self, space: dict[str, Any]) -> Any:
        """Evaluate the call in a namespace."""
        return eval(compile(self.call, "<call>", "eval", dont_inherit=True), space)  # noqa: S307


def observe(run: Callable[[Observed, dict[str, Any]], None]) -> NoReturn:
    """Carry out one observation, and end the process.

    Args:
        run: Runs the program and fills in the report, which is sent even if it raises.
    """
    path, call, package, *folders = sys.argv[1:]
    with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123
        source = file.read()
    result = int(os.environ.pop("COUNTERLENS_RESULT_FD"))
    sys.path[:0] = folders
    report: dict[str, Any] = {"error": None}
    try:
        run(Observed(source, path, call, package), report)
    except BaseException as caught:
        report["error"] = traceback.format_exception_only(caught)[-1].strip()[:ERROR]
    os.write(result, json.dumps(report).encode())
    os._exit(0)
