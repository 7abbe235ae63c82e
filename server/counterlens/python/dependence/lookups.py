"""Expressions that look variables up by name: `locals()`, `eval`, frames, and what stands for them.

Rules, all of them by words:

- `locals`, `vars`, `dir`, `eval` and `exec` see the variables of the block around them, unless they get a
  namespace that certainly is one (`eval(text, {})`); `globals` sees those of the module.
- So does whatever names a frame (`sys._getframe`, `f_locals`) or what it holds (`capture_locals`).
- `super()` without arguments reads the first parameter of its function.
- What is called by a name for one of these does the same: `run = eval`, `from builtins import eval as run`,
  and a function of the file that names a frame, which may be its caller's.

Approximations: a name stands for a lookup in the whole file, and nothing further is followed; a namespace in
a variable may be None, and a frame may be asked for its line only (too many lookups).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum, auto

from counterlens.python.dependence.rules import MUTATING_METHODS
from counterlens.python.dependence.scopes import COMPREHENSIONS, FUNCTIONS, BlockNames, parameters
from counterlens.python.syntax.lookup_words import BUILTINS, FRAME_WORDS, LOOKUP_WORDS

_NAMESPACES = {"vars": 0, "dir": 0, "eval": 1, "exec": 1}  # the position of the argument that replaces them
_BLOCKS = (*FUNCTIONS, ast.Lambda, ast.ClassDef, ast.Module)
_Parents = dict[ast.AST, ast.AST]


class Lookup(IntEnum):
    """The variables that an expression may look up by name."""

    FIRST = auto()  # the first parameter of the function around it
    GLOBALS = auto()  # the module's
    LOCALS = auto()  # those of the block around it


@dataclass(slots=True)
class Lookups:
    """The lookups by name in one file.

    Attributes:
        at: Each expression that looks variables up, with the kind of variables.
        binding: Those of them that may also bind variables of a module or class: `exec(text)`.
        first: The name of the parameter that each `super()` reads.
        passed_on: Whether one is not called where it is named, so that any call may be one: `run = eval`.
    """

    at: dict[ast.AST, Lookup] = field(default_factory=dict)
    binding: set[ast.AST] = field(default_factory=set)
    first: dict[ast.AST, str] = field(default_factory=dict)
    passed_on: bool = False


def find_lookups(tree: ast.Module, source: str, scopes: BlockNames) -> Lookups:
    """The expressions of a file that look variables up by name; empty without a word that could be one."""
    lookups, words = Lookups(), set(re.findall(r"\w+", source))
    if words.isdisjoint(LOOKUP_WORDS | {"super"}):
        return lookups
    by_attribute = not words.isdisjoint({"builtins", "__builtins__"})
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    standing = set(_standing_for_lookups(parents))
    for node, above in parents.items():
        name, called = _identifier(node), isinstance(above, ast.Call) and above.func is node
        builtin = isinstance(node, ast.Name) and name in BUILTINS and not _is_bound(node, parents, scopes)
        builtin |= by_attribute and isinstance(node, ast.Attribute) and name in BUILTINS
        if isinstance(node, ast.Name) and name == "super" and called and not getattr(above, "args", None):
            blocks = [
                block for block in _around(node, parents) if isinstance(block, (*FUNCTIONS, ast.Lambda))
            ]
            firsts = [list(parameters(block.args))[:1] for block in blocks]
            if first := next((first for first in firsts if first), None):
                lookups.at[above], lookups.first[above] = Lookup.FIRST, first[0]
        elif (builtin and not _is_alias(node, above) and not _has_namespace(node, above)) or (
            name in FRAME_WORDS or (called and name in standing) or _is_asked_for(node, above)
        ):
            _record(node, parents, lookups)
        lookups.passed_on |= (builtin and not called) or _is_asked_for(node, above)
        lookups.passed_on |= isinstance(node, ast.alias) and node.name in BUILTINS
    return lookups


def _standing_for_lookups(parents: _Parents) -> Iterator[str]:
    """The names of the file that stand for a lookup, or for a function that uses a frame."""
    for node, above in parents.items():
        if isinstance(node, ast.alias) and isinstance(above, ast.ImportFrom) and node.name in LOOKUP_WORDS:
            yield node.asname or node.name
        elif _is_alias(node, above) and _identifier(node) in LOOKUP_WORDS:
            yield from (target.id for target in getattr(above, "targets", ()) if isinstance(target, ast.Name))
        elif _identifier(node) in FRAME_WORDS:
            function = next((block for block in _around(node, parents) if isinstance(block, FUNCTIONS)), None)
            if function is not None and not function.name.startswith("__"):
                yield function.name


def _is_alias(node: ast.AST, above: ast.AST) -> bool:
    """Whether an expression only gives a lookup another name: `run = eval`."""
    return isinstance(above, ast.Assign) and above.value is node and isinstance(node, ast.Name)


def _is_asked_for(node: ast.AST, above: ast.AST) -> bool:
    """Whether a text names a lookup that `getattr` or a namespace is asked for."""
    if not isinstance(node, ast.Constant) or node.value not in LOOKUP_WORDS:
        return False
    if isinstance(above, ast.Subscript):
        space = above.value.func if isinstance(above.value, ast.Call) else above.value
        return _identifier(space) in {"__builtins__", "__dict__", "vars"}
    return isinstance(above, ast.Call) and _identifier(above.func) in {
        "getattr",
        "attrgetter",
        "methodcaller",
    }


def _around(node: ast.AST, parents: _Parents) -> Iterator[ast.AST]:
    """What is around a node, inner parts first."""
    while (above := parents.get(node)) is not None:
        yield (node := above)


def _is_bound(name: ast.Name, parents: _Parents, scopes: BlockNames) -> bool:
    """Whether a name is one that the file binds, not the builtin."""
    blocks = [block for block in _around(name, parents) if isinstance(block, (*_BLOCKS, *COMPREHENSIONS))]
    return any(
        name.id in scopes.names(block).bound
        for block in blocks
        if block is blocks[0] or not isinstance(block, ast.ClassDef)
    )


def _record(node: ast.AST, parents: _Parents, lookups: Lookups) -> None:
    """Add a lookup, also to the comprehensions around it, whose code may run in the block around them."""
    node = parents[node] if isinstance(node, ast.Constant | ast.keyword) else node
    kind = Lookup.GLOBALS if _identifier(node) == "globals" else Lookup.LOCALS
    lookups.at[node] = kind
    if _may_bind(node, parents):
        lookups.binding.add(node)
    for block in _around(node, parents):
        if isinstance(block, _BLOCKS) or kind is not Lookup.LOCALS:
            break
        if isinstance(block, COMPREHENSIONS):
            lookups.at[block] = kind


def _may_bind(node: ast.AST, parents: _Parents) -> bool:
    """Whether an expression may bind variables of a module or class that it sees."""
    name = _identifier(node)
    if name not in {"globals", "locals", "vars"}:
        return name not in {"dir", "eval"}
    above = parents[parents[node]]  # of the call
    if isinstance(above, ast.Subscript):
        return not isinstance(above.ctx, ast.Load)
    return getattr(above, "attr", "") in MUTATING_METHODS or (
        isinstance(above, ast.Call) and _identifier(above.func) in {"exec", "eval"}
    )


def _has_namespace(node: ast.AST, above: ast.AST) -> bool:
    """Whether a builtin is given the namespace in which to look, which certainly is one."""
    position = _NAMESPACES.get(_identifier(node))
    if position is None or not isinstance(above, ast.Call) or above.func is not node:
        return False
    given = [word.value for word in above.keywords if word.arg == "globals"]
    given += above.args[position : position + 1]
    sure = (ast.Dict, ast.DictComp, ast.Call, ast.Attribute) if position else ast.expr
    return any(isinstance(argument, sure) and not isinstance(argument, ast.Starred) for argument in given)


def _identifier(node: ast.AST) -> str:
    """The identifier of a name or attribute that is read, or of a keyword; empty for another node."""
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        return node.id if isinstance(node, ast.Name) else node.attr
    return (node.arg or "") if isinstance(node, ast.keyword) else ""
