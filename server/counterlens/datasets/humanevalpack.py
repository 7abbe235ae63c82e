"""HumanEvalPack (Muennighoff et al. 2023): HumanEval with a manual bug in each solution, for repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from counterlens.datasets.base import Problem
from counterlens.datasets.files import JsonRecord
from counterlens.datasets.recorded import RecordLoader, details
from counterlens.datasets.translated import translated


class HumanEvalPack(RecordLoader):
    """`humanevalpack.jsonl` of one language; Python and Java can run, the others are only read."""

    id = "humanevalpack"
    title = "HumanEvalPack"
    source = "github.com/bigcode-project/octopack"
    licence = "MIT"
    published: ClassVar[Mapping[str, str]] = {
        "b1376d72be4bd016a62ad043d9de3846edb8d63edf1222da802a31330c14c3a7": "Python (2023)",
        "a8d077d300bbdc2eda91e1a733deb2944678bce8fcc7eb272214626516768cc1": "Java (2023)",
    }
    hub = ("bigcode/humanevalpack", "python", "test")
    fields = ("task_id", "prompt", "canonical_solution", "test", "buggy_solution", "bug_type", "declaration")

    def problem(self, record: JsonRecord) -> Problem:
        """Like `RecordLoader.problem`."""
        problem = translated(record, self.id, record.text("entry_point"), "docstring")
        return replace(
            problem,
            buggy=record.text("prompt") + record.text("buggy_solution"),
            details=details(record, "bug_type", "failure_symptoms"),
        )
