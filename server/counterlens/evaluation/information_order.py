"""The functions with the most information per time, which a run with a time limit probes first.

The pairs of one function are correlated: k pairs count for about k / (1 + (k - 1) / 2) independent ones, if
half of their information is shared; and the time for their prompts grows with their number and length. So the
information per time of a function is about 1 / ((k + 1) length): many short functions come before many pairs
of one.
"""

from __future__ import annotations

from collections.abc import Mapping

from counterlens.errors import SourceError
from counterlens.evaluation.unopened import UNOPENED
from counterlens.probes.options import ProbeOptions
from counterlens.probes.probe import Target
from counterlens.probes.registry import PROBES
from counterlens.syntax.functions import find_function


def most_informative_first(
    targets: Mapping[str, Target], task: str, options: ProbeOptions
) -> dict[str, Target]:
    """The functions of a task in the order in which they are probed; functions without prompts come last.

    Args:
        targets: Functions by name.
        task: The task.
        options: Its options.
    """
    return dict(sorted(targets.items(), key=lambda named: _cost(named[1], task, options)))


def _cost(target: Target, task: str, options: ProbeOptions) -> tuple[bool, int]:
    try:
        prompts = PROBES[task].estimate(target, options, UNOPENED)
        function = find_function(target.document, target.qualname)
    except SourceError:  # it will be left out, with the reason
        return True, 0
    return not prompts, (prompts + 1) * (function.end - function.start)
