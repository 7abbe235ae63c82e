"""The names that a block binds, and those that a function, lambda or class captures.

Rules (language reference 4.2, PEP 227, 572, 634, 695):

- A block binds what it assigns, imports, defines, catches, captures or takes as a parameter, unless it
  declares the name `global` or `nonlocal`.
- A class body's names are visible to its own statements only, not to the functions in it.
- A comprehension binds its targets; a `:=` in it binds in the enclosing function.
- A name that a class body both reads and binds may be the global one.

This module resolves whole blocks, `python/mutations/module.py` every occurrence, on LibCST; that module
explains why there are two.

What looks variables up by name is the subject of `lookups.py`. Approximation: private names (`__x`) are not
mangled.

`Variables` resolves names in the analysed function and in the class bodies that run inline in it:

- A class body's own variables are distinguished from those of the function by a mark.
- A name that a class body both reads and binds may be the module's.
- A class body does not see the names of an enclosing class.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from counterlens.dependence.effects import MARK, Place
from counterlens.python.dependence.rules import PythonRules, changed_by_call, place

Block = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.Module
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BLOCKS = {ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, *COMPREHENSIONS}
_TYPE_PARAMETERS = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})  # since Python 3.12


@dataclass(slots=True)
class Names:
    """The bindings and uses of names in one block, nested blocks included.

    Attributes:
        bound: Names that it binds itself; for a comprehension, its targets.
        leaked: Names that a `:=` in a comprehension binds in the enclosing function.
        globals: Names that it declares `global`.
        nonlocals: Names that it declares `nonlocal`.
        reads: Names of enclosing blocks that it reads.
        writes: Names of enclosing blocks that it rebinds.
        mutated: Places of enclosing blocks that it changes.
        global_reads: Names that it reads from the module, even if a block in between binds them.
        global_writes: Names of the module that it rebinds.
    """

    bound: set[str] = field(default_factory=set)
    leaked: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    mutated: set[Place] = field(default_factory=set)
    global_reads: set[str] = field(default_factory=set)
    global_writes: set[str] = field(default_factory=set)


class BlockNames:
    """The names of every block of a tree, each block analysed once."""

    def __init__(self, rules: PythonRules) -> None:
        self._rules = rules
        self._names: dict[ast.AST, Names] = {}

    def names(self, block: Block | Comprehension) -> Names:
        """The names of a block."""
        block_names = self._names.get(block)
        if block_names is None:
            block_names = self._names[block] = self._collect(block)
        return block_names

    def _collect(self, block: Block | Comprehension) -> Names:
        names = Names()
        inner: list[Names] = []
        stack = _inside(block)
        if isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            names.bound.update(parameters(block.args))
        while stack:
            node = stack.pop()
            kind = node.__class__
            if kind is ast.Constant:
                continue
            if kind is ast.Name:
                _name(node, names)
            elif kind in _BLOCKS:
                inner.append(self.names(node))  # type: ignore[arg-type]
                stack.extend(_around(node, inner[-1], names, comprehended=isinstance(block, COMPREHENSIONS)))
            elif kind is ast.NamedExpr and isinstance(block, COMPREHENSIONS):
                names.leaked.add(node.target.id)  # type: ignore[attr-defined]
                stack.append(node.value)  # type: ignore[attr-defined]
            else:
                if kind is ast.Call:
                    self._called(node, names)
                elif kind in _BINDING:
                    _BINDING[kind](node, names)
                elif kind.__name__ in _TYPE_PARAMETERS:
                    names.bound.add(node.name)  # type: ignore[attr-defined]
                stack.extend(ast.iter_child_nodes(node))
        _resolve(block, names, inner)
        return names

    def _called(self, node: Any, names: Names) -> None:
        changed = changed_by_call(node, self._rules.mutating_methods, self._rules.mutating_functions)
        if changed is not None:
            names.mutated.add(changed)


def _name(node: Any, names: Names) -> None:
    if isinstance(node.ctx, ast.Load):
        names.reads.add(node.id)
    else:
        names.bound.add(node.id)


def _around(node: Any, nested: Names, names: Names, *, comprehended: bool) -> list[ast.expr]:
    """Add the names of a nested block; returns its expressions that are evaluated outside it."""
    if isinstance(node, COMPREHENSIONS):
        if comprehended:
            names.leaked |= nested.leaked
        else:
            names.bound |= nested.leaked
        return [node.generators[0].iter]
    if not isinstance(node, ast.Lambda):
        names.bound.add(node.name)
    return evaluated_at_definition(node)


def _add_stored(node: Any, names: Names) -> None:
    if not isinstance(node.ctx, ast.Load):
        changed = place(node)
        if changed is not None:
            names.mutated.add(changed)


def _add_augmented(node: Any, names: Names) -> None:
    if isinstance(node.target, ast.Name):
        names.reads.add(node.target.id)


def _imports(node: Any, names: Names) -> None:
    names.bound.update(imported_names(node))


def _add_bound(node: Any, names: Names) -> None:
    if node.name:
        names.bound.add(node.name)


def _rest(node: Any, names: Names) -> None:
    if node.rest:
        names.bound.add(node.rest)


_BINDING: dict[type, Callable[[Any, Names], None]] = {
    ast.Attribute: _add_stored,
    ast.Subscript: _add_stored,
    ast.AugAssign: _add_augmented,
    ast.Global: lambda node, names: names.globals.update(node.names),
    ast.Nonlocal: lambda node, names: names.nonlocals.update(node.names),
    ast.Import: _imports,
    ast.ImportFrom: _imports,
    ast.ExceptHandler: _add_bound,
    ast.MatchAs: _add_bound,
    ast.MatchStar: _add_bound,
    ast.MatchMapping: _rest,
}


def _resolve(block: Block | Comprehension, names: Names, inner: list[Names]) -> None:
    """Remove from `names` what the block binds itself, and add the unresolved names of nested blocks."""
    declared = names.globals | names.nonlocals
    own = names.bound - declared
    names.writes = names.bound & names.nonlocals
    names.global_writes = names.bound & names.globals
    reads, mutated = names.reads, names.mutated
    if isinstance(block, ast.ClassDef):
        # a name read before it is bound is the global one; nested functions do not see `own`
        names.global_reads |= reads & own
        reads, mutated = reads - own, without(mutated, own)
        own = set()
    for nested in inner:
        reads = reads | nested.reads
        mutated = mutated | nested.mutated
        names.writes |= nested.writes - own
        names.global_reads |= nested.global_reads
        names.global_writes |= nested.global_writes
    if isinstance(block, COMPREHENSIONS):
        names.writes -= names.leaked
    names.global_reads |= reads & names.globals
    names.reads = reads - own - names.globals
    names.mutated = without(mutated, own)
    names.bound -= declared


def without(places: set[Place], names: set[str]) -> set[Place]:
    """The places whose variable is not among the names."""
    return {changed for changed in places if changed[0] not in names}


def parameters(arguments: ast.arguments) -> list[str]:
    """The names of all parameters."""
    return [argument.arg for argument in _all(arguments)]


def imported_names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The names that an import binds, except those of a star import, which are unknown."""
    if isinstance(node, ast.Import):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    return [alias.asname or alias.name for alias in node.names if alias.name != "*"]


