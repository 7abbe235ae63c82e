"""The scopes, against CPython's own symbol table."""

from __future__ import annotations

import ast
import symtable
from collections import Counter
from pathlib import Path

import libcst as cst
import pytest

from counterlens.errors import SourceError
from counterlens.python.mutations.module import Module, Scopes
from counterlens.python.mutations.variables import Role, Scope, ScopeKind
from counterlens.text import decode
from tests.standard_library import library_files

FILES = library_files({"test", "tests", "idle_test", "site-packages", "lib2to3"})

KINDS = {
    ScopeKind.MODULE: "module",
    ScopeKind.CLASS: "class",
    ScopeKind.FUNCTION: "function",
    ScopeKind.LAMBDA: "function",
    ScopeKind.COMPREHENSION: "function",
}
IN_EVERY_CLASS = {"__module__", "__qualname__"}
Summary = Counter[tuple[str, frozenset[str], frozenset[str]]]


def of_symtable(source: str) -> Summary:
    found: Summary = Counter()

    def visit(table: symtable.SymbolTable) -> None:
        symbols = [s for s in table.get_symbols() if not s.get_name().startswith((".", "_["))]
        top = table.get_type() == "module"
        local = {s.get_name() for s in symbols if s.is_local() or (top and s.is_assigned())}
        free = {s.get_name() for s in symbols if s.is_free()} - {"__class__"}
        if table.get_type() == "class":
            local -= IN_EVERY_CLASS
        found[str(table.get_type()), frozenset(local), frozenset(free)] += 1
        for child in table.get_children():
            visit(child)

    visit(symtable.symtable(ast.unparse(_Uninlined().visit(ast.parse(source))), "<source>", "exec"))
    return found


class _Uninlined(ast.NodeTransformer):
    """Comprehensions as generators, with the same names: from Python 3.12 on, only these have a table."""

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(node.elt, node.generators))

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(node.elt, node.generators))

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(ast.Tuple([node.key, node.value]), node.generators))


def of_scopes(scopes: Scopes) -> Summary:
    found: Summary = Counter()
    for scope in scopes.all():
        free = {
            o.name
            for inner in scope.inside()
            for o in inner.occurrences
            if o.variable and o.variable.scope in set(scope.around()) and o.variable.scope.is_function
        }
        local = {mangled(name, scope) for name, v in scope.variables.items() if binds(v.scope, name)}
        free = {mangled(name, scope) for name in free}
        if scope.kind is ScopeKind.CLASS:
            local -= IN_EVERY_CLASS
        found[KINDS[scope.kind], frozenset(local), frozenset(free)] += 1
    return found


def binds(scope: Scope, name: str) -> bool:
    """The module's variables that only functions bind are not in the module's own symbol table."""
    if scope.kind is not ScopeKind.MODULE:
        return True
    return any(o.name == name and o.role not in {Role.USE, Role.DECLARE} for o in scope.occurrences)


def mangled(name: str, scope: Scope) -> str:
    if not name.startswith("__") or name.endswith("__"):
        return name
    for outer in (scope, *scope.around()):
        if isinstance(outer.node, cst.ClassDef):
            return f"_{outer.node.name.value.lstrip('_')}{name}"
    return name


@pytest.mark.parametrize("path", FILES[::27], ids=lambda p: p.stem)
def test_scopes_of_the_standard_library(path: Path) -> None:
    source = decode(path.read_bytes()).text
    try:
        module = Module(source)
    except SourceError as error:
        pytest.skip(str(error))
    assert of_scopes(module.scopes) == of_symtable(source)


PROGRAMS = {
    "closure": """
def f(a):
    b = 1
    def g():
        nonlocal b
        b += a
        return b
    return g
""",
    "global": """
x = 1
def f():
    global x, y
    x = y = 2
    return [x for _ in y]
""",
    "comprehension": """
def f(n):
    return [[i * j * n for j in range(i)] for i in range(n) if i]
""",
    "walrus": """
def f(xs):
    return [y for x in xs if (y := x)], y
""",
    "walrus in a module": """
r = [y for x in (1, 2) if (y := x)]
""",
    "match": """
def f(v):
    match v:
        case [a, *b]: return a, b
        case {'k': c, **d}: return c, d
        case P(x=e) as g if e: return g
        case _: pass
""",
    "except": """
def f():
    try: pass
    except E as e: return lambda: e
    with a as (b, c[0]): del b
""",
    "class": """
def f(x):
    class A(x):
        y = x
        def m(self): return x, y, __z
    return A
""",
    "annotation": """
def f():
    x: int
    y: int = 1
    a.b: x = 2
    def g(): return x
""",
    "imports": """
def f():
    import a.b, c as d
    from . import e, g as h
    return lambda a=a, *b, **k: (a, d, e)
""",
    "defaults": """
def f(x, y=lambda x: x, *, z=[x for x in ()]) -> x: return {k: v for k, v in x}
""",
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_scopes_of_each_construct(source: str) -> None:
    assert of_scopes(Module(source).scopes) == of_symtable(source)
