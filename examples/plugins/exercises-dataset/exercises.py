"""A dataset: the exercises of a course, one JSON object per line."""

from __future__ import annotations

from counterlens.datasets.base import Problem, TestForm, Tests
from counterlens.datasets.files import JsonRecord, RecordLoader
from counterlens.datasets.mbpp import tested_function


class Exercises(RecordLoader):
    """`exercises.jsonl`: a task in words, a solution, and the assertions that it must pass."""

    id = "exercises"
    title = "Exercises of a course"
    source = "ours"
    licence = "CC-BY-4.0"
    fields = ("name", "task", "solution", "checks")

    def problem(self, record: JsonRecord) -> Problem:
        """The problem of one line.

        Raises:
            DataError: a field is missing or has another type, or no check calls a function of the solution.
        """
        source, checks = record.text("solution"), "\n".join(record.texts("checks")) + "\n"
        function = tested_function(source, checks)
        if function is None:
            raise record.wrong("no check calls a function of the solution")
        return Problem(
            id=f"exercises/{record.text('name')}",
            dataset=self.id,
            language="python",
            source=source,
            function=function,
            description=record.text("task"),
            tests=Tests(TestForm.PYTHON, checks),
        )
