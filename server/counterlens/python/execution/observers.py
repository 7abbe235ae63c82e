"""The observers of one call of a program: they run in the sandbox, and import nothing from Counterlens.

The arguments are the observer, the program's file, the call, its package, and the folders for `sys.path`. The
report is one JSON document on the result descriptor: the observer's entries, and `error`, a text or null.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import traceback
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, FrameType
    from typing import Any, NoReturn

ERROR = 400  # maximum characters kept of an exception's message
LONGEST = 4096  # maximum characters of an output
SEED = "1"
LIMIT = 1000
PLAIN = (bool, int, float, complex, str, bytes, type(None))
MOST_STEPS = 400
MOST_BYTES = 100
SCALARS = (bool, int, float, str, bytes, type(None))


class Observed:
    """The observed program and call; `package` is where its relative imports begin, empty outside of one."""

    def __init__(self, source: str, path: str, call: str, package: str) -> None:
        self.source, self.path, self.call, self.package = source, path, call, package

    def namespace(self, **names: Any) -> dict[str, Any]:
        """A new namespace for the program, with additional names: that of a module which can be looked up."""
        module = sys.modules["observed"] = ModuleType("observed")
        place = {"__package__": self.package} if self.package else {}
        vars(module).update({"__file__": self.path, **place, **names})
        return vars(module)

    def load(self, space: dict[str, Any], code: CodeType | None = None) -> None:
        """Run the program, or other code instead, in a namespace."""
        code = code or compile(self.source, self.path, "exec", dont_inherit=True)
        exec(code, space)  # noqa: S102 - the purpose of the sandbox

    def evaluate(self, space: dict[str, Any]) -> Any:
        """Evaluate the call in a namespace."""
        return eval(compile(self.call, "<call>", "eval", dont_inherit=True), space)  # noqa: S307


def outputs(observed: Observed, report: dict[str, Any]) -> None:
    """Report `outputs`, the results of the call in two fresh runs of the program, to reveal randomness.

    Empty if one of them fails.
    """
    report["outputs"], results = [], []
    for _ in range(2):
        space = observed.namespace()
        observed.load(space)
        results.append(repr(observed.evaluate(space))[:LONGEST])
    report["outputs"] = results


runs: dict[int, dict[str, Any]] = {}


def count_entry(line: int) -> None:
    runs.setdefault(line, {"entries": 0, "count": 0, "values": []})["entries"] += 1


def count_round(line: int, value: object) -> object:
    if value:
        runs[line]["count"] += 1
    return value


def rounds(line: int, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        loop = runs[line]
        loop["count"] += 1
        if len(loop["values"]) < LIMIT:
            loop["values"].append(repr(value) if is_plain(value) else None)
        yield value


def is_plain(value: object) -> bool:
    """Whether a literal can replace the value, because the value is immutable."""
    if type(value) is tuple:
        return all(is_plain(part) for part in value)
    if type(value) is float or type(value) is complex:
        return "inf" not in repr(value) and "nan" not in repr(value)
    return type(value) in PLAIN


class Instrument(ast.NodeTransformer):
    """Inserts reports of each entry and each round of every loop."""

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        self.generic_visit(node)
        node.iter = _call("rounds", node, node.iter)
        return [ast.copy_location(ast.Expr(_call("count_entry", node)), node), node]

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        self.generic_visit(node)
        node.test = _call("count_round", node, node.test)
        return [ast.copy_location(ast.Expr(_call("count_entry", node)), node), node]


def _call(name: str, node: ast.stmt, *arguments: ast.expr) -> ast.expr:
    function = ast.Name(f"__counterlens_{name}", ast.Load())
    return ast.copy_location(ast.Call(function, [ast.Constant(node.lineno), *arguments], []), node)


def loops(observed: Observed, report: dict[str, Any]) -> None:
    """Report `loops`, how often each ran, and over which values: `{line: {"entries", "count", "values"}}`."""
    report["loops"] = runs
    tree = ast.fix_missing_locations(Instrument().visit(ast.parse(observed.source)))
    space = observed.namespace(
        **{f"__counterlens_{hook.__name__}": hook for hook in (count_entry, count_round, rounds)}
    )
    observed.load(space, compile(tree, observed.path, "exec", dont_inherit=True))
    runs.clear()
    observed.evaluate(space)


steps: list[tuple[int, dict[str, str]]] = []


def plain(value: object) -> bool:
    """Whether a literal can represent the value."""
    if type(value) in (list, tuple, set):
        return all(plain(part) for part in value)  # type: ignore[attr-defined]
    if type(value) is dict:
        return all(plain(key) and plain(part) for key, part in value.items())
    if type(value) is float:
        return value - value == 0
    return type(value) in SCALARS


def seen(frame: FrameType) -> dict[str, str]:
    """The plain variables of an activation, as literals."""
    variables = {}
    for name, value in frame.f_locals.items():
        if name.isidentifier() and plain(value):
            written = repr(value)
            if len(written) <= MOST_BYTES:
                variables[name] = written
    return variables


class ActivationTracer:
    """Traces the outermost activation of one code object."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.frame: FrameType | None = None
        self.line = 0
        self.before: dict[str, str] = {}

    def on_call(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "call" and frame.f_code is self.code and self.frame is None and not steps:
            self.frame, self.before = frame, seen(frame)
            return self.on_line
        return None

    def on_line(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line" and frame.f_lineno == self.line:
            return self.on_line  # the same statement continues
        if event in ("line", "return"):
            if self.line and len(steps) < MOST_STEPS:
                now = seen(frame)
                changed = {name: text for name, text in now.items() if self.before.get(name) != text}
                steps.append((self.line, changed))
                self.before = now
            self.line = frame.f_lineno
        if event == "return" or len(steps) >= MOST_STEPS:
            frame.f_trace = None
            sys.settrace(None)
            return None
        return self.on_line


def trace(observed: Observed, report: dict[str, Any]) -> None:
    """Report `steps`, the variables that each line changes: `[[line, {name: literal}]]`, one for each run.

    The outermost activation of the called function is traced; variables count if they have plain values.
    """
    import inspect  # here, because the other observers do not need it

    report["steps"] = steps
    space = observed.namespace()
    observed.load(space)
    function = inspect.unwrap(space[observed.call.partition("(")[0].strip()])
    sys.settrace(ActivationTracer(function.__code__).on_call)
    try:
        observed.evaluate(space)
    finally:
        sys.settrace(None)


def main() -> NoReturn:
    """Make the observation that the arguments name; what it has reported is sent even if it raises."""
    name, path, call, package, *folders = sys.argv[1:]
    if name == "reseeded":
        # Results that depend on the order of a set then differ. Without `exec` (Windows), the seed stays.
        if os.name == "posix" and os.environ.get("PYTHONHASHSEED") != SEED:
            os.set_inheritable(int(os.environ["COUNTERLENS_RESULT_FD"]), True)
            os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": SEED})  # noqa: S606
        name = "outputs"
    with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123
        source = file.read()
    result = int(os.environ.pop("COUNTERLENS_RESULT_FD"))
    sys.path[:0] = folders
    report: dict[str, Any] = {"error": None}
    observed = Observed(source, path, call, package)
    try:
        {"outputs": outputs, "loops": loops, "trace": trace}[name](observed, report)
    except BaseException as caught:
        report["error"] = traceback.format_exception_only(caught)[-1].strip()[:ERROR]
    os.write(result, json.dumps(report).encode())
    os._exit(0)
