"""The tree-sitter grammars, which only this module loads."""

from __future__ import annotations

import importlib
from functools import cache

import tree_sitter

from counterlens.errors import SourceError
from counterlens.languages.registry import LANGUAGES, language_named


@cache
def grammar(language: str) -> tree_sitter.Language:
    """The tree-sitter grammar of a language.

    Raises:
        SourceError: there is no such language, or its grammar is not installed or incompatible.
    """
    registered_language = LANGUAGES[language_named(language)]
    if not registered_language.installed:
        package = registered_language.package.partition(".")[0].replace("_", "-")
        raise SourceError(
            f"the grammar of {registered_language.id} is not installed", f"Install it: pip install {package}"
        )
    function = registered_language.grammar.partition(":")[2]
    try:
        return tree_sitter.Language(getattr(importlib.import_module(registered_language.package), function)())
    except (ImportError, AttributeError, ValueError) as error:  # built for another version of tree-sitter
        raise SourceError(f"the grammar of {registered_language.id} cannot be used: {error}") from error


def parser_for(language: str) -> tree_sitter.Parser:
    """A new parser, because parsers are cheap and not thread-safe.

    Raises:
        SourceError: as `grammar`.
    """
    return tree_sitter.Parser(grammar(language))
