"""Observed definition-use pairs and the order of statements, from the interpreter's own instructions.

This module is independent of the analysis. CPython compiles a program and runs it with opcode tracing
(`sys.settrace`); every instruction that stores, deletes or loads a variable gives its name, and its source
position gives the statement. A variable belongs to the code object that owns its cell, or whose local it is;
captured variables are looked up in the live activation on the stack. If several are live, or the owner has
returned more than once, the use is left out as ambiguous. The names of the instructions are those of Python
3.11.
"""

from __future__ import annotations

import ast
import dis
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FrameType
from typing import Any

FILE = "<program>"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
PARTS = ("body", "handlers", "orelse", "finalbody", "cases")
Position = tuple[int, int]


@dataclass
class Activation:
    """One call of one code object.

    Attributes:
        code: The code object.
        made: The line of the statement that bound each variable last.
        order: The statements that ran, once for each time that control reached them.
        ended: Whether the call returned.
        raised: Whether an exception was observed in it.
    """

    code: CodeType
    made: dict[str, int] = field(default_factory=dict)
    order: list[ast.AST] = field(default_factory=list)
    ended: bool = False
    raised: bool = False


@dataclass
class Block:
    """A function, a class body or the module, with its code object and its syntax node."""

    code: CodeType
    outer: Block | None
    node: ast.AST | None
    qualname: str
    located: dict[Position, ast.AST | None] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int]:
        """Its qualified name and the line of its `def`; several functions may have one name."""
        return self.qualname, getattr(self.node, "lineno", 0)

    @property
    def target(self) -> Block:
        """The function or module in which this code runs inline, or is nested as part of a statement."""
        block = self
        while not isinstance(block.node, (*FUNCTIONS, ast.Module)):
            assert block.outer is not None
            block = block.outer
        return block


