"""CodeSearchNet (Husain et al. 2019): functions of public repositories with their documentation; no tests."""

from __future__ import annotations

from counterlens.datasets.base import Problem
from counterlens.datasets.files import JsonRecord
from counterlens.datasets.recorded import RecordLoader, details


class CodeSearchNet(RecordLoader):
    """`LANGUAGE_test_0.jsonl.gz`, a folder of such files, or the hub's names for the same fields."""

    id = "codesearchnet"
    title = "CodeSearchNet"
    source = "github.com/github/CodeSearchNet"
    licence = "that of each repository"
    hub = ("code-search-net/code_search_net", "python", "test")
    fields = (
        "original_string|whole_func_string",
        "func_name",
        "language",
        "repo|repository_name",
        "path|func_path_in_repository",
        "docstring|func_documentation_string",
    )

    def problem(self, record: JsonRecord) -> Problem:
        """Like `RecordLoader.problem`."""
        repository = record.text("repo", "repository_name")
        path, name = record.text("path", "func_path_in_repository"), record.text("func_name")
        return Problem(
            id=f"{repository}/{path}::{name}",
            dataset=self.id,
            language=record.text("language").lower(),
            source=record.text("original_string", "whole_func_string") + "\n",
            function=name.rpartition(".")[2] or None,
            description=record.text("docstring", "func_documentation_string"),
            details=details(record, "sha", "url", "func_code_url", "partition", "split_name"),
        )
