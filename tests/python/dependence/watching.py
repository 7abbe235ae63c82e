"""Runs inside the sandbox: traces a program, and code that uses its names, and reports the observations.

It imports nothing from Counterlens except `tracing.py`, which is placed beside it. Arguments: the files of
the program and of the code. The report is one JSON document on the result descriptor; blocks and statements
are identified by their numbers in `Tracer.blocks` and `Tracer.syntax`, which are the same in every process.
"""

from __future__ import annotations

import json
import os
import sys

from tests.python.dependence.tracing import Tracer


def main() -> None:
    sources = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123
            sources.append(file.read())
    program, then = sources
    result = int(os.environ.pop("COUNTERLENS_RESULT_FD"))
    tracer = Tracer(program)
    code = compile(then, "<then>", "exec", dont_inherit=True)
    tracer.run(lambda names: exec(code, names))  # noqa: S102 - this is what the sandbox is for
    block = {one.code: number for number, one in enumerate(tracer.blocks)}
    node = {id(one): number for number, one in enumerate(tracer.syntax)}
    report = {
        "pairs": sorted(tracer.pairs),
        "activations": [
            [block[of.code], [node[id(one)] for one in seen.order], seen.ended, seen.raised]
            for of, seen in tracer.activations
        ],
        "left": tracer.left,
    }
    with os.fdopen(result, "wb") as file:
        file.write(json.dumps(report).encode())


if __name__ == "__main__":
    main()
