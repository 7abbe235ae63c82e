"""The functions on which influence is measured, their dependences, and a model's reactions to changes."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.python.dependence.sandboxed import traced
from tests.python.dependence.tracing import line_of

from counterlens.datasets import open_dataset
from counterlens.dependence import Kind
from counterlens.models import Model
from counterlens.probes.dependence import reactions
from counterlens.probes.dependence.estimators import PairScores
from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.reactions import Reaction, react
from counterlens.python.dependence.program import Program

Pair = tuple[int, int]
Change = reactions.Intervention
KINDS = (Change.HIDE, Change.RENAME, Change.REPLACE, Change.NEGATE, Change.NEUTRALISE)
MOST_BYTES = 700


@dataclass(frozen=True)
class Case:
    """One function, its true dependences, and the model's reactions."""

    subject: ExaminedFunction
    data: set[Pair]
    control: set[Pair]
    executed: set[Pair]
    ran: set[int]
    reactions: list[Reaction]

    def run(self, pairs: PairScores) -> PairScores:
        """The pairs of which both statements ran."""
        return {pair: value for pair, value in pairs.items() if {*pair} <= self.ran}


def subjects(data: Path, seed: int, first: int = 1) -> Iterator[tuple[ExaminedFunction, str]]:
    """The reported functions, with the call of each; from place 0, those on which choices were made."""
    chosen = []
    for problem in open_dataset(data / "cruxeval"):
        program = Program(problem.source)
        alone = program.functions == [problem.function] and problem.source.startswith("def ")
        if alone and len(problem.source) < MOST_BYTES:
            chosen.append((problem, program))
    random.Random(seed).shuffle(chosen)  # noqa: S311 - a sample, no secret
    for problem, program in chosen[first::2]:
        yield ExaminedFunction.of(program.dependences(problem.function or "")), problem.call or ""


def executed(subject: ExaminedFunction, call: str) -> tuple[set[Pair], set[int]]:
    """The observed definition-use pairs of names in a run, and the statements that ran, by id."""
    tracer = traced(subject.dependences.source, call)
    ids = {part.statement.line: part.statement.id for part in subject.parts}
    name = subject.dependences.function
    pairs = {(ids[made], ids[used]) for where, made, used, _ in tracer.pairs if where[0] == name}
    lines = {
        line_of(node) for block, one in tracer.activations if block.qualname == name for node in one.order
    }
    return pairs, {0, *(ids[line] for line in lines if line in ids)}


def measured(model: Model, chosen: list[tuple[ExaminedFunction, str]], lead: str) -> list[Case]:
    """Every function with the model's reactions."""
    cases = []
    for done, (subject, call) in enumerate(chosen, 1):
        edges = subject.dependences.edges
        reactions = [one for part in subject.parts for one in react(model, subject, part, KINDS, lead=lead)]
        cases.append(
            Case(
                subject,
                {(edge.source, edge.target) for edge in edges if edge.kind is not Kind.CONTROL},
                {(edge.source, edge.target) for edge in edges if edge.kind is Kind.CONTROL},
                *executed(subject, call),
                reactions,
            )
        )
        print(f"\r{done} of {len(chosen)} functions", end="", file=sys.stderr)
    print(file=sys.stderr)
    return cases
