"""Inference of dependences as a task: how well a model infers them over one function or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from typing import Any

from counterlens.counting import plural
from counterlens.dependence import Program
from counterlens.errors import SourceError
from counterlens.metrics.agreement import Agreement, corpus
from counterlens.metrics.bootstrap import Estimate, bootstrap
from counterlens.metrics.traces import Trace, TraceFigures
from counterlens.models.base import Capability
from counterlens.probes.inference.estimators import CONTROL_KINDS, DATA_KINDS, looked_at
from counterlens.probes.inference.inferred import Inferred, Method, infer
from counterlens.probes.inference.instances import questions
from counterlens.probes.inference.prompted import every_pair
from counterlens.probes.inference.prompts import Relation
from counterlens.probes.inference.reactions import texts
from counterlens.probes.inference.sampling import MOST_QUESTIONS
from counterlens.probes.inference.subject import Subject
from counterlens.probes.task import Cell, Need, Request, Result, Table


class DependenceTask:
    """Influence where the model gives probabilities, prompts elsewhere. Implements `task.Task`."""

    id = "dependence"
    title = "which statements does it think depend on which?"
    needs: frozenset[Need] = frozenset()

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            SourceError: no target can be examined.
            ModelError: the model cannot answer.
            Cancelled: `request.cancel` was set.
        """
        scores = request.model.offers(Capability.SCORE, cancel=request.cancel)
        method = Method.INTERVENTIONAL if scores else Method.PROMPTED
        if request.method is not None:
            method = Method(request.method)
        found: list[tuple[str, Inferred]] = []
        left_out: dict[str, int] = {}
        for done, target in enumerate(request.targets):
            if request.report:
                request.report(target.name, done, len(request.targets))
            try:
                wanted = Program(target.document.text).dependences(target.qualname)
                inferred = infer(
                    request.model,
                    wanted,
                    method,
                    limit=MOST_QUESTIONS,
                    seed=request.seed,
                    cancel=request.cancel,
                )
                found.append((target.name, inferred))
            except SourceError as error:
                left_out[error.message] = left_out.get(error.message, 0) + 1
        if not found:
            raise SourceError(next(iter(left_out), "there is no function to examine"))
        for _, one in found:
            for reason, number in _unread(one).items():
                left_out[reason] = left_out.get(reason, 0) + number
        data = {"method": str(method), "functions": [_plain(name, one) for name, one in found]}
        return Result(
            task=self.id,
            title=f"{plural(len(found), 'function')}, {method}",
            model=request.model.info,
            summary=_summary([one for _, one in found]),
            tables=self.tables([data], seed=request.seed),
            left_out=left_out,
            data=data,
        )

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:
        """As `Task.tables`."""
        functions = [one for data in found for one in data["functions"]]
        if not functions:
            return ()
        tables = [_functions(functions), _corpus(functions, seed)]
        if any("traces" in one for one in functions):
            tables.append(_traced(functions, seed))
        return tuple(tables)

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:
        """As `Task.measures`; a function without dependences of a kind says nothing of it."""
        found: dict[str, bool] = {}
        for relation in Relation:
            which = "transitive" if Method(data["method"]).about_chains else "direct"
            counts = [_agreement(one, relation, which) for one in data["functions"]]
            total = sum(counts, Agreement())
            if total.true_positives + total.false_negatives:
                found[f"all {relation} dependences shown"] = not total.false_negatives
                found[f"no {relation} dependence invented"] = not total.false_positives
            traces = [trace for one in data["functions"] for trace in _traces(one, relation)]
            if traces:
                found[f"all {relation} traces right"] = all(trace.path for trace in traces)
        return found

    def asks(self, request: Request) -> int:
        """As `Task.asks`."""
        scores = request.model.offers(Capability.SCORE, cancel=request.cancel)
        method = Method(request.method or (Method.INTERVENTIONAL if scores else Method.PROMPTED))
        kinds, total = (*DATA_KINDS, *CONTROL_KINDS), 0
        for target in request.targets:
            subject = Subject.of(Program(target.document.text).dependences(target.qualname))
            if method is Method.PROMPTED:
                total += len(Relation)
            elif method is Method.PAIRWISE or method.about_chains:
                for relation in Relation:
                    chains = questions(subject, relation) if method.about_chains else None
                    every = len(every_pair(subject) if chains is None else chains)
                    total += min(MOST_QUESTIONS, every)
            else:
                total += sum(texts(subject, part, kinds, looked_at=looked_at) for part in subject.parts)
        return total


