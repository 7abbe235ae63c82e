"""Find tests that rely on the program: they compare its values with its own values, or let it decide."""

from __future__ import annotations

import ast
import builtins

from .origins import LIBRARY, Origins, arguments, base_of
from .sources import COMPREHENSIONS, FUNCTIONS, called_name

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_SKIPS = ("skip", "importorskip", "xfail")
_BY_NAME = {f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge")}
_RUNNING = {
    "eval",
    "exec",
    "exec_module",
    "import_module",
    "__import__",
    "run_path",
    "run_module",
    "dictConfig",
}
_LOADING = {"load", "loads", "Unpickler"}
_PICKLES = {"pickle", "_pickle", "marshal", "dill", "cloudpickle", "joblib", "shelve", "yaml"}
_CHECKING = ("assert", "raises", "warns", "fail", "check", "expect", "verify")  # in names of checks
_EITHER = {True, False}
_SMALL = 0.01  # tolerance below which tests take numbers as equal


class Reliance:
    """The values of the program in a text of tests; none are found if it is not Python.

    Args:
        text: The tests.
        module: The name under which they import the program.
        cases: The names of the functions that run; all if empty.
    """

    def __init__(self, text: str, module: str, cases: Collection[str] = ()) -> None:
        try:
            self._tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._tree = ast.Module([], [])
        self._cases = cases
        self._origins = Origins(self._tree, module)
        self._nodes = self._origins.nodes
        self._by_methods = False
        self._truths: dict[str, set[bool]] = {}  # method to expected answers
        for node in self._nodes:
            for call, truth in _asserted(node):
                self._truths.setdefault(called_name(call), set()).add(truth)

    @property
    def compares_its_own(self) -> bool:
        """Whether the tests compare values of the program only with other values of the program."""
        return self._is_all_own(())

    @property
    def compares_altered(self) -> bool:
        """The same, with arguments of calls whose results are ignored counted as the program's values."""
        return self._is_all_own(self._origins.altered)

    @property
    def compares_by_methods(self) -> bool:
        """The same, with yes-or-no methods of its objects that get the expected value counted as its own.

        A method that tests expect to answer both yes and no does not count: a fixed answer would fail.
        """
        self._by_methods = True
        try:
            return self._is_all_own(())
        finally:
            self._by_methods = False

    @property
    def skips(self) -> bool:
        """Whether a value of the program decides whether a test is skipped."""
        return any(
            self._origins.is_of_program(name)
            for node in self._nodes
            for condition in _skip_conditions(node)
            for name in ast.walk(condition)
        )

    @property
    def leaves_out(self) -> bool:
        """Whether a value of the program decides whether tests are defined at all."""
        return any(
            isinstance(node, ast.Assign)
            and any(getattr(target, "id", "") == "__test__" for target in node.targets)
            and not isinstance(node.value, ast.Constant)
            for node in self._nodes
        )

    @property
    def compares_by_name(self) -> bool:
        """Whether they call a comparison by its name, which need not return a bool."""
        inside = {id(node) for each in self._nodes if _is_comparison(each) for node in ast.walk(each)}
        return any(
            (isinstance(node, ast.Attribute) and node.attr in _BY_NAME and not _is_super(node.value))
            or (isinstance(node, ast.Constant) and node.value in _BY_NAME)
            for node in self._nodes
            if id(node) not in inside
        )

    @property
    def runs_what_it_gives(self) -> bool:
        """Whether they execute or unpickle values of the program."""
        return any(
            isinstance(node, ast.Call)
            and (called_name(node) in _RUNNING or self._unpickles(node))
            and any(map(self._is_from_program, [node.func, *arguments(node)[:1]]))
            for node in self._nodes
        )

    @property
    def checks_nothing(self) -> bool:
        """Whether they contain no check: they only use the program."""
        for node in self._nodes:
            if isinstance(node, (ast.Assert, ast.Raise)) or (
                isinstance(node, ast.Constant) and ">>>" in str(node.value)
            ):
                return False
            if isinstance(node, ast.Call) and not self._origins.is_of_program(node):
                base = base_of(node)
                known = isinstance(base, ast.Name) and (
                    (base.id in LIBRARY and base.id not in ("self", "cls")) or self._origins.is_own(node)
                )
                if not known or called_name(node).lower().startswith(_CHECKING):
                    return False
        return bool(self._cases)

    @property
    def compares_no_more(self) -> bool:
        """Whether they compare the program's items one by one, but never their number."""
        for scope in self._nodes:
            if isinstance(scope, FUNCTIONS) and any(map(self._is_by_place, ast.walk(scope))):
                compared = [part for side in _compared(scope) for part in ast.walk(side)]
                if not any(isinstance(each, ast.Call) and called_name(each) == "len" for each in compared):
                    return True
        return False

    def touches(self, expression: ast.AST) -> bool:
        """Whether any part of an expression comes from the program."""
        return self._origins.is_touched(expression)

    @property
    def asked(self) -> set[str]:
        """The names that they import from the program, or check whether it has."""
        return self._origins.imported | {
            each.value
            for node in self._nodes
            if isinstance(node, ast.Call) and called_name(node) in ("getattr", "hasattr")
            for each in node.args
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        }

    def _is_all_own(self, also: Collection[str]) -> bool:
        found = [all(self._origins.is_own(side, also) for side in sides) for sides in self._comparisons()]
        return bool(found) and all(found)

    def _comparisons(self) -> Iterator[Sequence[ast.AST]]:
        """The sides of each comparison; a single side if a value only has to be true."""
        for scope in self._nodes if self._cases else [self._tree]:
            if self._cases and not (isinstance(scope, FUNCTIONS) and scope.name in self._cases):
                continue
            for node in ast.walk(scope):
                if isinstance(node, ast.Compare):
                    if not any(map(_is_comparison, _sides(node))):
                        yield self._sides_of(node)
                elif isinstance(node, ast.Assert):
                    if not any(isinstance(each, ast.Compare) for each in ast.walk(node.test)):
                        yield self._of_truth(node.test)
                elif isinstance(node, ast.Call) and called_name(node).lower().startswith(
                    ("assert", "raises")
                ):
                    compared = any(isinstance(each, ast.Compare) for each in node.args[:1])
                    if not compared:
                        yield [node] if self._judges(node) else self._of_call(node)

    def _of_call(self, node: ast.Call) -> Sequence[ast.AST]:
        if len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
            return [node.args[0].value]
        if len(node.args) == 1 and called_name(node).lower() in ("asserttrue", "assertfalse"):
            return self._of_truth(node.args[0])
        return [*node.args[:2]] if len(node.args) > 1 else [ast.Constant(True)]

    def _sides_of(self, node: ast.Compare) -> Sequence[ast.AST]:
        sides = _sides(node)
        if len(sides) == 2 and any(isinstance(side, ast.Constant) for side in sides):
            left = sides[0] if isinstance(sides[1], ast.Constant) else sides[1]
            if any(isinstance(side, ast.Constant) and type(side.value) is bool for side in sides):
                return self._of_truth(left)
            while isinstance(left, ast.Call) and called_name(left) in ("abs", "round", "bool") and left.args:
                left = left.args[0]
            none = any(isinstance(side, ast.Constant) and _is_small(side.value) for side in sides)
            if none and isinstance(left, ast.BinOp) and isinstance(left.op, (ast.Sub, ast.BitXor)):
                return [left.left, left.right]
        return sides

    def _of_truth(self, test: ast.AST) -> Sequence[ast.AST]:
        """The sides of a value that has to be true, or false."""
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test = test.operand
        if isinstance(test, ast.Call):
            if self._judges(test):
                return [test]
            if called_name(test) in ("all", "any") and test.args and isinstance(test.args[0], COMPREHENSIONS):
                return self._of_truth(getattr(test.args[0], "elt", ast.Constant(True)))
            library = not self._origins.is_of_program(test) and not self._origins.is_made(test.func)
            if library and len(test.args) > 1:
                return test.args[:2]
        return [ast.Constant(True)]

    def _judges(self, node: ast.AST) -> bool:
        """Whether a node is a call in which the program compares a value of its own with another one."""
        if not isinstance(node, ast.Call):
            return False
        method = node.func if self._by_methods else None
        if isinstance(method, ast.Attribute) and node.args and self._origins.is_made(method.value):
            return self._truths.get(method.attr) != _EITHER
        if not self._origins.is_of_program(node.func) or len(node.args) < 2:
            return False
        parts = [part for argument in node.args for part in ast.walk(argument)]
        return any(isinstance(part, ast.Call) and self._origins.is_of_program(part.func) for part in parts)

    def _is_from_program(self, node: ast.AST) -> bool:
        return self._origins.is_touched(node, self._origins.handed)

    def _unpickles(self, call: ast.Call) -> bool:
        base = base_of(call)
        if called_name(call) not in _LOADING or not isinstance(base, ast.Name):
            return False
        imported = any(
            isinstance(node, ast.ImportFrom)
            and (node.module or "").partition(".")[0] in _PICKLES
            and any(base.id == (alias.asname or alias.name) for alias in node.names)
            for node in self._nodes
        )
        renamed = any(
            isinstance(node, ast.Import)
            and any(alias.asname == base.id and alias.name in _PICKLES for alias in node.names)
            for node in self._nodes
        )
        return base.id in _PICKLES or imported or renamed

    def _is_by_place(self, node: ast.AST) -> bool:
        """Whether it loops over the indices of the program's value, and uses them in another one."""
        if isinstance(node, ast.For):
            loops, body = [(node.target, node.iter)], list(node.body)
        elif isinstance(node, (ast.GeneratorExp, ast.ListComp)):
            loops, body = [(each.target, each.iter) for each in node.generators], [node.elt]  # type: ignore[list-item]
        else:
            return False
        for target, iterable in loops:
            if not (isinstance(iterable, ast.Call) and called_name(iterable) in ("enumerate", "range")):
                continue
            given = iterable.args[-1] if iterable.args else iterable
            if called_name(iterable) == "range":
                if not (isinstance(given, ast.Call) and called_name(given) == "len" and given.args):
                    continue
                given = given.args[0]
            if self._origins.is_own(given) and self._looks_elsewhere(target, body):
                return True
        return False

    def _looks_elsewhere(self, target: ast.AST, body: Sequence[ast.AST]) -> bool:
        first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
        return any(
            isinstance(each, ast.Subscript)
            and any(getattr(part, "id", "") == getattr(first, "id", None) for part in ast.walk(each.slice))
            and not self._origins.is_own(each.value)
            for part in body
            for each in ast.walk(part)
        )


def _sides(node: ast.Compare) -> list[ast.expr]:
    return [node.left, *node.comparators]


def _compared(scope: ast.AST) -> Iterator[ast.AST]:
    """All operands of comparisons, and arguments of assertions, in a function."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Compare):
            yield from _sides(node)
        elif isinstance(node, ast.Call) and called_name(node).lower().startswith("assert"):
            yield from node.args


def _is_comparison(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare)


def _is_small(value: object) -> bool:
    return isinstance(value, (int, float)) and abs(value) < _SMALL


def _is_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called_name(node) == "super"


def _asserted(node: ast.AST) -> Iterator[tuple[ast.Call, bool]]:
    """The calls that an assertion requires to be true, or false."""
    todo: list[tuple[ast.AST, bool]] = []
    if isinstance(node, ast.Assert):
        todo = [(node.test, True)]
    elif isinstance(node, ast.Call) and node.args and called_name(node) in ("assertTrue", "assertFalse"):
        todo = [(node.args[0], called_name(node) == "assertTrue")]
    while todo:
        test, truth = todo.pop()
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            todo.append((test.operand, not truth))
        elif isinstance(test, ast.BoolOp):
            todo += [(each, truth) for each in test.values]
        elif isinstance(test, ast.Compare) and len(test.comparators) == 1:
            value, kind = test.comparators[0], test.ops[0]
            if isinstance(value, ast.Constant) and type(value.value) is bool:
                same = isinstance(kind, (ast.Is, ast.Eq))
                todo.append((test.left, truth == (value.value == same)))
        elif isinstance(test, ast.Call):
            yield test, truth
            if called_name(test) in ("all", "any") and test.args and isinstance(test.args[0], COMPREHENSIONS):
                todo.append((getattr(test.args[0], "elt", test.func), truth))


def _skip_conditions(node: ast.AST) -> Iterator[ast.AST]:
    """The conditions under which a node skips tests."""
    if isinstance(node, ast.Call) and called_name(node).startswith(_SKIPS):
        yield from node.args
    if isinstance(node, ast.If) and any(map(_is_skip, node.body)):
        yield node.test
    if isinstance(node, ast.Try) and any(map(_is_skip, node.handlers)):
        yield from node.body


def _is_skip(statement: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Call) and called_name(each).lower().startswith(_SKIPS)
        for each in ast.walk(statement)
    )
