"""Distance in embedding space (Ahmed et al. 2024, section 3.2.4 and Table 6): is equivalent code nearer?

An if-else has two versions with swapped branches. The equivalent swap also negates the condition, which keeps
the meaning. The plain swap does not, which breaks the meaning and changes less of the text. A model that
embeds behaviour places the equivalent swap nearer to the original; a model that embeds appearance, the plain
swap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Annotated, TypeVar

import numpy as np

from counterlens.errors import CounterlensError, SourceError
from counterlens.judging.base import lasting
from counterlens.metrics.bootstrap import mean, pooled_mean
from counterlens.metrics.effects import pooled_share
from counterlens.metrics.significance import signed_rank
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Model, Vectors
from counterlens.mutations import Counterfactual
from counterlens.probes.common_options import (
    DEFAULT_MAP_TIMEOUT,
    DEFAULT_TIMEOUT,
    ExcludedTests,
    MapTimeout,
    Timeout,
    Without,
)
from counterlens.probes.operator.forms import SwapForm, form_of_branches, is_published
from counterlens.probes.operator.pairs import flipped_site
from counterlens.probes.options import ProbeOptions, protocols
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.protocols import Methods
from counterlens.probes.record import Record
from counterlens.probes.robustness.versions import Standing, Version, plan, settle
from counterlens.probes.sanity import require_same
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from counterlens.syntax.operators import Family, leaves
from counterlens.text import line_start

Item = TypeVar("Item")
EQUIVALENT, PLAIN = "if-else-flip", "block-swap-plain"
_PROTOCOL = "operators"
_UNLIKE = "zebras sleep under violet umbrellas"
_TRIED = 3  # texts of the sanity check
_SAME = 1e-4  # maximum distance between two embeddings of the same text, because servers round
_LISTED = 16
_ROWS = {
    Standing.BREAKING: "plain swap breaks the meaning",
    Standing.POSSIBLY_EQUIVALENT: "plain swap possibly equivalent",
    Standing.UNSETTLED: "plain swap could not be run",
}
_NOTE = (
    "mean Euclidean distance of embeddings of length 1; nearer: how often the equivalent swap is; less text: "
    "how often the other one changes fewer lexical tokens; p: one-sided Wilcoxon test, one pair per function "
    "(Ahmed et al. 2024, Table 6)"
)
Sites = Sequence[tuple[int, dict[str, Version]]]
"""The line of each if-else, with the versions of its two swaps by mutation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingOptions(ProbeOptions):
    """Options of the embedding probe."""

    protocol: Annotated[str | None, protocols(_PROTOCOL)] = None
    without: Without = ()
    timeout: Timeout = DEFAULT_TIMEOUT
    map_timeout: MapTimeout = DEFAULT_MAP_TIMEOUT
    excluded_tests: ExcludedTests = ()


@dataclass(frozen=True, slots=True)
class ChangedTokens:
    """The number of lexical tokens that each swap changes, inserts or removes."""

    equivalent: int
    plain: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapDistances:
    """The distances of the two swaps of one if-else from the original.

    Attributes:
        line: The first line of the if-else, 1-based.
        standing: The kind of the plain swap: breaking, possibly equivalent or unsettled.
        equivalent: Euclidean distance of the equivalent swap, between vectors of length 1; under the protocol
            `operators` between the model's vectors as they are.
        plain: The same distance of the plain swap.
        changed_tokens: The number of tokens that each swap changes.
        form: The form of the if-else; None if no single operator decides it.
        family: The family of that operator.
    """

    line: int
    standing: Standing
    equivalent: float
    plain: float
    changed_tokens: ChangedTokens
    form: SwapForm | None = None
    family: Family | None = None

    @property
    def published(self) -> bool:
        """Whether Ahmed et al. 2024 study such swaps."""
        return self.family is not None and is_published(self.form, self.family)

    @property
    def nearer(self) -> bool:
        """Whether the equivalent swap is nearer."""
        return self.equivalent < self.plain


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRecord(Record):
    """The distances of one function; `pairs` has an item for each if-else with both swaps."""

    pairs: tuple[SwapDistances, ...]


Distances = Sequence[tuple[str, SwapDistances]]
"""Distances, each with the name of its function."""


