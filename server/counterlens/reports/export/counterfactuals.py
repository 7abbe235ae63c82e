"""Counterfactuals as plain data for JSON."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from counterlens.judging.settlement import Settled
from counterlens.mutations.base import Counterfactual, Refusal
from counterlens.text import BOM, json_text

Json = dict[str, Any]
_NO_SOURCE = '"source": ""'


def counterfactual(variant: Counterfactual) -> Json:
    """One mutated source, without its text."""
    rendered = variant.rendered
    return {
        "mutation": variant.mutation,
        "concept": variant.concept,
        "preserving": variant.preserving,
        "function": variant.function,
        "start_line": variant.start_line,
        "end_line": variant.end_line,
        "description": variant.description,
        "assumptions": list(variant.assumptions),
        "possibly_equivalent": variant.possibly_equivalent,
        "changes": [{"original": list(c.original), "mutated": list(c.mutated)} for c in rendered.changes],
        "cut": {"original": variant.cut.original, "mutated": variant.cut.mutated} if variant.cut else None,
        "seed": variant.seed,
    }


def refusal(site: Refusal) -> Json:
    """One site where a mutation was refused."""
    return {
        "mutation": site.mutation,
        "function": site.function,
        "line": site.line,
        "reason": site.reason,
    }


def counterfactuals_json(
    counterfactuals: Sequence[Counterfactual | Settled], refused: Iterable[Refusal] = (), *, bom: bool = False
) -> Iterator[str]:
    """The text of a JSON list of counterfactuals of one source, in parts: each has the whole mutated source.

    Args:
        counterfactuals: The counterfactuals, or the results of running them.
        refused: Refused sites, the last items of the list.
        bom: Whether the file begins with a byte-order mark.
    """
    encoded: _EncodedSource | None = None
    comma = ""
    for item in counterfactuals:
        made = item.counterfactual if isinstance(item, Settled) else item
        encoded = encoded or _EncodedSource(made.original)
        run = isinstance(item, Settled) and item.verdict is not None
        facts: Json = {**counterfactual(made), "run": run, "source": ""}
        if isinstance(item, Settled):
            facts["settled"] = _settlement(item)
        before, _, behind = _item(facts).partition(_NO_SOURCE)
        yield f"{comma or '['}\n{before}{_NO_SOURCE[:-1]}{json_text(BOM)[1:-1] if bom else ''}"
        yield from encoded.parts(made)
        yield f'"{behind}'
        comma = ","
    for site in refused:
        yield f"{comma or '['}\n{_item({'refused': True, **refusal(site)})}"
        comma = ","
    yield "\n]\n" if comma else "[]\n"


def _item(facts: Json) -> str:
    """An item of a list, with the indentation that it has there."""
    return json_text([facts]).removeprefix("[\n").removesuffix("\n]")


def _settlement(settled: Settled) -> Json:
    """The result of running a counterfactual."""
    evidence = settled.verdict.evidence if settled.verdict else None
    return {
        "finding": settled.finding.value,
        "reason": settled.reason,
        "attribution": evidence.attribution if evidence else None,
        "failed": evidence.failed if evidence else None,
        "message": evidence.message if evidence else "",
    }


class _EncodedSource:
    """A source as the inside of a JSON string, encoded once for all its counterfactuals."""

    def __init__(self, data: bytes) -> None:
        rows = data.split(b"\n")
        encoded = [_encode(row + b"\n") for row in rows]
        self._data, self._text = data, "".join(encoded)
        self._starts = [0, *accumulate(len(row) + 1 for row in rows)]
        self._encoded_starts = [0, *accumulate(map(len, encoded))]

    def parts(self, made: Counterfactual) -> Iterator[str]:
        """The encoded text of a counterfactual."""
        for part in made.rendered.parts:
            yield _encode(part) if isinstance(part, bytes) else self._text[slice(*map(self._at, part))]

    def _at(self, offset: int) -> int:
        """The place of a byte in the encoded text."""
        row = bisect_right(self._starts, offset) - 1
        return self._encoded_starts[row] + len(_encode(self._data[self._starts[row] : offset]))


def _encode(data: bytes) -> str:
    return json_text(data.decode())[1:-1]
