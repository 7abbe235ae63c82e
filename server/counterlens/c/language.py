"""C: scoring and dependences."""

from __future__ import annotations

from counterlens.languages.language import Language

C = Language(
    id="c",
    title="C",
    suffixes=(".c", ".h"),
    grammar="tree_sitter_c:language",
    concepts="counterlens.c.concepts:C",
    dependence="counterlens.c.dependence:C",
)
LANGUAGES = (C,)
