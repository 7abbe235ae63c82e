"""Uses of variables that no occurrence of their names shows, found by a word.

Code may look variables up by name. A function in which a word such as `locals` or `eval` does
(`python/dependence/lookups.py`) is left alone, and so are all functions of a file that reads the variables of
frames, or gives such a word another name. Nothing else is followed: what another module does with a frame
shows when the program runs.

A library may also look a variable up by a word of a text, as in `frame.query("x > @limit")`. In a file that
imports more than the standard library, a change to code with a variable whose name stands in a text needs an
assumption, unless the text is plainly for people.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterator
from functools import cached_property, lru_cache

import libcst as cst

from counterlens.errors import SourceError
from counterlens.mutations.base import NAMES_UNREAD
from counterlens.mutations.edits import Edit
from counterlens.mutations.mutation import Site, SiteRefused
from counterlens.python.mutations.module import FunctionNode, Module
from counterlens.python.mutations.variables import ScopeKind
from counterlens.python.syntax.lookup_words import LOOKUP_WORDS, READING_FRAMES

BY_NAME = "the function may look its variables up by name"
_EXPOSING = frozenset(
    {"globals", "modules", "__dict__", "__import__", "import_module", "vars", "__globals__", "f_globals",
     "__main__"}
)  # fmt: skip
"""Ways to the variables of a module."""
_FOR_PEOPLE = frozenset(
    {"print", "debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log", "fail",
     "add_argument", "add_option", "write", "get", "startswith", "endswith", "len", "ord", "isinstance",
     "open", "input", "getattr", "hasattr", "setattr", "delattr"}
)  # fmt: skip
"""What does not look for names of variables in the texts that it gets."""
_READERS = frozenset({"query", "sql", "evaluate"})
"""Methods that do, of objects that a file may be given without an import."""
_TAKES_IT = (cst.Comparison, cst.Subscript, cst.Raise, cst.Expr, cst.Assert)
_WORD = re.compile(r"[^\W\d]\w*")


class LookupsByName:
    """The code of one module that may look variables up by name.

    Attributes:
        everywhere: Whether any code may look up the variables of any function.
        exposes_module: Whether code may access the module's variables by name.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self.exposes_module = bool(_EXPOSING & module.words)
        self.everywhere = bool(READING_FRAMES & module.words)
        self._functions: set[FunctionNode | None] = set()
        if self.everywhere or LOOKUP_WORDS.isdisjoint(module.words):
            return
        # The analysis of dependences, which few files need.
        from counterlens.python.dependence.lookups import Lookup, find_lookups
        from counterlens.python.dependence.program import parse
        from counterlens.python.dependence.rules import PythonRules
        from counterlens.python.dependence.scopes import BlockNames

        try:
            tree = parse(module.source)
        except SourceError:  # it has the syntax of a later Python
            self.everywhere = True
            return
        lookups = find_lookups(tree, module.source, BlockNames(PythonRules()))
        self.everywhere = lookups.passed_on
        for node, kind in lookups.at.items():
            if kind is Lookup.LOCALS:
                at = module.positions.line_start(node.lineno - 1) + node.col_offset  # type: ignore[attr-defined]
                self._functions.add(self.outermost(at))

    @property
    def anywhere(self) -> bool:
        """Whether some code of the module may look up variables of functions, or of the module's own code."""
        return self.everywhere or bool(self._functions)

    def within(self, function: FunctionNode | None) -> bool:
        """Whether code may look up the variables of an outermost function, or of a function inside it."""
        return function is not None and (self.everywhere or function in self._functions)

    def outermost(self, offset: int) -> FunctionNode | None:
        """The outermost function around an offset."""
        outer = function = self._module.function_at(offset)
        while function is not None:
            outer = function
            function = self._module.function_around(function)
        return outer

    @cached_property
    def named_in_texts(self) -> frozenset[str]:
        """The words of the texts that a library may read."""
        if not self._may_have_readers():
            return frozenset()
        literals = self._module.nodes(cst.SimpleString, cst.FormattedStringText)
        texts = (self._module.text(self._module.span(node)) for node in literals if self._may_be_read(node))
        return frozenset(word for text in texts for word in _WORD.findall(text))

    def _may_have_readers(self) -> bool:
        """Whether the file uses code of others: the standard library looks for no names in texts."""
        module, names = self._module, list[cst.BaseExpression]()
        for node in module.nodes(cst.Import):
            names += [alias.name for alias in node.names]
        names += [n.module for n in module.nodes(cst.ImportFrom) if n.module is not None and not n.relative]
        roots = {module.text(module.span(name)).partition(".")[0] for name in names}
        return bool(_READERS & module.words) or not roots <= sys.stdlib_module_names

    def _may_be_read(self, node: cst.CSTNode) -> bool:
        """Whether a library may get a text: it is kept, or given to what is not plainly for people."""
        for above in self._module.ancestors(node):
            if isinstance(above, cst.Call) and above.func is not node:
                called = above.func
                name = (
                    called.attr.value if isinstance(called, cst.Attribute) else getattr(called, "value", "")
                )
                return (
                    name not in _FOR_PEOPLE and not (self._module.scopes.builtin(called) or "_")[0].isupper()
                )
            if isinstance(above, _TAKES_IT) or (isinstance(above, cst.DictElement) and above.key is node):
                return False
            if isinstance(above, cst.BaseSmallStatement | cst.BaseCompoundStatement):
                return True
            node = above
        return False


lookups_in = lru_cache(maxsize=4)(LookupsByName)
"""The lookups by name in a module, found once."""


def check(module: Module, site: Site) -> Site | SiteRefused:
    """A site of a preserving mutation, refused or with an assumption if a lookup by name may notice it."""
    lookups = lookups_in(module)
    around = {lookups.outermost(edit.start) for edit in site.edits}
    if any(map(lookups.within, around)):
        return SiteRefused(site.span[0], BY_NAME)
    scopes = [s for f in around if f is not None for s in module.scopes.of_node[f.node].inside()]
    touched = {word for edit in site.edits for text in _texts(module, edit) for word in _WORD.findall(text)}
    names = {name for scope in scopes if scope.is_function for name in scope.variables}
    if None in around:  # the module's own code, in a whole program
        names |= {name for s in module.scopes.all() if s.kind is ScopeKind.MODULE for name in s.variables}
    if touched.isdisjoint(names & lookups.named_in_texts):
        return site
    return dataclasses.replace(site, assumptions=tuple(sorted({*site.assumptions, NAMES_UNREAD})))


def _texts(module: Module, edit: Edit) -> Iterator[str]:
    """The texts that an edit removes, inserts or moves."""
    yield module.text((edit.start, edit.end))
    for piece in edit.pieces:
        yield piece if isinstance(piece, str) else module.text((piece.start, piece.end))
