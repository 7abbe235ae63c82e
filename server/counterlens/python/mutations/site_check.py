"""The check of every site of a preserving mutation of Python for variables that code looks up by name.

A site must keep the names, the order and the set of the variables that code may look up (`unseen_uses.py`):
the names give their values, and the order is that of `locals()`. So no single mutation has to look at this.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Set
from dataclasses import replace

from counterlens.mutations.assumptions import NAMES_UNREAD
from counterlens.mutations.edits import render
from counterlens.mutations.mutation import Site, SiteRefused
from counterlens.python.mutations.mutation import PythonContext
from counterlens.python.mutations.unseen_uses import BY_NAME, by_text, unseen_uses

_LEXEME = re.compile(
    r"""#[^\n]*|(?P<prefix>\b[a-zA-Z]{1,2}|)"""
    r"""(?:'{3}[\s\S]*?'{3}|"{3}[\s\S]*?"{3}|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")"""
    r"""|[^\W\d]\w*"""
)
_WORD = re.compile(r"[^\W\d]\w*")

_Words = list[tuple[bool, str]]
"""Words of a text in order, each with whether it stands in a string."""


def check(context: PythonContext, site: Site) -> Site | SiteRefused:
    """A site of a preserving mutation, refused if code may notice it by looking variables up by name."""
    module = context.module
    unseen = unseen_uses(module)
    around = {unseen.outermost(edit.start) for edit in site.edits}
    names, texts, stored = (frozenset().union(*(unseen.in_function(f)[i] for f in around)) for i in range(3))
    if not names and not texts and not stored:
        return site
    after = render(module.data, site.edits).data
    start, end = 0, len(module.data)
    function = next(iter(around)) if len(around) == 1 else None
    if function is not None and all(e.start >= function.start and e.end <= function.end for e in site.edits):
        start, end = function.start, function.end
    old = _words(module.data[start:end])
    new = _words(after[start : end + len(after) - len(module.data)])
    fresh = {word for _, word in new if word not in module.words and not keyword.iskeyword(word)}
    if names and (old != new if unseen.everywhere else _differ(old, new, names | fresh, texts=False)):
        return SiteRefused(site.span[0], BY_NAME)
    for name in sorted(texts):
        if _differ(old, new, {name}, texts=True):
            return SiteRefused(site.span[0], by_text(name))
    if _differ(old, new, stored, texts=True):
        return replace(site, assumptions=tuple(sorted({*site.assumptions, NAMES_UNREAD})))
    return site


def _differ(old: _Words, new: _Words, names: Set[str], *, texts: bool) -> bool:
    """Whether names occur otherwise than before; `texts`: the places in strings count, too."""
    kept = [[word for word in words if word[1] in names and (texts or not word[0])] for words in (old, new)]
    return kept[0] != kept[1]


def _words(data: bytes) -> _Words:
    words: _Words = []
    for lexeme in _LEXEME.finditer(data.decode("utf-8", "replace")):
        text, prefix = lexeme[0], lexeme["prefix"]
        if text[0] == "#":
            continue
        quoted = prefix is not None
        words += [(quoted, word) for word in _WORD.findall(text[len(prefix or "") :])]
        if quoted and "f" in prefix.lower():
            words += [(False, word) for word in _WORD.findall(text[len(prefix) :])]
    return words