class Tracer:
    """Runs a program, and observes it.

    Args:
        source: The program.
        most: Maximum number of observed instructions; the rest of the run is not observed.
    """

    def __init__(self, source: str, most: int = 300_000) -> None:
        self.tree = ast.parse(source)
        self.code = compile(source, FILE, "exec", dont_inherit=True)
        self.pairs: set[tuple[tuple[str, int], int, int, str]] = set()
        self.activations: list[tuple[Block, Activation]] = []
        self.left = most
        self.names: dict[str, Any] = {"__name__": "__program__"}
        self._blocks: dict[CodeType, Block] = {}
        self._steps: dict[CodeType, dict[int, tuple[str, Any, Position | None]]] = {}
        self._running: dict[int, tuple[FrameType, Activation]] = {}
        self._past: dict[CodeType, list[Activation]] = {}
        self._nodes = {
            (min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.name): node
            for node in ast.walk(self.tree)
            if isinstance(node, (*FUNCTIONS, ast.ClassDef))
        }
        self._register(self.code, None)

    @property
    def blocks(self) -> list[Block]:
        """All blocks, each before those nested in it."""
        return list(self._blocks.values())

    @cached_property
    def syntax(self) -> list[ast.AST]:
        """All nodes of the program."""
        return list(ast.walk(self.tree))

    def run(
        self, then: Callable[[dict[str, Any]], object] | None = None, names: dict[str, Any] | None = None
    ) -> None:
        """Run the program, then a function with its globals; their exceptions propagate."""
        self.names.update(names or {})
        self.watch(lambda: exec(self.code, self.names))  # noqa: S102 - programs of the tests and of datasets
        if then is not None:
            self.watch(lambda: then(self.names))

    def watch(self, work: Callable[[], object]) -> None:
        """Trace a function that runs parts of the program."""
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            work()
        finally:
            sys.settrace(before)

    def _register(self, code: CodeType, outer: Block | None) -> None:
        node: ast.AST | None = self.tree
        qualname = "<module>"
        if outer is not None:
            node = self._nodes.get((code.co_firstlineno, code.co_name))
            around = "" if outer.outer is None else f"{outer.qualname}."
            qualname = around + code.co_name
        block = self._blocks[code] = Block(code, outer, node, qualname)
        positions = list(code.co_positions())
        steps = self._steps[code] = {}
        for step in dis.get_instructions(code):
            line, _, column, _ = positions[step.offset // 2]
            position = None if line is None or column is None else (line, column)
            steps[step.offset] = (step.opname, step.argval, position)
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                self._register(inner, block)

    def _call(self, frame: FrameType, *_: object) -> Any:
        code = frame.f_code
        if code.co_filename != FILE or self.left <= 0:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if id(frame) not in self._running:
            activation = Activation(code)
            self._running[id(frame)] = (frame, activation)
            block = self._blocks[code]
            self.activations.append((block, activation))
            if isinstance(block.node, FUNCTIONS):
                count = code.co_argcount + code.co_kwonlyargcount
                count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
                activation.made.update(dict.fromkeys(code.co_varnames[:count], block.node.lineno))
        return self._step

    def _step(self, frame: FrameType, event: str, _: object) -> Any:
        _, activation = self._running[id(frame)]
        if event == "opcode":
            self.left -= 1
            if self.left <= 0:
                sys.settrace(None)  # the rest runs at full speed
                return None
            self._instruction(frame, activation)
        elif event == "exception":
            self._noted(frame, activation, self._blocks[frame.f_code]).raised = True
        elif event == "return":
            steps = self._steps[frame.f_code]
            if steps[frame.f_lasti][0] not in {"YIELD_VALUE", "SEND", "RESUME"}:
                activation.ended = True
                self._past.setdefault(frame.f_code, []).append(activation)
                del self._running[id(frame)]
        return self._step

    def _instruction(self, frame: FrameType, activation: Activation) -> None:
        name, variable, position = self._steps[frame.f_code][frame.f_lasti]
        block = self._blocks[frame.f_code]
        action, _, kind = name.partition("_")
        owner = None
        if action in {"LOAD", "STORE", "DELETE"} and kind in _KINDS:
            owner = self._owner(frame, activation, block, variable, kind)
        if owner is not None and action == "DELETE":  # no position at the end of a handler
            owner.made.pop(variable, None)
        if position is None or (isinstance(block.node, ast.ClassDef) and position < spans(block.node)[0]):
            return  # the prologue of a class body has made-up positions
        where = self._statement(block.target, position)
        if where is None:
            return
        order = self._noted(frame, activation, block).order
        in_line = block.target is block or isinstance(block.node, ast.ClassDef)
        if in_line and (not order or order[-1] is not where):
            order.append(where)
        if owner is not None:
            self._variable(action, variable, position, owner)

    def _noted(self, frame: FrameType, activation: Activation, block: Block) -> Activation:
        """The activation of a step; for a class body, that of the function around it."""
        while isinstance(block.node, ast.ClassDef) and block.outer is not None and frame.f_back is not None:
            block, frame = block.outer, frame.f_back
            while frame.f_code is not block.code and frame.f_back is not None:
                frame = frame.f_back
            _, activation = self._running.get(id(frame), (frame, activation))
        return activation

    def _variable(self, action: str, variable: str, position: Position, owner: Activation) -> None:
        belongs = self._blocks[owner.code]
        if belongs.node is None:  # a comprehension's or a lambda's own variable
            return
        line = line_of(self._statement(belongs.target, position))
        if line is None:
            return
        if action == "STORE":
            owner.made[variable] = line
        elif action == "LOAD" and variable in owner.made:
            self.pairs.add((belongs.target.key, owner.made[variable], line, variable))

    def _owner(
        self, frame: FrameType, activation: Activation, block: Block, variable: str, kind: str
    ) -> Activation | None:
        """The activation whose variable an instruction uses."""
        code = frame.f_code
        if kind == "FAST" and variable not in code.co_cellvars:
            return activation if isinstance(block.node, FUNCTIONS) else None
        if kind in {"NAME", "CLASSDEREF"} and (
            variable in activation.made or self._steps[code][frame.f_lasti][0].startswith("STORE")
        ):
            return activation
        owner: Block | None = block
        if kind in {"NAME", "GLOBAL"}:
            owner = self._blocks[self.code]
        else:
            while owner is not None and variable not in owner.code.co_cellvars:
                owner = owner.outer
        return None if owner is None else self._activation(frame, activation, owner.code)

    def _activation(self, frame: FrameType, activation: Activation, code: CodeType) -> Activation | None:
        if frame.f_code is code:
            return activation
        live = []
        back: FrameType | None = frame.f_back
        while back is not None:
            if back.f_code is code and id(back) in self._running:
                live.append(self._running[id(back)][1])
            back = back.f_back
        past = self._past.get(code, [])
        if len(live) == 1:
            return live[0]
        return past[0] if not live and len(past) == 1 else None

    def _statement(self, block: Block, position: Position) -> ast.AST | None:
        """The innermost statement of a function or module around a position; None for its own header."""
        if position not in block.located:
            found: ast.AST | None = None
            inside = list(inner_statements(block.node))
            while inside:
                node = inside.pop()
                if spans(node)[0] <= position < spans(node)[1]:
                    found = node
                    inside = [] if isinstance(node, FUNCTIONS) else list(inner_statements(node))
            block.located[position] = found
        return block.located[position]


_KINDS = {"FAST", "NAME", "GLOBAL", "DEREF", "CLASSDEREF"}


def inner_statements(node: ast.AST | None) -> Iterator[ast.AST]:
    """The statements, clauses and cases directly inside a node."""
    for part in PARTS:
        inner = getattr(node, part, ())
        if isinstance(inner, list):
            yield from inner


def spans(node: ast.AST) -> tuple[Position, Position]:
    """The source range of a statement, clause or case."""
    if isinstance(node, ast.match_case):
        last = node.body[-1]
        return (node.pattern.lineno, 0), (last.end_lineno or 0, last.end_col_offset or 0)
    decorators = [(d.lineno, 0) for d in getattr(node, "decorator_list", ())]
    start = min([(node.lineno, node.col_offset), *decorators])  # type: ignore[attr-defined]
    return start, (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def line_of(node: ast.AST | None) -> int | None:
    """The line that identifies a statement."""
    if node is None:
        return None
    return (node.pattern if isinstance(node, ast.match_case) else node).lineno  # type: ignore[attr-defined, no-any-return]
