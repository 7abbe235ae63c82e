"""Functions of public repositories, without tests: CodeSearchNet (Husain et al. 2019), and Galeras.

Galeras (Rodriguez-Cardenas et al. 2023) has functions of commits of 2022; Palacio et al. 2023 use it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from counterlens.datasets.base import Problem
from counterlens.datasets.files import JsonRecord, RecordLoader, details

_COMMIT = 12  # digits of a commit in the id of a problem


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


class Galeras(RecordLoader):
    """The JSON of any of its testbeds: one function per record, with confounders for the causal analysis."""

    id = "galeras"
    title = "Galeras"
    source = "huggingface.co/semeru"
    licence = "that of each repository"
    hub = ("semeru/text-code-galeras-code-generation-from-docstring-3k-deduped", None, "train")
    fields = ("code", "fun_name", "repo", "path", "n_ast_nodes", "ast_levels", "complexity", "nloc")

    def problems(self, path: Path) -> Iterator[Problem]:
        """Like `Loader.problems`; later functions of the same name in a commit are numbered."""
        seen = Counter[str]()
        for problem in super().problems(path):
            seen[problem.id] += 1
            again = seen[problem.id]
            yield replace(problem, id=f"{problem.id}#{again}") if again > 1 else problem

    def problem(self, record: JsonRecord) -> Problem:
        """Like `RecordLoader.problem`; a function in two commits is two problems."""
        path, name = record.text("path"), record.text("fun_name")
        commit = record.fields.get("commit_id")
        documentation = record.fields.get("documentation")
        docstring = documentation.get("docstring") if isinstance(documentation, dict) else documentation
        return Problem(
            id=f"{record.text('repo')}/{path}::{name}{f'@{str(commit)[:_COMMIT]}' if commit else ''}",
            dataset=self.id,
            language=str(record.fields.get("language", "python")).lower(),
            source=record.text("code"),
            function=name,
            description=docstring if isinstance(docstring, str) else "",
            details=details(
                record,
                "id",
                "commit_id",
                "url",
                "complexity",
                "ast_levels",
                "n_ast_nodes",
                "n_ast_errors",
                "n_identifiers",
                "nloc",
                "token_counts",
                "n_whitespaces",
            ),
        )
