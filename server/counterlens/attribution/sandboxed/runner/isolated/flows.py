"""Where what the program gives, or changes, goes in the tests, told from their text.

`for v in f(3): assert v == 6`, `all(…)`, `zip(…)` and `next(…)` in a `map` succeed with nothing at all. What
flows into a loop are calls in what is looped over, and what is assigned, in the same function, to a name in
it. And `f(xs) == sorted(xs)` succeeds where the program empties `xs`. Only a value that is empty, and a call
that changed what it was given, is ever looked up.
"""

from __future__ import annotations

import ast
import builtins
import collections
import linecache
import os
import sys

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType
    from typing import Any

    Span = tuple[int, int, int, int]  # first line, column in bytes, last line, column

_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_LOOPING = {"all", "any", "filter", "map", "next", "starmap", "zip", "zip_longest"}
_SIZED = (list, tuple, set, frozenset, dict, str, bytes, bytearray, range, collections.deque,
          collections.OrderedDict, collections.Counter)  # fmt: skip
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep  # noqa: PTH100, PTH120
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_OURS = __name__.partition(".")[0] + "."
_TYPED = ("<example ", "<doctest ")  # files of examples in docstrings


def is_hollow(value: Any) -> bool:
    """Whether a loop over a plain value, or over a part of a tuple, would run no time."""
    if value is None:
        return True
    kind = type(value)
    return kind in _SIZED and (not value or (kind is tuple and any(map(is_hollow, value))))


class Flows:
    """The texts of the tests, by the files that they are in.

    Args:
        texts: Texts of tests that are no files.
    """

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts
        self._trees: dict[str, list[list[ast.AST]]] = {}
        self._spans: dict[tuple[str, bool], set[Span]] = {}
        self._known: dict[tuple[CodeType, int, bool], bool] = {}

    def into_loop(self) -> bool:
        """Whether what is being asked of the program just now flows into a loop of the tests."""
        return self._is_in(again=False)

    def used_again(self) -> bool:
        """Whether the tests use what they hand to the program just now in another place, too."""
        return self._is_in(again=True)

    def _is_in(self, *, again: bool) -> bool:
        frame = tests_frame()
        if frame is None:
            return False
        place = frame.f_code, frame.f_lasti, again
        if place not in self._known:
            at = _position(frame.f_code, frame.f_lasti, frame.f_lineno)
            spans = self._of(frame.f_code.co_filename, again=again)
            self._known[place] = any(_within(at, span) for span in spans)
        return self._known[place]

    def watch_next(self, ended: Callable[[], None]) -> None:
        """Be told where `next` ends a loop of the tests: in a function that another one of theirs calls."""
        real: Any = builtins.next

        def watched(*arguments: Any) -> Any:
            __tracebackhide__ = True
            try:
                return real(*arguments)
            except StopIteration:
                frame = sys._getframe(1)
                if _is_of_tests(frame) and frame.f_back is not None and _is_of_tests(frame.f_back):
                    ended()
                raise

        vars(builtins)["next"] = watched
        for name, module in list(sys.modules.items()):
            if name.startswith(_OURS) and isinstance(vars(module).get("__builtins__"), dict):
                vars(module)["__builtins__"]["next"] = watched  # the copy that it lends to tests

    def _of(self, name: str, *, again: bool) -> set[Span]:
        if name not in self._trees:
            text = self._texts.get(name)
            self._trees[name] = _scopes("".join(linecache.getlines(name)) if text is None else text)
        if (name, again) not in self._spans:
            find = _handed_over if again else _flowing
            self._spans[name, again] = {span for scope in self._trees[name] for span in find(scope)}
        return self._spans[name, again]


def tests_frame() -> FrameType | None:
    """The innermost frame that is of the tests: not ours, and not of a library."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if _is_of_tests(frame):
            found: FrameType = frame
            return found
        frame = frame.f_back
    return None


def _is_of_tests(frame: FrameType) -> bool:
    name = frame.f_code.co_filename
    if name.startswith("<"):
        return name.startswith(_TYPED)
    if str(frame.f_globals.get("__name__", "")).startswith(_OURS):
        return False
    return not name.startswith(_STANDARD) and not any(folder in name for folder in _PACKAGES)


def _position(code: CodeType, instruction: int, line: int) -> Span:
    """Where an instruction is in its source; of an older Python the line alone."""
    positions: Any = getattr(code, "co_positions", None)
    if positions is not None:
        for number, found in enumerate(positions()):
            if number == instruction // 2 and None not in found:
                return found[0], found[2], found[1], found[3]
    return line, -1, line, -1


def _within(at: Span, span: Span) -> bool:
    if at[1] < 0:
        return span[0] <= at[0] <= span[2]
    if span[1] < 0:
        return (span[0], -1 - span[1], *span[2:]) == at
    return span[:2] <= at[:2] and at[2:] == span[2:]  # a method on a line of its own starts there


def _scopes(text: str) -> list[list[ast.AST]]:
    """The nodes of each outermost function, and those of each class or module without its functions.

    None where it is no Python.
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
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
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


def _flowing(scope: list[ast.AST]) -> Iterator[Span]:
    """The places whose value is looped over.

    Those of whole loops, at which some interpreters take the next item, have their column as `-1 - column`.
    """
    looped, assigned = _looped(scope), _assigned(scope)
    for node in scope:
        if isinstance(node, (ast.For, *_COMPREHENSIONS)):
            line, column, *end = _span(node)
            yield line, -1 - column, end[0], end[1]
        elif isinstance(node, ast.Call) and any(map(_is_looping, _sources(node))):
            yield _span(node)  # where what a `map` in it takes may be asked for
    names: set[str] = set()
    while looped:
        for node in _sources(looped.pop()):
            yield _span(node)
            name = _name(node)
            if name not in names:
                names.add(name)
                looped += assigned.get(name, ())


def _name(target: ast.AST) -> str:
    """What is assigned to or read, in one wording for both."""
    return ast.dump(target).replace("Store()", "Load()")


def _looped(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """What is looped over in some nodes."""
    found: list[ast.AST] = []
    for node in nodes:
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            found.append(node.iter)
        elif isinstance(node, ast.While):
            found.append(node.test)
        elif isinstance(node, ast.Call) and _is_looping(node):
            found += node.args
    return found


def _is_looping(node: ast.AST) -> bool:
    """Whether it is a call that loops over what it is given."""
    if not isinstance(node, ast.Call):
        return False
    return (getattr(node.func, "id", None) or getattr(node.func, "attr", None)) in _LOOPING


def _assigned(nodes: Iterable[ast.AST]) -> dict[str, list[ast.AST]]:
    """What is assigned to each name, by the dump of the name as it is read."""
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
