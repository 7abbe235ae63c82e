"""HumanEval-X (Zheng et al. 2023): HumanEval written by hand in other languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from counterlens.datasets.base import Problem
from counterlens.datasets.files import JsonRecord
from counterlens.datasets.recorded import RecordLoader
from counterlens.datasets.translated import translated

_CHECKED = re.compile(r"^check\((\w+)\)", re.MULTILINE)


class HumanEvalX(RecordLoader):
    """`humaneval_LANGUAGE.jsonl.gz`; Python and Java can run, the others are only read."""

    id = "humaneval-x"
    title = "HumanEval-X"
    source = "github.com/THUDM/CodeGeeX"
    licence = "Apache-2.0"
    published: ClassVar[Mapping[str, str]] = {
        "5752fb122efddb0e9b47c77907ae6ce9a15aac4dea14e44c46032c831e6b987a": "Python (2023)",
        "276f36db2eb7aeb864f36a19a2f4e1bb2460fb6e22ff100f0b5bedabe3799967": "Java (2023)",
    }
    hub = ("THUDM/humaneval-x", "python", "test")
    fields = ("task_id", "prompt", "declaration", "canonical_solution", "test", "example_test")

    def problem(self, record: JsonRecord) -> Problem:
        """Like `RecordLoader.problem`."""
        python = record.text("task_id").startswith("Python/")
        checked = _CHECKED.search(record.text("test")) if python else None
        return translated(record, self.id, checked[1] if checked else None, "text")