class EmbeddingProbe(Probe[EmbeddingOptions, EmbeddingRecord]):
    """Measures the distances of equivalent and plain swaps in embedding space."""

    id = "embedding"
    title = "does it embed code that means the same closer than code that looks the same?"
    source = Source("Ahmed et al. 2024", "section 3.2.4")
    needs = frozenset({Need.EMBED, Need.SANDBOX})
    options = EmbeddingOptions
    record = EmbeddingRecord

    def run(self, context: Context, target: Target, options: EmbeddingOptions) -> EmbeddingRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: there is no if-else with both swaps.
            CounterlensError: a sanity check failed, or SciPy is not installed.
        """
        signed_rank([(0.0, 1.0)])  # a missing library is reported before any request
        surveyed = plan(target, (EQUIVALENT, PLAIN), seed=options.seed, without=options.without)
        tests = (options.map_timeout, options.excluded_tests)
        versions = settle(context, target, surveyed, lasting(options.timeout), *tests)
        sites: Sites = _sites((version.counterfactual, version) for version in versions.versions)
        if not sites:
            reasons = "; ".join(f"{count} {reason}" for reason, count in versions.left_out.most_common(3))
            raise SourceError("there is no if-else whose branches can be swapped", reasons or None)
        left_out = Counter(versions.left_out)
        method = _METHODS[options.chosen_protocol]
        sites = method.if_elses(target, sites, left_out)
        _check_sanity(context, target)
        pairs = tuple(_measure(context, target, sites, raw=method.raw))
        return EmbeddingRecord(left_out=left_out, pairs=pairs)

    def tables(self, records: Sequence[EmbeddingRecord], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        pairs = [(record.target, pair) for record in records for pair in record.pairs]
        return _METHODS[records[0].protocol].tables(pairs)

    def summary(self, records: Sequence[EmbeddingRecord]) -> str:
        nearer = [near for record in records for near in _nearer(record)]
        if not nearer:
            return (
                "The plain swaps cannot be distinguished from the originals, so their distance shows nothing."
            )
        return (
            "The model embeds the version with the same meaning closer to the original than the one with "
            "another meaning in "
            f"{sum(nearer)} of {len(nearer)} if-else. A model that embeds behaviour would do so in all of "
            "them."
        )

    def measures(self, record: EmbeddingRecord) -> Mapping[str, bool]:
        nearer = _nearer(record)
        return {"equivalent swaps nearer": all(nearer)} if nearer else {}

    def estimate(self, target: Target, options: EmbeddingOptions, model: Model) -> int:  # noqa: ARG002
        """Like `Probe.estimate`: the sanity check's texts, the original, and two versions of each if-else."""
        surveyed = plan(target, (EQUIVALENT, PLAIN), seed=options.seed, without=options.without)
        sites = len(_sites((made, made) for made in surveyed.counterfactuals))
        return _TRIED + 1 + 2 * sites if sites else 0


def _kind(target: Target, flipped: Version) -> tuple[SwapForm | None, Family | None]:
    """The form of an if-else, and the family of the operator that decides it."""
    changes = flipped.counterfactual.changes
    site = flipped_site(target.document, flipped.document, target.qualname, changes)
    return (form_of_branches(target.document, site), site.family) if site else (None, None)


def _measure(context: Context, target: Target, sites: Sites, *, raw: bool) -> Iterable[SwapDistances]:
    """The distances of the two swaps of each if-else; `raw` leaves the length of the vectors unchanged."""
    texts = [text_of(target.document, target.qualname)]
    for _, both in sites:
        texts += [text_of(both[kind].document, target.qualname) for kind in (EQUIVALENT, PLAIN)]
    context.steps.next(f"embedding {len(texts)} texts")
    vectors = context.model.embed(texts, cancel=context.cancel) if raw else _embed(context, texts)
    tokens = [_tokens(text, target.document.language) for text in texts]
    for number, (line, both) in enumerate(sites):
        equivalent, plain = 1 + 2 * number, 2 + 2 * number
        form, family = _kind(target, both[EQUIVALENT])
        yield SwapDistances(
            line=line,
            standing=both[PLAIN].standing,
            equivalent=float(np.linalg.norm(vectors[equivalent] - vectors[0])),
            plain=float(np.linalg.norm(vectors[plain] - vectors[0])),
            changed_tokens=ChangedTokens(
                _changed_tokens(tokens[0], tokens[equivalent]), _changed_tokens(tokens[0], tokens[plain])
            ),
            form=form,
            family=family,
        )


def _sites(versions: Iterable[tuple[Counterfactual, Item]]) -> list[tuple[int, dict[str, Item]]]:
    """The line of each if-else with both kinds of swaps, with the item of each swap."""
    sites: dict[tuple[int, int], dict[str, Item]] = {}
    for made, item in versions:
        sites.setdefault((made.start_line, made.end_line), {})[made.mutation] = item
    return [(line, both) for (line, _), both in sites.items() if {EQUIVALENT, PLAIN} <= set(both)]


def text_of(document: Document, qualname: str) -> str:
    r"""The text of a version to embed: the function with its docstring, with `\n` at line ends."""
    function = find_function(document, qualname)
    text = document.data[line_start(document.data, function.start) : function.end]
    return text.replace(b"\r\n", b"\n").decode("utf-8", "replace")


def _row(title: str, pairs: Distances) -> tuple[Cell, ...]:
    functions: dict[str, list[SwapDistances]] = {}
    for target, pair in pairs:
        functions.setdefault(target, []).append(pair)
    means = [
        (mean(pair.equivalent for pair in mine) or 0.0, mean(pair.plain for pair in mine) or 0.0)
        for mine in functions.values()
    ]
    fewer = [(target, pair.changed_tokens.plain < pair.changed_tokens.equivalent) for target, pair in pairs]
    return (
        title,
        len(functions),
        len(pairs),
        pooled_mean(((target, pair.plain) for target, pair in pairs), least=0),
        pooled_mean(((target, pair.equivalent) for target, pair in pairs), least=0),
        pooled_share((target, pair.nearer) for target, pair in pairs),
        pooled_share(fewer),
        signed_rank(means, alternative="greater").p,
    )


