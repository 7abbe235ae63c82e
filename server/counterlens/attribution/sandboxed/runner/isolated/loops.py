"""Find the loops of tests over results, and their reused arguments, in their source.

These flow into a loop: calls in the iterable; assignments to its names in the same function, in its module,
or as an attribute; results of fixtures and helpers; and arguments of a helper that loops over them.
"""

from __future__ import annotations

import ast
import builtins

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from typing import Any

    Span = tuple[int, int, int, int]  # first line, column in bytes, last line, column

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_LOOPING = {"all", "any", "filter", "map", "next", "starmap", "zip", "zip_longest"}
_BY_FUNCTION = {"filter", "map", "starmap"}  # whose first argument is no value


def places_in(text: str) -> dict[str, set[Span]]:
    """The places in a text of tests, by kind; none if it is no Python.

    `given`: expressions whose value is looped over. `taken`: these, and where items are taken. `again`: calls
    that are given what is used elsewhere, too.
    """
    scopes = _scopes(text)
    given = _Flow(scopes).given()
    around = {span for scope in scopes for span in _around(scope)}
    again = {span for scope in scopes for span in _handed_over(scope)}
    return {"given": given, "taken": given | around, "again": again}


def _scopes(text: str) -> list[list[ast.AST]]:
    """The nodes of each outermost function, and those of each class or module without its functions.

    None if it is no Python.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    scopes: list[list[ast.AST]] = []
    todo: list[ast.AST] = [tree]
    while todo:
        own: list[ast.AST] = []
        stack: list[ast.AST] = list(ast.iter_child_nodes(todo.pop()))
        while stack:
            node = stack.pop()
            if isinstance(node, _FUNCTIONS):
                scopes.append(list(ast.walk(node)))
            elif isinstance(node, ast.ClassDef):
                todo.append(node)
            else:
                own.append(node)
                stack.extend(ast.iter_child_nodes(node))
        scopes.append(own)
    return scopes


def _handed_over(scope: list[ast.AST]) -> Iterator[Span]:
    """The calls whose arguments have names that are read elsewhere, too."""
    read = [node.id for node in scope if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    for node in scope:
        if isinstance(node, ast.Call):
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
            names = {each.id for value in values for each in ast.walk(value) if isinstance(each, ast.Name)}
            if any(read.count(name) > 1 for name in names):
                yield _span(node)


class _Flow:
    """The values that flow into the loops of a file, also through its own functions."""

    def __init__(self, scopes: list[list[ast.AST]]) -> None:
        self._scopes = scopes
        self._helpers: set[str] = set()  # functions of the tests that loop over what they are given
        self._shared: dict[str, list[ast.AST]] = {}
        for scope in scopes:
            own = _assigned(scope)
            of_function = isinstance(scope[0], _FUNCTIONS) if scope else False
            for name, values in own.items():
                if not of_function or name.startswith("Attribute"):
                    self._shared.setdefault(name, []).extend(values)
            for node in scope:
                if isinstance(node, _FUNCTIONS):
                    self._shared.setdefault(_read(node.name), []).extend(_returned(node))

    def given(self) -> set[Span]:
        """The expressions whose value is looped over."""
        while True:
            known = len(self._helpers)
            spans: set[Span] = set()
            for scope in self._scopes:
                spans |= self._of(scope)
            if len(self._helpers) == known:
                return spans

    def _of(self, scope: list[ast.AST]) -> set[Span]:
        looped, assigned = _looped(scope, self._helpers), _assigned(scope)
        spans: set[Span] = set()
        names: set[str] = set()
        while looped:
            for node in _sources(looped.pop()):
                spans.add(_span(node))
                called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                name = _name(node.func if called else node)  # type: ignore[attr-defined]
                if name not in names:
                    names.add(name)
                    looped += [*assigned.get(name, ()), *self._shared.get(name, ())]
        for node in scope:
            if isinstance(node, _FUNCTIONS):
                parameters = [*node.args.args, *node.args.kwonlyargs]
                if any(_read(each.arg) in names for each in parameters):
                    self._helpers.add(node.name)
        return spans


def _around(scope: list[ast.AST]) -> Iterator[Span]:
    """The places at which loops take the next item; a whole loop's column is `-1 - column`."""
    for node in scope:
        if isinstance(node, (ast.For, *_COMPREHENSIONS)):
            line, column, *end = _span(node)
            yield line, -1 - column, end[0], end[1]
        elif isinstance(node, ast.Call) and any(_is_looping(each) for each in _sources(node)):
            yield _span(node)


def _returned(function: ast.AST) -> list[ast.AST]:
    """The values that a function of the tests returns, such as a fixture."""
    found = (each.value for each in ast.walk(function) if isinstance(each, (ast.Return, ast.Yield)))
    return [value for value in found if value is not None]


def _read(name: str) -> str:
    return _name(ast.Name(name, ast.Load()))


def _name(target: ast.AST) -> str:
    """A target or read, in one wording for both."""
    return ast.dump(target).replace("Store()", "Load()")


def _looped(nodes: Iterable[ast.AST], helpers: Container[str]) -> list[ast.AST]:
    """The iterables in some nodes."""
    found: list[ast.AST] = []
    for node in nodes:
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            found.append(node.iter)
        elif isinstance(node, ast.While):  # what is asked of the program there ends it every time
            found += [each for each in ast.walk(node.test) if isinstance(each, ast.Name)]
        elif isinstance(node, ast.Call) and (_is_looping(node) or _called(node) in helpers):
            found += node.args[1:] if _called(node) in _BY_FUNCTION else node.args
    return found


def _called(node: ast.Call) -> str:
    """The name of what is called."""
    return getattr(node.func, "id", None) or getattr(node.func, "attr", None) or ""


def _is_looping(node: ast.AST) -> bool:
    """Whether it is a call that loops over what it is given."""
    return isinstance(node, ast.Call) and _called(node) in _LOOPING


def _assigned(nodes: Iterable[ast.AST]) -> dict[str, list[ast.AST]]:
    """The values assigned to each name, by the dump of the name as it is read."""
    found: dict[str, list[ast.AST]] = {}
    for node in nodes:
        value: Any = getattr(node, "value", None)
        targets: list[Any] = []
        if isinstance(node, ast.Assign):
            targets = list(node.targets)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets = [node.target]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            targets, value = [node.optional_vars], node.context_expr
        while targets and value is not None:
            target = targets.pop()
            if isinstance(target, (ast.Tuple, ast.List)):
                targets += target.elts
            elif isinstance(target, ast.Starred):
                targets.append(target.value)
            else:
                found.setdefault(_name(target), []).append(value)
    return found


def _sources(expression: ast.AST) -> Iterator[ast.AST]:
    """The calls, names and attributes that an expression takes its value from, and itself.

    Neither what a function or a comprehension in it works out for each item, nor what it compares.
    """
    todo = [expression]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Lambda, ast.Compare, *_COMPREHENSIONS)):
            continue
        if isinstance(node, (ast.Call, ast.Name, ast.Attribute)):
            yield node
        if isinstance(node, ast.Call):
            todo += [node.func.value] if isinstance(node.func, ast.Attribute) else []
            todo += node.args
        else:
            todo += ast.iter_child_nodes(node)


def _span(node: Any) -> Span:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
