"""Inference of dependences as a task: how well a model infers them over one function or many."""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.dependence import Program
from counterlens.errors import SourceError
from counterlens.metrics.agreement import Agreement, corpus
from counterlens.models.base import Capability
from counterlens.probes.inference.inferred import Inferred, Method, infer
from counterlens.probes.inference.prompts import Relation
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
                found.append((target.name, infer(request.model, wanted, method, cancel=request.cancel)))
            except SourceError as error:
                left_out[error.message] = left_out.get(error.message, 0) + 1
        if not found:
            raise SourceError(next(iter(left_out), "there is no function to examine"))
        for _, one in found:
            for relation, answer in (one.answers or {}).items():
                unread = len(answer.unreadable) + len(answer.impossible)
                if unread:
                    reason = f"{relation}: pieces of answers that could not be read"
                    left_out[reason] = left_out.get(reason, 0) + unread
        return Result(
            task=self.id,
            title=f"{len(found)} function{'' if len(found) == 1 else 's'}, {method}",
            model=request.model.info,
            summary=_summary([one for _, one in found]),
            tables=(_functions(found), _corpus([one for _, one in found], request.seed)),
            left_out=left_out,
            data={"method": str(method), "functions": [_plain(name, one) for name, one in found]},
        )


def _functions(found: Sequence[tuple[str, Inferred]]) -> Table:
    rows = tuple(
        (name, len(one.subject.parts), *(one.direct[relation].f1 for relation in Relation))
        for name, one in found
    )
    return Table("functions", ("function", "statements", "control F1", "data F1"), rows)


def _corpus(found: Sequence[Inferred], seed: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for relation in Relation:
        for closed, name in ((False, "direct"), (True, "transitive")):
            agreements = [(one.transitive if closed else one.direct)[relation] for one in found]
            pooled = corpus(agreements, seed=seed)
            for mean, figures in (("micro", pooled.micro), ("macro", pooled.macro)):
                rows.append((f"{relation}, {name}, {mean}", *figures.values()))
    return Table(
        "agreement with the dependence graph",
        ("", "precision", "recall", "F1"),
        tuple(rows),
        "micro: all edges count alike; macro: all functions do. Intervals: functions drawn anew.",
    )


def _summary(found: Sequence[Inferred]) -> str:
    parts = []
    for relation in Relation:
        total = sum((one.direct[relation] for one in found), Agreement())
        true = total.true_positives + total.false_negatives
        parts.append(
            f"Of {true} {relation} dependences it shows {total.true_positives}, "
            f"and {total.false_positives} that are none."
        )
    return " ".join(parts)


def _plain(name: str, one: Inferred) -> dict[str, object]:
    return {
        "function": name,
        "summary": one.summary,
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
