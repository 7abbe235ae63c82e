"""Distance in embedding space (Ahmed et al. 2024, section 3.2.4 and Table 6): is what means the same nearer?

Of an if-else two versions are made: its branches change places with the condition negated, which keeps the
meaning, and without, which breaks it and changes less of the text. To a model that embeds what code does the
first is nearer to the original; to one that embeds how it looks, the second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeVar

import numpy as np

from counterlens.counting import plural
from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.metrics.bootstrap import mean, pooled_mean
from counterlens.metrics.effects import pooled_share
from counterlens.metrics.significance import signed_rank
from counterlens.models.base import Vectors
from counterlens.mutations import Counterfactual
from counterlens.probes.task import Cell, Need, Request, Result, Table
from counterlens.probes.understanding.versions import Standing, Version, planned, subject
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from counterlens.syntax.operators import leaves

Item = TypeVar("Item")
EQUIVALENT, PLAIN = "if-else-flip", "block-swap-plain"
_UNLIKE = "zebras sleep under violet umbrellas"
_TRIED = 3  # texts of the sanity check
_SAME = 1e-4  # distance: the same text twice; servers round as they like
_ROWS = {
    Standing.BREAKING: "plain swap breaks the meaning",
    Standing.POSSIBLY_EQUIVALENT: "plain swap possibly equivalent",
    Standing.UNSETTLED: "plain swap could not be run",
}
_NOTE = (
    "mean Euclidean distance of embeddings of length 1; nearer: how often the equivalent swap is; less text: "
    "how often the other one changes fewer lexical tokens; p: one-sided Wilcoxon test, one pair a function "
    "(Ahmed et al. 2024, Table 6)"
)


class EmbeddingTask:
    """Distances of equivalent and other versions. Implements `counterlens.probes.task.Task`."""

    id = "embedding"
    title = "is code that means the same nearer to it than code that looks the same?"
    needs = frozenset({Need.EMBED, Need.SANDBOX})

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            SourceError: no target has an if-else of which both versions can be made; says why.
            CounterlensError: a sanity check failed, so that figures would mean nothing; SciPy is not
                installed.
            ModelError, SandboxError, Cancelled: as the model and the sandbox.
        """
        left_out: Counter[str] = Counter()
        pairs: list[dict[str, Any]] = []
        signed_rank([(0.0, 1.0)])  # a library that is missing is said before anything is asked
        _check_sanity(request)
        for number, target in enumerate(request.targets):
            _step(request, target.name, number)
            found = subject(target, request, mutations=(EQUIVALENT, PLAIN))
            left_out.update(found.left_out)
            pairs += _measured(target.name, found.qualname, target.document, found.versions, request)
        if not pairs:
            reasons = "; ".join(f"{count} {reason}" for reason, count in left_out.most_common(3))
            raise SourceError("there is no if-else whose branches can be exchanged", reasons or None)
        data = {"targets": [target.name for target in request.targets], "pairs": pairs}
        return Result(
            task=self.id,
            title=f"{len(pairs)} if-else in {plural(len({one['target'] for one in pairs}), 'function')}",
            model=request.model.info,
            summary=_summary(pairs),
            tables=self.tables([data], seed=request.seed),
            left_out=dict(left_out),
            data=data,
        )

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:
        """As `Task.tables`."""
        pairs = [pair for data in found for pair in data["pairs"]]
        rows = [
            _row(title, chosen, seed)
            for standing, title in _ROWS.items()
            if (chosen := [one for one in pairs if one["standing"] == standing])
        ]
        columns = ("", "functions", "n", "non-equivalent", "equivalent", "nearer", "less text", "p")
        listed = tuple(
            (one["target"], one["line"], one["standing"], one["plain"], one["equivalent"])
            for one in sorted(pairs, key=lambda one: one["plain"] - one["equivalent"])
        )
        names = ("function", "line", "plain swap", "its distance", "distance of the equivalent")
        return (
            Table("distance between the original and its swaps", columns, tuple(rows), _NOTE),
            Table("if-else by if-else", names, listed[:_LISTED], "those nearer by looks first"),
        )

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:
        """As `Task.measures`."""
        told = [one for one in data["pairs"] if one["standing"] == Standing.BREAKING]
        return {"equivalent swaps nearer": all(map(_nearer, told))} if told else {}

    def asks(self, request: Request) -> int:
        """As `Task.asks`: the original and two versions of each if-else; first those of the sanity check."""
        total = _TRIED
        for target in request.targets:
            surveyed = planned(target, request.seed, mutations=(EQUIVALENT, PLAIN))
            whole = len(_whole((one, one) for one in surveyed.counterfactuals))
            total += 1 + 2 * whole if whole else 0
        return total


_LISTED = 16