def evaluated_at_definition(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef, *, annotations: bool = True
) -> list[ast.expr]:
    """Expressions that a definition evaluates: decorators, defaults, annotations, bases."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
    arguments = node.args
    expressions = [
        *arguments.defaults,
        *(argument for argument in arguments.kw_defaults if argument is not None),
    ]
    if isinstance(node, ast.Lambda):
        return expressions
    expressions = [*node.decorator_list, *expressions]
    if annotations:
        expressions += [
            argument.annotation for argument in _all(arguments) if argument.annotation is not None
        ]
        if node.returns is not None:
            expressions.append(node.returns)
    return expressions


def _all(arguments: ast.arguments) -> list[ast.arg]:
    starred = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


def _inside(block: Block | Comprehension) -> list[ast.AST]:
    """The nodes directly in a block, without those that are evaluated outside it."""
    if isinstance(block, ast.Lambda):
        return [block.body]
    if isinstance(block, COMPREHENSIONS):
        inside: list[ast.AST] = [block.key, block.value] if isinstance(block, ast.DictComp) else [block.elt]
        for number, generator in enumerate(block.generators):
            inside += [generator.target, *generator.ifs]
            if number:
                inside.append(generator.iter)
        return inside
    return [*block.body, *getattr(block, "type_params", [])]


class Variables:
    """Resolves names in one block: the analysed function, or a class body in it."""

    def __init__(self, names: Names, *, module: bool) -> None:
        self.names = names
        self.module = module
        self.classes = 0

    def read(self, name: str) -> tuple[str, ...]:
        """The variables to which a read of a name may refer."""
        return (name,)

    def write(self, name: str) -> str:
        """The variable that binding a name binds."""
        return name

    def from_module(self, names: Iterable[str]) -> set[str]:
        """The names of the module that are variables of this block."""
        return set(names) if self.module else set(names) & self.names.globals

    @property
    def dynamic(self) -> bool:
        """Whether code may bind its variables by name, as in a module or class."""
        return self.module

    def looked_up(self, *, everything: bool) -> set[str]:
        """The variables that code may look up by name: all, or those of the module."""
        declared = self.names.globals | (self.names.nonlocals if everything else set())
        return declared | (self.names.bound if everything or self.module else set())

    def captured(self, names: Names) -> tuple[set[str], set[str], set[Place]]:
        """A nested block's effects on this one: the variables it reads and rebinds, the places it changes."""
        return (
            names.reads | self.from_module(names.global_reads),
            names.writes | self.from_module(names.global_writes),
            names.mutated,
        )


class ClassVariables(Variables):
    """The variables of a class body, which can also access those of the enclosing function."""

    def __init__(self, names: Names, outer: Variables) -> None:
        super().__init__(names, module=outer.module)
        self.outer = outer
        while isinstance(outer, ClassVariables):
            outer = outer.outer
        outer.classes += 1
        self.function = outer
        self.mark = f"{MARK}{outer.classes}"

    def read(self, name: str) -> tuple[str, ...]:
        if name not in self.names.bound:
            return self._around(name)
        return (name + self.mark, *self.function.from_module([name]))

    def write(self, name: str) -> str:
        return name + self.mark if name in self.names.bound else name

    @property
    def dynamic(self) -> bool:
        return True

    def looked_up(self, *, everything: bool) -> set[str]:
        of_module = self.function.looked_up(everything=False)
        return self.own() | of_module if everything else of_module

    def own(self) -> set[str]:
        """All variables of the class body."""
        return {name + self.mark for name in self.names.bound}

    def from_module(self, names: Iterable[str]) -> set[str]:
        return self.function.from_module(names)

    def _around(self, name: str) -> tuple[str, ...]:
        return self.function.read(name)  # a class body does not see the names of an enclosing class
