"""Expressions that look variables up by name: `locals()`, `eval`, frames, and what stands for them.

Rules:

- `locals`, `vars`, `dir`, `eval` and `exec` see the variables of the block around them, unless they get a
  namespace that certainly is one (`eval(text, {})`); `globals` sees those of the module.
- So does a frame: whatever makes one (`sys._getframe`, `inspect.stack`) or leads to one (`f_back`), a
  variable that holds one, and a function of the file that uses one (it may look at its caller's, or at those
  of further callers). `capture_locals` shows the variables of all.
- `super()` without arguments reads the first parameter of its function.
- A name that may stand for one of these does the same: `e = eval`, `from builtins import eval as e`, a
  default, `getattr(builtins, "eval")`. An attribute counts by its name alone.

Approximations: other modules' functions are not followed, unless they are given a frame; a namespace in a
variable may be None (too many lookups).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import cast

from counterlens.python.dependence.rules import MUTATING_METHODS, PythonRules
from counterlens.python.dependence.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    Block,
    BlockNames,
    Comprehension,
    parameters,
)


class Lookup(IntEnum):
    """The variables that an expression may look up by name."""

    FIRST = auto()  # the first parameter of the function around it
    GLOBALS = auto()  # the module's
    LOCALS = auto()  # those of the block around it


_AROUND = frozenset({"locals", "vars", "dir", "eval", "exec"})
_NAMESPACES = {"vars": 0, "dir": 0, "eval": 1, "exec": 1}  # the position of the argument that replaces them
_FRAME_MAKERS = {
    "sys": frozenset({"_getframe", "_current_frames", "settrace", "setprofile"}),
    "inspect": frozenset(
        {"currentframe", "stack", "trace", "getouterframes", "getinnerframes", "getargvalues"}
    ),
    "traceback": frozenset({"walk_stack", "walk_tb"}),
    "builtins": _AROUND | {"globals"},
}
_FRAMES = frozenset({"_getframe", "_current_frames", "currentframe"})
_LEADING = frozenset({"f_locals", "f_back", "gi_frame", "cr_frame", "ag_frame", "tb_frame"})
_REACHING = frozenset(
    {
        *("gi_frame", "cr_frame", "ag_frame", "tb_frame", "trace", "getinnerframes", "walk_tb"),
        *("settrace", "setprofile", "_current_frames"),
    }
)  # ways to the frames of functions that are called, or suspended, or run elsewhere
_HARMLESS = frozenset({"f_code", "f_globals", "f_lineno", "f_builtins", "f_lasti"})
_GETTERS = frozenset({"getattr", "attrgetter", "methodcaller"})
_WHEN_MADE = frozenset({"__init__", "__new__", "__call__", "__init_subclass__", "__set_name__"})

_GOT = _AROUND | _FRAMES | _LEADING
_WORDS = _LEADING.union({"super", "capture_locals"}, *_FRAME_MAKERS.values())


_Blocks = tuple[Block | Comprehension, ...]
"""The blocks around a node, outer ones first."""


@dataclass(slots=True)
class Lookups:
    """The lookups by name in one file.

    Attributes:
        at: Each expression that looks variables up, with the kind of variables.
        binding: Those of them that may also bind variables of a module or class: `exec(text)`.
        first: The name of the parameter that each `super()` reads.
        everywhere: Whether any code may look up the variables of any function of the file: a special method
            uses its caller's frame, or code reads the frames of called or suspended functions.
    """

    at: dict[ast.AST, Lookup] = field(default_factory=dict)
    binding: set[ast.AST] = field(default_factory=set)
    first: dict[ast.AST, str] = field(default_factory=dict)
    everywhere: bool = False


def find_lookups(tree: ast.Module, source: str, scopes: BlockNames | None = None) -> Lookups:
    """The expressions of a file that look variables up by name; empty without a word that could be one."""
    words = _WORDS.intersection(re.findall(r"\w+", source))
    if not words:
        return Lookups()
    lookups = _Finder(tree, scopes or BlockNames(PythonRules())).lookups()
    reads = {"f_locals", "getargvalues"} & words and _REACHING & words
    lookups.everywhere |= bool(reads) or "capture_locals" in words
    return lookups


def has_lookups(source: str) -> bool:
    """Whether a source has a word that may look variables up by name."""
    return not (_WORDS - {"super"}).isdisjoint(re.findall(r"\w+", source))


class _Finder:
    """Follows every lookup to what else stands for one, until nothing is added."""

    def __init__(self, tree: ast.Module, scopes: BlockNames) -> None:
        self._tree, self._scopes = tree, scopes
        self._modules = {"__builtins__": "builtins"}
        self._blocks: dict[ast.AST, _Blocks] = {}
        self._parents: dict[ast.AST, ast.AST] = {}
        self._named: dict[str, list[ast.Name | ast.Attribute]] = {}  # those that are read, by identifier
        self._others: list[ast.AST] = []
        self._imports: list[ast.ImportFrom] = []
        self._lookups = Lookups()
        self._aliases: set[tuple[ast.AST | None, str, bool, bool]] = set()
        self._todo: list[tuple[ast.AST, Lookup, bool, bool]] = []
        stack: list[tuple[ast.AST, _Blocks]] = [(self._tree, ())]
        while stack:
            node, around = stack.pop()
            kind = node.__class__
            self._blocks[node] = around
            if kind in _NOTED:
                self._note(node)
            inner = (*around, cast("Block", node)) if kind in _BLOCKS else around
            outside = _evaluated_around(node) if kind in _WITH_HEADERS else ()
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
                if outside and child in outside:
                    stack.append((child, around[:-1] if kind in _IN_HEADERS else around))
                else:
                    stack.append((child, inner))

    def _note(self, node: ast.AST) -> None:
        """Remember a node that may be a lookup, or import one."""
        if isinstance(node, ast.Name | ast.Attribute):
            if isinstance(node.ctx, ast.Load):
                self._named.setdefault(_identifier(node), []).append(node)
        elif isinstance(node, ast.Import):
            modules = (alias for alias in node.names if alias.name in _FRAME_MAKERS)
            self._modules.update((alias.asname or alias.name, alias.name) for alias in modules)
        elif isinstance(node, ast.ImportFrom):
            self._imports.append(node)
        elif isinstance(node, ast.keyword) or (isinstance(node, ast.Constant) and node.value in _GOT):
            self._others.append(node)

    def lookups(self) -> Lookups:
        self._start()
        while self._todo:
            node, kind, frame, deep = self._todo.pop()
            if self._is_given_a_namespace(node) or (frame and self._part_used(node) in _HARMLESS):
                continue
            self._spread(node, kind, frame=frame, deep=deep)
            # whether an expression only gives a lookup another name: `e = eval`
            above = self._parents[node]
            named = isinstance(above, ast.Assign | ast.AnnAssign | ast.Return) and above.value is node
            if not (named and isinstance(node, ast.Name) and not frame):
                self._record(node, kind)
        return self._lookups

    def _start(self) -> None:
        """Begin with what is a lookup itself."""
        for name in (*_AROUND, "globals"):
            for node in self._named.get(name, ()):
                if isinstance(node, ast.Name) and self._owner(node) is None:
                    self._todo.append((node, _kind(name), False, False))
        for node in self._named.get("super", ()):
            call = self._parents[node]
            if isinstance(call, ast.Call) and call.func is node and not call.args:
                self._record(call, Lookup.FIRST)
        for name in _FRAMES | _LEADING:
            self._alias(None, name, Lookup.LOCALS, frame=True)
        for other in self._others:
            if isinstance(other, ast.keyword) and other.arg == "capture_locals":
                self._record(self._parents[other], Lookup.LOCALS)
            elif isinstance(other, ast.Constant) and self._is_got(other):
                self._todo.append((self._parents[other], Lookup.LOCALS, other.value not in _AROUND, False))
        self._start_imported()

    def _start_imported(self) -> None:
        for module, names in _FRAME_MAKERS.items():
            for node in (node for name in names for node in self._named.get(name, ())):
                root = node.value if isinstance(node, ast.Attribute) else None
                if isinstance(root, ast.Name) and self._modules.get(root.id) == module:
                    self._todo.append((node, _kind(_identifier(node)), module != "builtins", False))
        for statement in self._imports:
            for alias in statement.names:
                if alias.name in _FRAME_MAKERS.get(statement.module or "", ()):
                    block, frame = self._blocks[statement][-1], statement.module != "builtins"
                    self._alias(block, alias.asname or alias.name, _kind(alias.name), frame=frame)

    # what stands for a lookup

    def _alias(
        self, block: ast.AST | None, name: str, kind: Lookup, *, frame: bool, deep: bool = False
    ) -> None:
        """Let a name of a block stand for a lookup, or every attribute of that name if there is no block."""
        if (block, name, frame, deep) in self._aliases:
            return
        self._aliases.add((block, name, frame, deep))
        for node in self._named.get(name, ()):
            own = block is None if isinstance(node, ast.Attribute) else block is self._owner(node) is not None
            if own:
                self._todo.append((node, kind, frame, deep))

    def _spread(self, node: ast.AST, kind: Lookup, *, frame: bool, deep: bool) -> None:
        """Follow a lookup to the variables that hold it and the functions that use or return it."""
        part = self._part_used(node) if frame else ""
        function = next((b for b in reversed(self._blocks[node]) if isinstance(b, FUNCTIONS)), None)
        if function is not None and (frame or deep):
            self._function(function, frame=False, deep=deep or self._climbs(node))
        above = self._parents[node]
        if part == "value" or (not frame and isinstance(above, ast.Call) and above.func is node):
            return
        while isinstance(above, ast.expr | ast.keyword | ast.comprehension | ast.withitem | ast.arguments):
            if isinstance(above, ast.Lambda) and node is above.body and not frame:
                return
            self._held(above, node, kind, frame=frame)
            node, above = above, self._parents[above]
        self._held(above, node, kind, frame=frame)

    def _held(self, above: ast.AST, node: ast.AST, kind: Lookup, *, frame: bool) -> None:
        """Add what a node binds to a lookup that is in one of its parts."""
        if isinstance(above, ast.arguments):
            positional = [*above.posonlyargs, *above.args]
            positional = positional[len(positional) - len(above.defaults) :]
            for parameter, default in (
                *zip(positional, above.defaults, strict=True),
                *zip(above.kwonlyargs, above.kw_defaults, strict=True),
            ):
                if default is node:
                    self._alias(self._parents[above], parameter.arg, kind, frame=frame)
        elif isinstance(above, ast.Return):
            function = next(block for block in reversed(self._blocks[above]) if isinstance(block, FUNCTIONS))
            self._function(function, frame=True)
        elif isinstance(above, FUNCTIONS) and node in above.decorator_list:
            self._function(above, frame=frame)
        for part in (part for target in _targets(above, node) for part in ast.walk(target)):
            if isinstance(part, ast.Attribute):
                self._alias(None, part.attr, kind, frame=frame)
            elif isinstance(part, ast.Name):
                block = self._owner(part)
                self._alias(block, part.id, kind, frame=frame)
                if isinstance(block, ast.ClassDef):
                    self._alias(None, part.id, kind, frame=frame)

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, *, frame: bool, deep: bool = False
    ) -> None:
        """Let a function that uses a frame, which may be its caller's, or returns a lookup stand for one."""
        block = self._blocks[node][-1]
        if not isinstance(block, ast.ClassDef):
            self._alias(block, node.name, Lookup.LOCALS, frame=frame, deep=deep)
            return
        self._alias(None, node.name, Lookup.LOCALS, frame=frame, deep=deep)
        if node.name in _WHEN_MADE:
            self._alias(self._blocks[block][-1], block.name, Lookup.LOCALS, frame=frame, deep=deep)
        elif node.name.startswith("__") and node.name.endswith("__"):
            self._lookups.everywhere = True

    def _climbs(self, node: ast.AST) -> bool:
        """Whether an expression may lead beyond the frame of its function's caller."""
        above, name = self._parents[node], _identifier(node)
        if name == "_getframe" and isinstance(above, ast.Call):
            return not all(isinstance(a, ast.Constant) and a.value in (0, 1) for a in above.args)
        if name == "f_back" and not (isinstance(above, ast.Attribute) and above.attr == "f_back"):
            while not isinstance(above, (*FUNCTIONS, ast.Module, ast.For, ast.While)):
                above = self._parents[above]
            return isinstance(above, ast.For | ast.While)
        return name in {"f_back", "stack", "getouterframes", "walk_stack", "_current_frames"}

    def _part_used(self, node: ast.AST) -> str:
        """The part of a frame that an expression goes on to: `f_code` for `sys._getframe(1).f_code`."""
        above = self._parents[node]
        while (isinstance(above, ast.Call) and above.func is node) or (
            isinstance(above, ast.Attribute | ast.Subscript) and getattr(above, "attr", "") not in _HARMLESS
        ):
            if isinstance(node, ast.Attribute) and node.attr == "f_locals":
                return "value"
            node, above = above, self._parents[above]
        return above.attr if isinstance(above, ast.Attribute) else ""

    def _is_got(self, node: ast.AST) -> bool:
        """Whether a text names a lookup that `getattr` or a namespace of builtins is asked for."""
        above = self._parents[node]
        if isinstance(above, ast.Subscript):
            return any(isinstance(n, ast.Name) and n.id in self._modules for n in ast.walk(above.value))
        if not isinstance(above, ast.Call) or above.func is node:
            return False
        return _identifier(above.func) in _GETTERS

    def _owner(self, node: ast.Name) -> Block | Comprehension | None:
        """The block that binds a name, as seen from its place; None for a builtin or an unknown name."""
        blocks = self._blocks[node]
        for block in reversed(blocks):
            names = self._scopes.names(block)
            if node.id in names.globals:
                break
            visible = block is blocks[-1] or not isinstance(block, ast.ClassDef)
            if visible and node.id in names.bound:
                return block
        names = self._scopes.names(self._tree)
        return self._tree if node.id in names.bound else None

    # lookups

    def _record(self, node: ast.AST, kind: Lookup) -> None:
        if kind is Lookup.FIRST:
            firsts = map(_first_parameter, reversed(self._blocks[node]))
            name = next((name for name in firsts if name is not None), None)
            if name is None:
                return
            self._lookups.first[node] = name
        self._lookups.at[node] = kind
        if self._may_bind(node):
            self._lookups.binding.add(node)
        for block in reversed(self._blocks[node]):  # a comprehension's code may run in the block around it
            if not isinstance(block, COMPREHENSIONS) or kind is not Lookup.LOCALS:
                break
            self._lookups.at[block] = kind

    def _may_bind(self, node: ast.AST) -> bool:
        """Whether an expression may bind variables of a module or class that it sees."""
        name = _identifier(node)
        if name not in {"globals", "locals", "vars"}:
            return name not in {"dir", "eval"} and not isinstance(node, ast.Call)
        call = self._parents[node]
        above = self._parents[call] if isinstance(call, ast.Call) and call.func is node else call
        if isinstance(above, ast.Subscript):
            return not isinstance(above.ctx, ast.Load)
        changing = MUTATING_METHODS if isinstance(above, ast.Attribute) else {"exec", "eval"}
        return getattr(above, "attr", "") in changing or (
            isinstance(above, ast.Call) and getattr(above.func, "id", "") in changing
        )

    def _is_given_a_namespace(self, node: ast.AST) -> bool:
        call = self._parents.get(node)
        name = _identifier(node)
        position = _NAMESPACES.get(name)
        if position is None or not isinstance(call, ast.Call) or call.func is not node:
            return False
        given = [word.value for word in call.keywords if word.arg == "globals"]
        if not any(isinstance(argument, ast.Starred) for argument in call.args):
            given += call.args[position : position + 1]
        return any(name in {"vars", "dir"} or _is_namespace(argument) for argument in given)


