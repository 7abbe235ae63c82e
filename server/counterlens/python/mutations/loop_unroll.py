"""`loop-unroll`: replaces a loop by its body, repeated as often as it ran for one input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import OBSERVED_INPUT, Concept
from counterlens.mutations.edits import Edit, Piece, Slice
from counterlens.mutations.layout import dedenting
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.counting import own_parts
from counterlens.python.mutations.layout import block_indent
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation


@dataclass(frozen=True, slots=True)
class Rounds:
    """The observed execution of a loop.

    Attributes:
        count: Number of complete runs of its body.
        values: For a `for`, the values of its target in order, as Python literals.
        entries: Number of times the loop was entered; only a loop entered once can be unrolled.
    """

    count: int
    values: tuple[str, ...] = ()
    entries: int = 1


class LoopUnroll(PythonMutation):
    """Replace a loop by its body, repeated as often as it ran for one observed input.

    It preserves the behaviour for that input only, so it needs the observation:
    `LoopUnroll({line: Rounds(...)})`. Each iteration of a `for` begins by binding the target to its value,
    and each iteration of a `while` drops the condition. Loops with `break` or `continue`, and loops that are
    entered more than once, are refused.
    """

    id = "loop-unroll"
    concept = Concept.CONTROL_FLOW
    source = "Liu et al. 2024, Table IV"
    needs_observation = True
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(before="def f(xs):\n    for x in xs:\n        g(x)\n", refused="no execution"),
    )

    def __init__(self, observed: Mapping[int, Rounds] | None = None, limit: int = 200) -> None:
        """`observed`: executions by the 1-based line of the loop; `limit`: maximum number of iterations."""
        self.observed = dict(observed or {})
        self.limit = limit

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for node in (*module.nodes(cst.For), *module.nodes(cst.While)):
            assert isinstance(node, cst.For | cst.While)
            rounds = self.observed.get(module.line(module.start(node)))
            reason = self._refusal(context, node, rounds)
            if reason is not None or rounds is None:
                yield SiteRefused(module.start(node), reason or "")
            else:
                yield _site(module, node, rounds)

    def _refusal(
        self, context: PythonContext, node: cst.For | cst.While, rounds: Rounds | None
    ) -> str | None:
        if rounds is None:
            return "no execution of this loop was observed"
        if rounds.entries != 1:
            return f"the loop was entered {rounds.entries} times"
        if rounds.count > self.limit:
            return f"the loop ran {rounds.count} iterations, more than {self.limit}"
        if not isinstance(node.body, cst.IndentedBlock):
            return "its body is on the line of its header"
        if any(isinstance(part, cst.Break | cst.Continue) for part in own_parts(node.body)):
            return "a `break` or `continue` needs the loop"
        if isinstance(node, cst.For):
            if len(rounds.values) != rounds.count:
                return "the values of the loop variable are not all known"
            return None if node.asynchronous is None else "it is asynchronous"
        effects = context.effects.of(node.test)
        return None if effects.inert and not effects.writes else "its condition has side effects"


def _site(module: Module, node: cst.For | cst.While, rounds: Rounds) -> Site:
    start, _ = module.span(node)
    base, newline = module.indentation(node), module.newline
    bodies = [node.body] if node.orelse is None else [node.body, node.orelse.body]
    dedents: list[Edit] = []
    texts: list[tuple[int, int]] = []
    for suite in bodies:
        block = cst.ensure_type(suite, cst.IndentedBlock)
        first, last = module.end(block.header), module.suite(block)[1]
        dedents += dedenting(module, first, last, base, block_indent(module, block))
        texts.append((first, last))
    pieces: list[Piece] = []
    for number in range(rounds.count):
        if isinstance(node, cst.For):
            target = Slice(*module.outer(node.target))
            pieces += [base if pieces else "", target, f" = {rounds.values[number]}{newline}"]
        pieces += [Slice(*texts[0]), newline]
    if node.orelse is not None:
        pieces += [Slice(*texts[1]), newline]
    if not pieces:
        pieces = ["pass", newline]
    pieces.pop()  # the last line keeps its original line end
    begins = start if isinstance(node, cst.For) and rounds.count else module.line_start(start)
    if not rounds.count and node.orelse is None:
        begins = start
    return Site(
        span=module.span(node),
        description=f"unrolled the loop, which ran {rounds.count} iterations for the observed input",
        edits=(Edit(begins, texts[-1][1], tuple(pieces)), *dedents),
        assumptions=(OBSERVED_INPUT,),
        sole=True,
    )