def _measured(
    name: str, qualname: str, document: Document, versions: Sequence[Version], request: Request
) -> Iterable[dict[str, Any]]:
    """The distances of the versions of each if-else that has both."""
    whole = _whole((version.counterfactual, version) for version in versions)
    texts = [text_of(document, qualname)]
    for _, both in whole:
        texts += [text_of(both[kind].document, qualname) for kind in (EQUIVALENT, PLAIN)]
    if not whole:
        return
    vectors = _unit(request.model.embed(texts, cancel=request.cancel))
    tokens = [_tokens(text) for text in texts]
    for number, (line, both) in enumerate(whole):
        at = 1 + 2 * number
        yield {
            "target": name,
            "line": line,
            "standing": str(both[PLAIN].standing),
            "equivalent": float(np.linalg.norm(vectors[at] - vectors[0])),
            "plain": float(np.linalg.norm(vectors[at + 1] - vectors[0])),
            "changed_tokens": {
                "equivalent": _changed(tokens[0], tokens[at]),
                "plain": _changed(tokens[0], tokens[at + 1]),
            },
        }


def _whole(found: Iterable[tuple[Counterfactual, Item]]) -> list[tuple[int, dict[str, Item]]]:
    """The lines of the if-else that have both kinds of swaps, with what goes with each of the two."""
    sites: dict[tuple[int, int], dict[str, Item]] = {}
    for change, one in found:
        sites.setdefault((change.start_line, change.end_line), {})[change.mutation] = one
    return [(line, both) for (line, _), both in sites.items() if {EQUIVALENT, PLAIN} <= set(both)]


def text_of(document: Document, qualname: str) -> str:
    r"""What is embedded of a version: the function with its docstring, `\n` at line ends."""
    function = find_function(document, qualname)
    start = document.data.rfind(b"\n", 0, function.start) + 1
    return document.data[start : function.end].replace(b"\r\n", b"\n").decode("utf-8", "replace")


def _row(title: str, chosen: Sequence[Mapping[str, Any]], seed: int) -> tuple[Cell, ...]:
    functions = list(dict.fromkeys(one["target"] for one in chosen))

    def averages(kind: str) -> list[float]:
        return [mean(one[kind] for one in chosen if one["target"] == name) or 0.0 for name in functions]

    paired = list(zip(averages("equivalent"), averages("plain"), strict=True))
    return (
        title,
        len(functions),
        len(chosen),
        pooled_mean(((one["target"], one["plain"]) for one in chosen), seed=seed),
        pooled_mean(((one["target"], one["equivalent"]) for one in chosen), seed=seed),
        pooled_share((one["target"], _nearer(one)) for one in chosen),
        pooled_share((one["target"], _less_text(one)) for one in chosen),
        signed_rank(paired, alternative="greater").p,
    )


def _summary(pairs: Sequence[Mapping[str, Any]]) -> str:
    told = [one for one in pairs if one["standing"] == Standing.BREAKING]
    if not told:
        return "Nothing tells the plain swaps from the originals, so their distance says nothing."
    near = sum(map(_nearer, told))
    return (
        f"To the model the version that means the same is nearer than the one that does not in {near} of "
        f"{len(told)} if-else. One that embeds what code does would have it so in all of them."
    )


def _nearer(one: Mapping[str, Any]) -> bool:
    return bool(one["equivalent"] < one["plain"])


def _less_text(one: Mapping[str, Any]) -> bool:
    return bool(one["changed_tokens"]["plain"] < one["changed_tokens"]["equivalent"])


def _check_sanity(request: Request) -> None:
    """The identity has no distance, and another text has one."""
    document = request.targets[0].document
    text = text_of(document, request.targets[0].qualname)
    one, again, other = _unit(request.model.embed([text, text, _UNLIKE], cancel=request.cancel))
    name = request.model.info.name
    if np.linalg.norm(one - again) > _SAME:
        raise CounterlensError(
            f"{name} does not embed the same text the same way twice", "Figures would mean nothing"
        )
    if np.linalg.norm(one - other) <= _SAME:
        raise CounterlensError(
            f"{name} embeds texts alike that have nothing in common", "Figures would mean nothing"
        )


def _unit(vectors: Vectors) -> Vectors:
    """The vectors with length 1: servers give other lengths than models do."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), np.float64)


def _tokens(text: str) -> list[bytes]:
    document = Document(text)
    return [document.data[start:end] for start, end in leaves(document)]


def _changed(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """How many lexical tokens have to be changed, put in or taken out."""
    matcher: Callable[..., SequenceMatcher[bytes]] = SequenceMatcher
    codes = matcher(None, one, other, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in codes if tag != "equal")


def _step(request: Request, what: str, done: int) -> None:
    if request.cancel is not None and request.cancel.is_set():
        raise Cancelled
    if request.report:
        request.report(what, done, len(request.targets))
