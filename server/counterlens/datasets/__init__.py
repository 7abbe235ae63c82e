"""Benchmark data: one loader per published format, recognised by its name or by its content.

from counterlens.datasets import open_dataset

for problem in open_dataset("humaneval"):
    print(problem.id, problem.function)
"""

from counterlens.datasets.base import Case, Dataset, Loader, Problem, Provenance, TestForm, Tests
from counterlens.datasets.registry import LOADERS, open_dataset

__all__ = [
    "LOADERS",
    "Case",
    "Dataset",
    "Loader",
    "Problem",
    "Provenance",
    "TestForm",
    "Tests",
    "open_dataset",
]
