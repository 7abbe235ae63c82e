"""Starlark, the language of Bazel's build files: Python without classes, exceptions and `while`."""

from __future__ import annotations

import ast

from counterlens.languages.language import Language
from counterlens.mutations.languages import MutatedLanguage
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext
from counterlens.python.mutations.placebos import PLACEBOS, python_meaning
from counterlens.python.mutations.registry import MUTATIONS
from counterlens.python.syntax.parsing import parse_module

STARLARK = Language(
    id="starlark",
    title="Starlark",
    suffixes=(".bzl", ".star"),
    grammar="tree_sitter_python:language",
    comment="#",
    concepts="counterlens.python.syntax.concepts:PYTHON",
    functions="counterlens.syntax.definitions:python_definitions",
    operators="counterlens.syntax.operators:PYTHON",
    strict="starlark_language:strict",
    words="starlark_language:WORDS",
    mutations="starlark_language:MUTATED",
)

WORDS = frozenset("and break continue def depset elif else for if in lambda load not or pass return".split())
_NONE_OF_IT = (ast.ClassDef, ast.Try, ast.While, ast.With, ast.Raise, ast.Yield, ast.Import, ast.ImportFrom)


def strict(source):
    """Refuse what Python has and Starlark does not."""
    for node in ast.walk(parse_module(source)):
        if isinstance(node, _NONE_OF_IT):
            raise SyntaxError(f"Starlark has no {type(node).__name__}")


class StarlarkModule(Module):
    """A file, read as Python is."""

    language = "starlark"


MUTATED = MutatedLanguage(
    mutations={name: MUTATIONS[name] for name in ("if-else-flip", "operand-swap", "rename-random")},
    parse=StarlarkModule,
    context=PythonContext,
    placebos=PLACEBOS,
    meaning=python_meaning,
)
