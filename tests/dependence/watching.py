"""Runs inside the sandbox: a program under the tracer, and some code over its names; reports what was seen.

It imports nothing of Counterlens but `tracing.py`, which is laid out with it. Arguments: the files of the
program and of the code. The report is one JSON document on the result descriptor; blocks and statements are
told by their numbers in `Tracer.blocks` and `Tracer.syntax`, which are the same wherever the program is read.
"""

from __future__ import annotations

import json
import os
import sys

from tests.dependence.tracing import Tracer


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
