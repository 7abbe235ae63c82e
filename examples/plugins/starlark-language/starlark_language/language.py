"""Starlark's registration: its files, its grammar, and the places of its parts."""

from __future__ import annotations

from counterlens.languages.language import Language

STARLARK = Language(
    id="starlark",
    title="Starlark",
    suffixes=(".bzl", ".star"),
    grammar="tree_sitter_python:language",
    comment="#",
    concepts="counterlens.python.syntax.concepts:PYTHON",
    functions="counterlens.python.syntax.concepts:python_definitions",
    operators="counterlens.python.syntax.concepts:OPERATORS",
    strict="starlark_language.syntax:strict",
    words="starlark_language.syntax:WORDS",
    mutations="starlark_language.mutations:STARLARK",
    judge="starlark_language.judge:STARLARK",
)
