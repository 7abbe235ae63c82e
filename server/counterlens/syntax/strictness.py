"""The parts of a language beyond its grammar: a strict parser, and words."""

from __future__ import annotations

from collections.abc import Callable

from counterlens.languages.part import LanguagePart

STRICT: LanguagePart[Callable[[str | bytes], object]] = LanguagePart("strict")
"""Parsers that raise SyntaxError or ValueError for invalid texts that the grammar accepts."""
WORDS: LanguagePart[frozenset[str]] = LanguagePart("words", frozenset)
"""Keywords and built-in names."""
