"""What a language knows of its texts beyond its grammar: a strict parser, and words."""

from __future__ import annotations

from collections.abc import Callable

from counterlens.languages.part import LanguagePart

STRICT: LanguagePart[Callable[[str | bytes], object]] = LanguagePart("strict")
"""Parsers that raise SyntaxError, or ValueError, where the grammar is too tolerant."""
WORDS: LanguagePart[frozenset[str]] = LanguagePart("words", frozenset)
"""Keywords and built-in names."""
