"""Expressions that look variables up by name: `locals()`, `eval`, frames, and what stands for them.

Rules:

- `locals`, `vars`, `dir`, `eval` and `exec` see the variables of the block around them, unless they get a
  namespace that certainly is one (`eval(text, {})`); `globals` sees those of the module.
- So does a frame: whatever makes one (`sys._getframe`, `inspect.stack`) or leads to one (`f_back`), a
  variable that holds one, a function of the file that uses one (it may look at its caller's), and
  `capture_locals`.
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
from enum import Enum, auto

from counterlens.dependence.heap import MUTATING_METHODS
from counterlens.dependence.rules import Rules
from counterlens.dependence.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    Block,
    BlockNames,
    Comprehension,
    parameters,
)


class Lookup(Enum):
    """The variables that an expression may look up by name."""

    LOCALS = auto()  # those of the block around it
    GLOBALS = auto()  # the module's
    FIRST = auto()  # the first parameter of the function around it


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
_HARMLESS = frozenset({"f_code", "f_globals", "f_lineno", "f_builtins", "f_lasti"})
_GETTERS = frozenset({"getattr", "attrgetter", "methodcaller"})
_WHEN_MADE = frozenset({"__init__", "__new__", "__call__", "__init_subclass__", "__set_name__"})

_WORDS = _LEADING.union({"super", "capture_locals"}, *_FRAME_MAKERS.values())

_Owner = tuple[ast.AST, str]
"""A block and a name that it binds."""


@dataclass(slots=True)
class Lookups:
    """The lookups by name in one file.

    Attributes:
        at: Each expression that looks variables up, with the kind of variables.
        binding: Those of them that may also bind variables of a module or class: `exec(text)`.
        first: The name of the parameter that each `super()` reads.
        everywhere: Whether any operator may look its caller's variables up: a special method does.
    """

    at: dict[ast.AST, Lookup] = field(default_factory=dict)
    binding: set[ast.AST] = field(default_factory=set)
    first: dict[ast.AST, str] = field(default_factory=dict)
    everywhere: bool = False


def find_lookups(tree: ast.Module, source: str, scopes: BlockNames | None = None) -> Lookups:
    """The expressions of a file that look variables up by name; empty without a word that could be one."""
    if _WORDS.isdisjoint(re.findall(r"\w+", source)):
        return Lookups()
    return _Finder(tree, scopes or BlockNames(Rules())).lookups()


class _Finder:
    """Collects what stands for a lookup until nothing is added, and then the lookups."""

    def __init__(self, tree: ast.Module, scopes: BlockNames) -> None:
        self._tree, self._scopes = tree, scopes
        self._modules = {"__builtins__": "builtins"}
        self._aliases: dict[_Owner, Lookup] = {}
        self._frames: set[_Owner] = set()  # the aliases that lead to a frame, whether they are called or not
        self._attributes: dict[str, Lookup] = dict.fromkeys(_FRAMES | _LEADING, Lookup.LOCALS)
        self._blocks: dict[ast.AST, tuple[Block | Comprehension, ...]] = {}
        self._parents: dict[ast.AST, ast.AST] = {}
        self._everywhere = False
        self._index()

    def _index(self) -> None:
        stack: list[tuple[ast.AST, tuple[Block | Comprehension, ...]]] = [(self._tree, ())]
        while stack:
            node, around = stack.pop()
            self._blocks[node] = around
            inner = (*around, node) if isinstance(node, _BLOCKS) else around
            outside = _evaluated_around(node)
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
                stack.append(
                    (
                        child,
                        around[: len(around) - (node.__class__ in _IN_HEADERS)]
                        if child in outside
                        else inner,
                    )
                )

    def lookups(self) -> Lookups:
        self._import()
        size = -1
        while size != (size := len(self._aliases) + len(self._attributes) + len(self._frames)):
            for node in self._blocks:
                self._collect(node)
        found = Lookups(everywhere=self._everywhere)
        for node in self._blocks:
            kind = self._kind(node)
            if kind is None or self._is_given_a_namespace(node) or self._is_only_named(node):
                continue
            place = self._parents[node] if isinstance(node, ast.keyword) else node
            if kind is Lookup.FIRST:
                name = next(
                    (name for block in reversed(self._blocks[node]) if (name := _first_parameter(block))),
                    None,
                )
                if name is None:
                    continue
                found.first[place] = name
            found.at[place] = kind
            if self._may_bind(node):
                found.binding.add(place)
        return found

    def _is_only_named(self, node: ast.AST) -> bool:
        """Whether an expression only gives a lookup another name: `e = eval`."""
        above = self._parents[node]
        return (
            isinstance(node, ast.Name)
            and node is getattr(above, "value", None)
            and (isinstance(above, ast.Assign | ast.AnnAssign | ast.Return))
            and self._owner(node) not in self._frames
        )

    def _may_bind(self, node: ast.AST) -> bool:
        """Whether an expression may bind variables of a module or class that it sees."""
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
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

    # what stands for a lookup

    def _import(self) -> None:
        for node in self._blocks:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in _FRAME_MAKERS:
                        self._modules[alias.asname or alias.name] = alias.name
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.name in _FRAME_MAKERS.get(node.module or "", ()):
                        kind = Lookup.GLOBALS if alias.name == "globals" else Lookup.LOCALS
                        owner = (self._blocks[node][-1], alias.asname or alias.name)
                        self._aliases[owner] = kind
                        if node.module != "builtins":
                            self._frames.add(owner)

    def _collect(self, node: ast.AST) -> None:
        """Add what a node makes stand for a lookup."""
        if isinstance(node, ast.Assign):
            self._bind(node.targets, node.value)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
            self._bind([node.target], node.value)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._bind([node.target], node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind([node.optional_vars], node.context_expr)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            self._defaults(node)
            if not isinstance(node, ast.Lambda):
                self._function(node)

    def _bind(self, targets: list[ast.expr], value: ast.expr) -> None:
        kind, frame = self._held(value)
        if kind is not None:
            for target in targets:
                for part in ast.walk(target):
                    self._add(part, kind, frame=frame)

    def _add(self, target: ast.AST, kind: Lookup, *, frame: bool) -> None:
        if isinstance(target, ast.Attribute):
            self._attributes[target.attr] = kind
        elif isinstance(target, ast.Name):
            owner = self._owner(target)
            if owner is not None:
                self._aliases[owner] = kind
                if frame:
                    self._frames.add(owner)
                if isinstance(owner[0], ast.ClassDef):
                    self._attributes[target.id] = kind

    def _defaults(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = [
            *zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        for parameter, default in pairs:
            kind, frame = self._held(default) if default is not None else (None, False)
            if kind is not None:
                self._aliases[node, parameter.arg] = kind
                if frame:
                    self._frames.add((node, parameter.arg))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A function that uses a frame may look its caller's variables up; one may return a lookup."""
        returned = (part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value)
        uses = any(self._leads_to_frame(part) for part in ast.walk(node))
        if not uses and not any(self._held(value)[0] for value in returned):
            return
        block = self._blocks[node][-1]
        if not isinstance(block, ast.ClassDef):
            self._aliases[block, node.name] = Lookup.LOCALS
            self._frames.add((block, node.name))
            return
        self._attributes[node.name] = Lookup.LOCALS
        if node.name in _WHEN_MADE:
            self._aliases[self._blocks[block][-1], block.name] = Lookup.LOCALS
            self._frames.add((self._blocks[block][-1], block.name))
        elif node.name.startswith("__") and node.name.endswith("__"):
            self._everywhere = True

    def _held(self, value: ast.expr) -> tuple[Lookup | None, bool]:
        """The lookup that a value may be or hold, and whether it leads to a frame."""
        for node in ast.walk(value):
            if self._leads_to_frame(node):
                if self._part_used(node) == "value":
                    continue
                return Lookup.LOCALS, True
            above = self._parents[node]
            called = isinstance(above, ast.Call) and above.func is node
            if not called and not isinstance(node, ast.Call) and (kind := self._kind(node)) is not None:
                return kind, False
        return None, False

    def _leads_to_frame(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            owner = self._owner(node)
            frame = owner in self._frames
        else:
            frame = (
                isinstance(node, ast.Attribute | ast.Constant | ast.keyword) and self._kind(node) is not None
            )
            if frame and isinstance(node, ast.Attribute):
                frame = self._module_of(node) != "builtins"
        return frame and self._part_used(node) not in _HARMLESS

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

    # lookups

    def _kind(self, node: ast.AST) -> Lookup | None:
        """The kind of lookup that a node is; None if it is none."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self._kind_of_name(node)
        if isinstance(node, ast.Attribute):
            module = self._module_of(node)
            if module is not None and node.attr in _FRAME_MAKERS[module]:
                return Lookup.GLOBALS if node.attr == "globals" else Lookup.LOCALS
            return self._attributes.get(node.attr)
        if isinstance(node, ast.keyword):
            return Lookup.LOCALS if node.arg == "capture_locals" else None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return Lookup.LOCALS if self._is_got(node) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
            return None if node.args or node.keywords else Lookup.FIRST
        return None

    def _kind_of_name(self, node: ast.Name) -> Lookup | None:
        owner = self._owner(node)
        if owner is not None:
            return self._aliases.get(owner)
        if node.id == "globals":
            return Lookup.GLOBALS
        return Lookup.LOCALS if node.id in _AROUND else None

    def _module_of(self, node: ast.Attribute) -> str | None:
        return self._modules.get(node.value.id) if isinstance(node.value, ast.Name) else None

    def _is_got(self, node: ast.Constant) -> bool:
        """Whether a text names a lookup that `getattr` or a namespace of builtins is asked for."""
        above = self._parents[node]
        if node.value not in _AROUND | _FRAMES | _LEADING:
            return False
        if isinstance(above, ast.Subscript):
            return any(isinstance(n, ast.Name) and n.id in self._modules for n in ast.walk(above.value))
        if not isinstance(above, ast.Call) or above.func is node:
            return False
        name = above.func.attr if isinstance(above.func, ast.Attribute) else getattr(above.func, "id", "")
        return name in _GETTERS

    def _owner(self, node: ast.Name) -> _Owner | None:
        """The block that binds a name, as seen from its place; None for a builtin or an unknown name."""
        blocks = self._blocks[node]
        for block in reversed(blocks):
            names = self._scopes.names(block)
            if node.id in names.globals:
                break
            visible = block is blocks[-1] or not isinstance(block, ast.ClassDef)
            if visible and node.id in names.bound:
                return block, node.id
        names = self._scopes.names(self._tree)
        return (self._tree, node.id) if node.id in names.bound else None

    def _is_given_a_namespace(self, node: ast.AST) -> bool:
        call = self._parents.get(node)
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        position = _NAMESPACES.get(name)
        if position is None or not isinstance(call, ast.Call) or call.func is not node:
            return False
        given = [word.value for word in call.keywords if word.arg == "globals"]
        if not any(isinstance(argument, ast.Starred) for argument in call.args):
            given += call.args[position : position + 1]
        return any(name in {"vars", "dir"} or _is_namespace(argument) for argument in given)


_BLOCKS = (*FUNCTIONS, *COMPREHENSIONS, ast.Lambda, ast.ClassDef, ast.Module)
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


def _is_namespace(node: ast.expr) -> bool:
    """Whether an expression is certainly a mapping, not None."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in {"globals", "dict", "vars", "copy"}
    return isinstance(node, ast.Dict | ast.DictComp) or (
        isinstance(node, ast.Attribute) and node.attr in {"__dict__", "f_globals"}
    )


def _first_parameter(block: ast.AST) -> str | None:
    """The name of a function's first parameter; None for another block, and without parameters."""
    if not isinstance(block, (*FUNCTIONS, ast.Lambda)):
        return None
    return next(iter(parameters(block.args)), None)
