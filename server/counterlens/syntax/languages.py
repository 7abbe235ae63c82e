"""Which languages there are: the one place that knows the tree-sitter grammars."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import tree_sitter
import tree_sitter_python

_GRAMMARS: dict[str, Callable[[], object]] = {"python": tree_sitter_python.language}
_SUFFIXES = {".py": "python", ".pyi": "python", ".pyw": "python"}


def language_of(path: Path) -> str:
    """The language id of a file by its name; what is not known is taken for Python."""
    return _SUFFIXES.get(path.suffix.lower(), "python")


@cache
def grammar(language: str) -> tree_sitter.Language:
    """The tree-sitter grammar of a language."""
    return tree_sitter.Language(_GRAMMARS[language]())


def parser_for(language: str) -> tree_sitter.Parser:
    """A parser of one's own: parsers are cheap and not thread-safe."""
    return tree_sitter.Parser(grammar(language))