def _unread(one: Inferred) -> dict[str, int]:
    """How many pieces of answers could not be read, and how many pairs were not asked about."""
    found: dict[str, int] = {}
    for relation, answer in (one.answers or {}).items():
        unread = len(answer.unreadable) + len(answer.impossible)
        found[f"{relation}: pieces of answers that could not be read"] = unread
    for relation, asked in (one.asked or {}).items():
        found[f"{relation}: pairs that were not asked about"] = asked.possible - asked.asked
        found[f"{relation}: answers that could not be read"] = asked.unreadable
    return {reason: number for reason, number in found.items() if number}


def _functions(found: Sequence[Mapping[str, Any]]) -> Table:
    rows = tuple(
        (
            one["function"],
            one["statements"],
            *(_shown(one, relation).f1 for relation in Relation),
        )
        for one in found
    )
    return Table("functions", ("function", "statements", "control F1", "data F1"), rows)


def _corpus(found: Sequence[Mapping[str, Any]], seed: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for relation in Relation:
        for name in ("direct", "transitive"):
            pooled = corpus([_agreement(one, relation, name) for one in found], seed=seed)
            for mean, figures in (("micro", pooled.micro), ("macro", pooled.macro)):
                rows.append((f"{relation}, {name}, {mean}", *figures.values()))
    return Table(
        "agreement with the dependence graph",
        ("", "precision", "recall", "F1"),
        tuple(rows),
        "micro: all edges count alike; macro: all functions do. Intervals: functions drawn anew.",
    )


def _traced(found: Sequence[Mapping[str, Any]], seed: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for relation in Relation:
        functions = [traces for one in found if (traces := _traces(one, relation))]

        def figure(name: str, functions: list[list[Trace]] = functions) -> Estimate:
            def pooled(chosen: Sequence[Sequence[Trace]]) -> float | None:
                value = getattr(TraceFigures.of([trace for traces in chosen for trace in traces]), name)
                return None if value is None else float(value)

            return bootstrap(functions, pooled, seed=seed)

        asked = sum(len(traces) for traces in functions)
        rows.append((str(relation), asked, *(figure(field.name) for field in fields(TraceFigures))))
    return Table(
        "traces of steps, where there is a chain",
        ("", "chains", "correct trace rate", "from end to end", "steps right", "steps false", "left out"),
        tuple(rows),
        "correct: every step is a direct dependence (CoRe); from end to end: and they lead from the one that "
        "was asked about to the other; left out: nodes of a chain. Intervals: functions drawn anew.",
    )


def _traces(one: Mapping[str, Any], relation: Relation) -> list[Trace]:
    return [Trace(*trace) for trace in one.get("traces", {}).get(str(relation), ())]


def _shown(one: Mapping[str, Any], relation: Relation) -> Agreement:
    """Agreement of direct edges, or of chains where only those were asked about."""
    found = _agreement(one, relation, "direct")
    return found if found != Agreement() else _agreement(one, relation, "transitive")


def _agreement(one: Mapping[str, Any], relation: Relation, closed: str) -> Agreement:
    return Agreement(*one["agreement"][closed][str(relation)])


def _summary(found: Sequence[Inferred]) -> str:
    parts = []
    for relation in Relation:
        shown = [one.transitive if one.method.about_chains else one.direct for one in found]
        total = sum((one[relation] for one in shown), Agreement())
        true = total.true_positives + total.false_negatives
        parts.append(
            f"Of {plural(true, f'{relation} dependence')} it shows {total.true_positives}, "
            f"and {total.false_positives} that are none."
        )
    return " ".join(parts)


def _plain(name: str, one: Inferred) -> dict[str, object]:
    traces = (
        {
            "traces": {
                str(relation): [list(astuple(trace)) for trace in told]
                for relation, told in one.traces.items()
            }
        }
        if one.traces is not None
        else {}
    )
    return {
        **traces,
        "function": name,
        "summary": one.summary,
        "statements": len(one.subject.parts),
        "agreement": {
            "direct": {str(relation): list(astuple(one.direct[relation])) for relation in Relation},
            "transitive": {str(relation): list(astuple(one.transitive[relation])) for relation in Relation},
        },
        "edges": [
            {
                "relation": str(edge.relation),
                "source": edge.source,
                "target": edge.target,
                "variables": list(edge.variables),
                "status": str(edge.status),
                "belief": edge.belief,
                "reached": edge.reached,
            }
            for edge in one.edges
        ],
    }