def _nearer(record: EmbeddingRecord) -> list[bool]:
    """Whether the equivalent swap is nearer, for each if-else whose plain swap breaks the meaning."""
    return [pair.nearer for pair in record.pairs if pair.standing is Standing.BREAKING]


def _check_sanity(context: Context, target: Target) -> None:
    """Check that the same text has no distance, and that an unrelated text has one.

    Raises:
        CounterlensError: either check failed: figures would be meaningless.
    """
    text, name = text_of(target.document, target.qualname), context.model.info.name
    context.steps.next("embedding the same text twice")
    vector, other = _embed(context, [text, _UNLIKE])
    require_same(
        name, "embed the same text", vector, lambda: _embed(context.uncached, [text])[0], same=_same_place
    )
    if _same_place(vector, other):
        raise CounterlensError(
            f"{name} embeds unrelated texts in the same way", "Figures would be meaningless"
        )


def _same_place(vectors: Vectors, other: Vectors) -> bool:
    return bool(np.linalg.norm(vectors - other) <= _SAME)


def _embed(context: Context, texts: Sequence[str]) -> Vectors:
    """The vectors of some texts, scaled to length 1, because servers and local models scale differently."""
    vectors = context.model.embed(texts, cancel=context.cancel)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), np.float64)


def _tokens(text: str, language: str) -> list[bytes]:
    document = Document(text, language=language)
    return [document.data[start:end] for start, end in leaves(document)]


def _changed_tokens(tokens: Sequence[bytes], other: Sequence[bytes]) -> int:
    """The number of lexical tokens to change, insert or remove."""
    matcher: Callable[..., SequenceMatcher[bytes]] = SequenceMatcher
    codes = matcher(None, tokens, other, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in codes if tag != "equal")


class EmbeddingMethod:
    """The probe's own way.

    Attributes:
        raw: Whether the length of the vectors stays as the model returns it.
    """

    raw = False

    def if_elses(self, target: Target, sites: Sites, left_out: Counter[str]) -> Sites:  # noqa: ARG002
        """The if-else to measure, of those with both swaps; `left_out` counts the others, by reason.

        Raises:
            SourceError: there is none.
        """
        return sites

    def tables(self, pairs: Distances) -> tuple[Table, ...]:
        """The tables of the distances of some functions."""
        rows = [
            _row(title, chosen)
            for standing, title in _ROWS.items()
            if (chosen := [(target, pair) for target, pair in pairs if pair.standing is standing])
        ]
        columns = ("", "functions", "n", "non-equivalent", "equivalent", "nearer", "less text", "p")
        listed = tuple(
            (target, pair.line, str(pair.standing), pair.plain, pair.equivalent)
            for target, pair in sorted(pairs, key=lambda row: row[1].plain - row[1].equivalent)
        )
        names = ("function", "line", "plain swap", "its distance", "distance of the equivalent")
        return (
            Table("distance between the original and its swaps", columns, tuple(rows), _NOTE),
            Table("each if-else", names, listed[:_LISTED], "those with a nearer plain swap first"),
        )


class PublishedEmbedding(EmbeddingMethod):
    """The protocol `operators` (Ahmed et al. 2024, Table 6)."""

    raw = True

    def if_elses(self, target: Target, sites: Sites, left_out: Counter[str]) -> Sites:
        """The if-else of the kind in the paper: decided by one of six comparisons; see `EmbeddingMethod`."""
        kept = []
        for line, both in sites:
            form, family = _kind(target, both[EQUIVALENT])
            if family is not None and is_published(form, family):
                kept.append((line, both))
            else:
                what = ", ".join(str(part) for part in (form, family) if part) or "no single operator"
                left_out[f"not in the paper ({what})"] += 1
        if not kept:
            raise SourceError("there is no if-else of the kind in the paper: decided by a single comparison")
        return kept

    def tables(self, pairs: Distances) -> tuple[Table, ...]:
        """The table as published: over all pairs, with the test over the pairs of all functions."""
        distances = [(pair.equivalent, pair.plain) for _, pair in pairs]
        row: tuple[Cell, ...] = (
            "all",
            len(pairs),
            pooled_mean(((target, pair.plain) for target, pair in pairs), least=0),
            pooled_mean(((target, pair.equivalent) for target, pair in pairs), least=0),
            pooled_share((target, pair.nearer) for target, pair in pairs),
            signed_rank(distances, alternative="greater").p,
        )
        columns = ("", "n", "non-equivalent swap", "equivalent swap", "nearer", "p")
        note = (
            "mean Euclidean distance of embeddings as the model returns them; nearer: how often the "
            "equivalent swap is; p: one-sided Wilcoxon test over pairs, which are correlated within "
            "a function"
        )
        return (Table("Table 6: distance in embedding space", columns, (row,), note),)


_METHODS = Methods(EmbeddingMethod(), operators=PublishedEmbedding())
