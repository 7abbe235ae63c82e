"""The benchmarks whose published scores are measured again. To add one: write its class, and add it here."""

from __future__ import annotations

from collections.abc import Collection

from counterlens.datasets.base import Problem
from counterlens.errors import SourceError
from counterlens.probes.reference.benchmark import Benchmark
from counterlens.probes.reference.cruxeval import PredictedCalls
from counterlens.probes.reference.functions import JavaMethods, WrittenFunctions
from counterlens.probes.reference.lines import FilledLines

_HUMANEVAL = ("\ndef ", "\nclass ", "\nimport ", "\nfrom ", "\nassert ")
_MBPP = ('\n"""', "\nassert")
BENCHMARKS: tuple[Benchmark, ...] = (
    WrittenFunctions("humaneval", "", frozenset({"humaneval"}), _HUMANEVAL),
    WrittenFunctions("humaneval", "humaneval+", frozenset({"humanevalplus"}), _HUMANEVAL),
    WrittenFunctions("mbpp-whole", "", frozenset({"mbpp", "mbpp-test"}), _MBPP),  # published is MBPP+'s part
    WrittenFunctions("mbpp", "mbpp+", frozenset({"mbppplus"}), _MBPP),
    JavaMethods(),
    FilledLines(),
    PredictedCalls("output", steps=False),
    PredictedCalls("input", steps=False),
    PredictedCalls("output", steps=True),
    PredictedCalls("input", steps=True),
)
TITLES = {
    "humaneval": "HumanEval",
    "humaneval+": "HumanEval+",
    "mbpp": "MBPP, the problems of MBPP+",
    "mbpp-whole": "MBPP, all problems",
    "mbpp+": "MBPP+",
    "humaneval-java": "HumanEval, Java",
    "fim-line": "HumanEval-FIM, single line",
    "fim-line-java": "HumanEval-FIM, single line, Java",
    "cruxeval-o": "CRUXEval-O",
    "cruxeval-i": "CRUXEval-I",
    "cruxeval-o-steps": "CRUXEval-O with steps",
    "cruxeval-i-steps": "CRUXEval-I with steps",
}
"""The scores by id, with their usual names."""


def suiting(problem: Problem | None, by: str, scores: Collection[str]) -> list[Benchmark]:
    """The benchmarks that ask about a problem.

    Args:
        problem: The problem; None for a function that comes from no dataset.
        by: How the model is asked, as `asked_by` says.
        scores: Only those that give one of these; empty for all.
    """
    return [
        each
        for each in BENCHMARKS
        if problem is not None and each.fits(problem, by) and (not scores or set(scores) & set(each.scores))
    ]


def no_score(problem: Problem | None, scores: Collection[str], by: str = "") -> SourceError:
    """The error for a problem without a score, if the model is asked in some way."""
    kind = f" {', '.join(scores)}" if scores else " usual score"
    of = f"functions of {problem.dataset}" if problem else "functions that are in no dataset"
    way = f", asked by {by}" if by else ""
    return SourceError(
        f"there is no{kind} of {of}{way}",
        "Use --data humaneval, humanevalplus, mbpp-test, mbppplus, cruxeval, or humaneval-x in Java; "
        "with --api fill, humaneval or humaneval-x in Java",
    )
