"""Runs one call of a program in the sandbox and reports what it gives, twice, so that chance shows.

Stands alone: it is copied into the sandbox. Arguments: the program's file, the call, and the folders to put
on `sys.path`. The report is one JSON document on the result descriptor:
`{"outputs": [repr, repr], "error": text or null}`.
"""

from __future__ import annotations

import json
import os
import sys
import traceback

LIMIT = 4096


def main() -> None:
    program, call, *folders = sys.argv[1:]
    with open(program, encoding="utf-8", newline="") as file:  # noqa: PTH123
        source = file.read()
    result = int(os.environ.pop("COUNTERLENS_RESULT_FD"))
    sys.path[:0] = folders
    report: dict[str, object] = {"outputs": [], "error": None}
    try:
        outputs = []
        for _ in range(2):
            space: dict[str, object] = {"__name__": "observed", "__file__": program}
            exec(compile(source, program, "exec"), space)  # noqa: S102 - this is what the sandbox is for
            outputs.append(repr(eval(compile(call, "<call>", "eval"), space))[:LIMIT])  # noqa: S307
        report["outputs"] = outputs
    except BaseException as caught:
        report["error"] = traceback.format_exception_only(caught)[-1].strip()[:200]
    os.write(result, json.dumps(report).encode())
    os._exit(0)


if __name__ == "__main__":
    main()
