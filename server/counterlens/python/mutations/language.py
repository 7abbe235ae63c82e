"""Python's mutations, placebos and parser; the check of every site, and EMPICA's transformations.

The site of a preserving mutation must keep the names, the order and the set of the variables that code may
look up (`unseen_uses.py`): the names give their values, and the order is that of `locals()`. So no single
mutation has to look at this.

The eight transformations of EMPICA (Nguyen et al. 2024, Table 1) are each at all of their sites at once.
They are Counterlens's mutations, as in the paper's examples: conditions are negated by `not`, only an `if`
with its own `else` is flipped, variables are named `VAR1` and so on, any arithmetic operator may replace any
other, and the file is assumed to be the whole program.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Set
from dataclasses import replace

import libcst as cst

from counterlens.mutations.base import NAMES_UNREAD
from counterlens.mutations.edits import render
from counterlens.mutations.languages import MutatedLanguage
from counterlens.mutations.mutation import AnyMutation, Site, SiteRefused, Transformation
from counterlens.python.mutations.declarations import AnnotateShuffle, AnnotateStrip, ReorderParameters
from counterlens.python.mutations.def_use_break import DefUseBreak
from counterlens.python.mutations.if_else_flip import IfElseFlip
from counterlens.python.mutations.loops import ForWhileConvert, LoopUnroll
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.operators import OperandSwap, ReplaceArithmetic
from counterlens.python.mutations.placebos import PLACEBOS, python_meaning
from counterlens.python.mutations.rename import RenameGeneric, RenameRandom, RenameShuffle
from counterlens.python.mutations.simple_conditionals import (
    BlockSwapPlain,
    NegateCondition,
    RefactorCondition,
    RemoveConditional,
)
from counterlens.python.mutations.statements import IndependentSwap, RemoveDefinition
from counterlens.python.mutations.unseen_uses import BY_NAME, by_text, unseen_uses

_OWN: tuple[PythonMutation, ...] = (
    # control flow
    IfElseFlip(),
    IndependentSwap(),
    ForWhileConvert(),
    RefactorCondition(),
    LoopUnroll(),
    NegateCondition(),
    RemoveConditional(),
    BlockSwapPlain(),
    # data flow
    DefUseBreak(),
    OperandSwap(),
    ReorderParameters(),
    ReplaceArithmetic(),
    RemoveDefinition(),
    # naming
    RenameRandom(),
    RenameShuffle(),
    RenameGeneric(),
    # types
    AnnotateStrip(),
    AnnotateShuffle(),
)

MUTATIONS = {mutation.id: mutation for mutation in _OWN}


class ExplicitIfElseFlip(IfElseFlip):
    """Flip only an `if` with its own `else`, and negate by `not` (Nguyen et al. 2024, Table 1)."""

    def __init__(self) -> None:
        super().__init__("not")

    def site(self, context: PythonContext, node: cst.If) -> Site | SiteRefused | None:
        return super().site(context, node) if isinstance(node.orelse, cst.Else) else None


TRANSFORMATIONS = (
    Transformation("Convert For/While", "control", ForWhileConvert()),
    Transformation("Flip IfElse", "control", ExplicitIfElseFlip()),
    Transformation("Rename Variable", "data", RenameGeneric("VAR")),
    Transformation("Reorder Parameters", "data", ReorderParameters(whole_program=True)),
    Transformation("Negate Relational Condition", "control", NegateCondition("not")),
    Transformation("Remove Conditional Statement", "control", RemoveConditional()),
    Transformation("Replace Arithmetic Operator", "data", ReplaceArithmetic(across_precedence=True)),
    Transformation("Remove Def Statement", "data", RemoveDefinition()),
)
"""The operators in the order of the table: four that preserve the meaning, four that break it."""


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


_PUBLISHED: tuple[AnyMutation, ...] = (
    IfElseFlip(published=True),
    RenameRandom(published=True),
    RenameShuffle(published=True),
)

PYTHON = MutatedLanguage(
    own=MUTATIONS,
    kind=PythonMutation,
    parse=Module,
    context=PythonContext,
    checked=check,
    placebos=PLACEBOS,
    meaning=python_meaning,
    transformations=TRANSFORMATIONS,
    published={mutation.id: mutation for mutation in _PUBLISHED},
    shown={ReorderParameters.id: ReorderParameters(whole_program=True)},
    reaching=IndependentSwap,
)