_BLOCKS = frozenset({*FUNCTIONS, *COMPREHENSIONS, ast.Lambda, ast.ClassDef, ast.Module})
_NOTED = frozenset({ast.Name, ast.Attribute, ast.Import, ast.ImportFrom, ast.keyword, ast.Constant})
_WITH_HEADERS = frozenset({*FUNCTIONS, ast.ClassDef, ast.arguments, ast.arg})
_IN_HEADERS = frozenset(
    {ast.arguments, ast.arg}
)  # nodes inside a block whose parts may be evaluated around it


def _evaluated_around(node: ast.AST) -> Sequence[ast.AST | None]:
    """The direct children of a node that are evaluated in the block around the innermost one."""
    if isinstance(node, FUNCTIONS):
        return [*node.decorator_list, node.returns]
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    if isinstance(node, ast.arguments):
        return [*node.defaults, *node.kw_defaults]
    return [node.annotation] if isinstance(node, ast.arg) else []


def _kind(name: str) -> Lookup:
    return Lookup.GLOBALS if name == "globals" else Lookup.LOCALS


def _targets(node: ast.AST, value: ast.AST) -> list[ast.expr]:
    """What a node binds to one of its parts."""
    if isinstance(node, ast.Assign):
        return node.targets
    if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        return [node.target]
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension) and value is node.iter:
        return [node.target]
    return [node.optional_vars] if isinstance(node, ast.withitem) and node.optional_vars else []


def _identifier(node: ast.AST) -> str:
    """The identifier of a name or attribute; empty for another node."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _is_namespace(node: ast.expr) -> bool:
    """Whether an expression is certainly a mapping, not None."""
    if isinstance(node, ast.Call):
        return _identifier(node.func) in {"globals", "dict", "vars", "copy"}
    return isinstance(node, ast.Dict | ast.DictComp) or (
        isinstance(node, ast.Attribute) and node.attr in {"__dict__", "f_globals"}
    )


def _first_parameter(block: ast.AST) -> str | None:
    """The name of a function's first parameter; None for another block, and without parameters."""
    if not isinstance(block, (*FUNCTIONS, ast.Lambda)):
        return None
    return next(iter(parameters(block.args)), None)
