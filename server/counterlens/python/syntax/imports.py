"""Where a name that a file imports is defined, read from the files and never imported.

A module's file is searched for beside the file and in the folders above it, as if each of them were on the
module search path. Names that are bound by anything but a definition or an import are not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from counterlens.python.syntax.parsing import parse_module
from counterlens.regular_file import read_bytes

_MOST_FILES = 50
"""Files that one search reads at most."""


def definition_of(path: Path, qualname: str) -> tuple[Path, str] | None:
    """The file and the name of a function or class that a file imports; None if none is found.

    Args:
        path: The file.
        qualname: The dotted path, of which the first part is imported.
    """
    name, dot, rest = qualname.partition(".")
    searched: set[tuple[Path, str]] = set()
    places = [(path, name)]
    while places and len(searched) < _MOST_FILES:
        file, wanted = places.pop()
        if (file, wanted) in searched:
            continue
        searched.add((file, wanted))
        try:
            body = parse_module(read_bytes(file)).body
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if file != path and any(_defines(node, wanted) for node in body):
            return file, wanted + dot + rest
        places += _imported_from(file, body, wanted)
    return None


def _defines(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name


def _imported_from(file: Path, body: list[ast.stmt], name: str) -> Iterator[tuple[Path, str]]:
    """The files from which a name may be imported, with its name there; the likeliest last."""
    nodes = (node for statement in body for node in ast.walk(statement) if isinstance(node, ast.ImportFrom))
    for node in nodes:
        for alias in node.names:
            if alias.name == "*" or (alias.asname or alias.name) == name:
                own = name if alias.name == "*" else alias.name
                yield from ((module, own) for module in _files(file, node.level, node.module or ""))


def _files(file: Path, level: int, module: str) -> Iterator[Path]:
    """The files that a module may be, seen from a file."""
    above = file.absolute().parents
    roots = above if level == 0 else above[level - 1 : level]
    for root in reversed(roots):
        place = root.joinpath(*module.split(".")) if module else root
        modules = place.with_suffix(".py"), place / "__init__.py"
        yield from (module_file for module_file in modules if module_file.is_file())
