"""CRUXEval (Gu et al. 2024): small Python functions with one input and its output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from counterlens.datasets.base import Problem, TestForm, Tests
from counterlens.datasets.files import JsonRecord, RecordLoader

FUNCTION = "f"


class CruxEval(RecordLoader):
    """`cruxeval.jsonl`; every function is called `f`."""

    id = "cruxeval"
    title = "CRUXEval"
    source = "github.com/facebookresearch/cruxeval"
    licence = "MIT"
    published: ClassVar[Mapping[str, str]] = {
        "3b42eee22bc4c21cbd29346c3774816ec782735b2315e5d75a9a0e6a670ea7db": "the first 400 of 800"
    }
    hub = ("cruxeval-org/cruxeval", None, "test")
    fields = ("id", "code", "input", "output")

    def problem(self, record: JsonRecord) -> Problem:
        call, output = f"{FUNCTION}({record.text('input')})", record.text("output")
        return Problem(
            id=record.text("id"),
            dataset=self.id,
            language="python",
            source=record.text("code") + "\n",
            function=FUNCTION,
            tests=Tests(TestForm.PYTHON, f"assert {call} == {output}\n"),
            call=call,
            output=output,
        )
