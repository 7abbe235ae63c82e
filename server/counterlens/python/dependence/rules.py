"""Options of the analysis of Python; the defaults agree best with people's labels.

The objects that a statement changes are determined by names:

- A place is a variable and the first selector after it: `x.a`, `x['k']`, `x[0]`, or `x` as a whole. Different
  attribute names and different constant keys are different places; a whole overlaps all its parts.
- A store to or deletion of an attribute or subscript (`x.a = v`, `x.a[i] += v`, `del x[i]`) is a weak update
  of its place: it adds a definition and kills none, because the object keeps its other parts.
- A call of a method in `MUTATING_METHODS` is a weak update of its receiver: `x.append(v)`,
  `x.rows[i].append(v)`. The method's name decides; the receiver's type is ignored.
- A call of a function in `MUTATING_FUNCTIONS` is a weak update of its first argument: `heappush(x, v)`,
  `random.shuffle(x)`.
- A call of a method in `RESETTING_METHODS` on a variable itself makes earlier changes of the object
  invisible: it kills the changes, but not the binding.

Approximations:

- After the first selector, everything is one place: `x.a.b` and `x.a.c` (too many edges).
- Negative, computed and sliced indices may be any index (too many edges).
- Aliases are not followed: after `y = x`, an update through `y` does not define `x` (too few edges).
- A call changes none of its arguments, except as listed below (too few edges). The rule that every argument
  may be changed agrees much less with what people label as a dependence.
- A receiver that is itself the result of a call, `f(x).append(v)`, is not a place (too few edges).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from counterlens.dependence.effects import Place, Rules

MUTATING_METHODS = frozenset(
    {
        *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"),  # list
        *("fromlist", "frombytes", "byteswap"),  # array
        *("update", "setdefault", "popitem", "subtract", "move_to_end"),  # dict, Counter, OrderedDict
        *("add", "discard", "intersection_update", "difference_update", "symmetric_difference_update"),  # set
        *("appendleft", "extendleft", "popleft", "rotate"),  # deque
        *("put", "put_nowait"),  # queues
        *("read", "readline", "readlines", "readinto", "write", "writelines", "seek", "truncate"),  # files
        *("__next__", "send", "throw"),  # iterators and generators
        *("__setitem__", "__delitem__", "__setattr__", "__delattr__", "__iadd__"),
    }
)

MUTATING_FUNCTIONS = frozenset(
    {
        *("heappush", "heappop", "heapify", "heappushpop", "heapreplace"),
        *("insort", "insort_left", "insort_right", "shuffle"),
        *("next", "anext"),
        *("setattr", "delattr", "setitem", "delitem"),
    }
)

RESETTING_METHODS = frozenset({"clear", "sort"})


def place(node: ast.expr) -> Place | None:
    """The place of a chain of attributes and subscripts; None if it does not start with a name."""
    last = None
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        if not isinstance(node, ast.Starred):
            last = node
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return node.id, "" if last is None else selector(last)


def selector(node: ast.Attribute | ast.Subscript) -> str:
    """The selector of an attribute or subscript; empty if it is not constant."""
    if isinstance(node, ast.Attribute):
        return f".{node.attr}"
    key = node.slice
    if isinstance(key, ast.Constant) and type(key.value) in (str, int):
        return f"[{key.value!r}]"
    return ""


def changed_by_call(call: ast.Call, methods: frozenset[str], functions: frozenset[str]) -> Place | None:
    """The place whose object a call changes, by the name of the callee; None if it changes none."""
    callee = call.func
    if isinstance(callee, ast.Attribute):
        name = callee.attr
        if name in methods:
            return place(callee.value)
    elif isinstance(callee, ast.Name):
        name = callee.id
    else:
        return None
    return place(call.args[0]) if name in functions and call.args else None


@dataclass(frozen=True, slots=True)
class PythonRules(Rules):
    """The options of the analysis of a Python function: those of all languages, and the effects of calls.

    Attributes:
        mutating_methods: Methods that change their receiver.
        mutating_functions: Functions that change their first argument.
        resetting_methods: The methods that make earlier changes invisible.
        suppressors: Context managers that may swallow an exception.
        terminators: Calls that do not return, as written in the source.
        eager: Callables that call a lambda argument, or consume a generator expression, before they return.
    """

    mutating_methods: frozenset[str] = MUTATING_METHODS
    mutating_functions: frozenset[str] = MUTATING_FUNCTIONS
    resetting_methods: frozenset[str] = RESETTING_METHODS
    suppressors: frozenset[str] = frozenset(
        {"suppress", "raises", "assertRaises", "assertRaisesRegex", "ExitStack", "AsyncExitStack"}
    )
    terminators: frozenset[str] = frozenset({"exit", "quit", "sys.exit", "os._exit", "os.abort"})
    eager: frozenset[str] = frozenset(
        {
            *("sorted", "sort", "min", "max", "sum", "any", "all", "join", "reduce"),
            *("list", "tuple", "set", "frozenset", "dict", "Counter"),
        }
    )

    @classmethod
    def of(cls, rules: Rules) -> PythonRules:
        """Options with Python's defaults for what they leave open."""
        return rules if isinstance(rules, cls) else cls(implicit_exceptions=rules.implicit_exceptions)
