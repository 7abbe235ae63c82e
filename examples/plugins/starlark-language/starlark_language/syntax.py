"""What Starlark's syntax lacks of Python's."""

from __future__ import annotations

import ast

from counterlens.python.syntax.parsing import parse_module

WORDS = frozenset("and break continue def depset elif else for if in lambda load not or pass return".split())
_NONE_OF_IT = (ast.ClassDef, ast.Try, ast.While, ast.With, ast.Raise, ast.Yield, ast.Import, ast.ImportFrom)


def strict(source):
    """Refuse what Python has and Starlark does not."""
    for node in ast.walk(parse_module(source)):
        if isinstance(node, _NONE_OF_IT):
            raise SyntaxError(f"Starlark has no {type(node).__name__}")
