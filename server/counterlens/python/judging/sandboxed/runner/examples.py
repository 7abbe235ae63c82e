"""Runs doctest examples in order, and reports their output or exceptions."""

from __future__ import annotations
import __future__

import builtins
import sys
import traceback

from ..job import Output
from .wording import describe, shorten

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .candidate import Candidate

FUTURE = 0
"""The compiler flags of all `from __future__` imports."""
for _name in __future__.all_feature_names:
    FUTURE |= vars(__future__)[_name].compiler_flag


def run_examples(
    sources: Sequence[str],
    candidate: Candidate,
    case: Callable[[str], object],
    begin: Callable[[Candidate], bool],
) -> dict[str, Any]:
    """The report: for each example its output, and the exception that it raised, or None; see `Variants`."""
    try:
        module = candidate.load()
    except BaseException as error:
        return {"kind": "import", "message": describe(error)}
    if not begin(candidate):
        return {"kind": "variants"}
    space = dict(vars(module))
    flags = candidate.code.co_flags & FUTURE
    display, normal = sys.__displayhook__, sys.stdout
    results = []
    for number, source in enumerate(sources):
        case(source.strip().partition("\n")[0])
        output, raised = Output(), None
        sys.stdout, sys.displayhook = output, display
        try:
            exec(compile(source, f"<example {number + 1}>", "single", flags, True), space)  # noqa: S102
        except BaseException as error:
            raised = shorten(traceback.format_exception_only(type(error), error)[-1])
        finally:
            sys.stdout = normal
        results.append((output.getvalue(), raised))
    return {"kind": "examples", "results": results}
