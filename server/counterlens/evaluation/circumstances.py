"""Describes the differences between the manifests of two runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from counterlens.evaluation.manifest import differences
from counterlens.evaluation.results import RunResults

BESIDE = ("counterlens", "python", "platform", "packages", "sandbox", "judged_by", "dataset")
"""Parts of a manifest that are not settings, but may affect a verdict."""
_NAMED, _READABLE = 5, 60


def manifest_of(run: RunResults, model: str) -> Mapping[str, Any] | None:
    """The manifest of one model's records; None if there are none yet."""
    named = (
        (run.label(str(stored.get("model", {}).get("asked_as"))), stored) for stored in run.manifests.values()
    )
    return next((manifest for name, manifest in named if name == model), None)


def differing(
    pairs: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
    parts: Sequence[str],
    passed_over: Sequence[str] = (),
) -> list[str]:
    """Some differences of manifests, such as `python: 3.11.2, now 3.12.1`, without long values.

    Args:
        pairs: Manifests side by side.
        parts: Keys to compare.
        passed_over: Prefixes of nested keys, such as `dataset.sha256`, that may differ.
    """
    changes = dict.fromkeys(
        difference
        for before, after in pairs
        for difference in differences(_only(before, parts), _only(after, parts))
        if not difference.startswith(tuple(passed_over))
    )
    named = [where if len(rest) > _READABLE else f"{where}: {rest}" for where, rest in map(_part, changes)]
    more = [f"{len(named) - _NAMED} circumstances more"] if len(named) > _NAMED else []
    return [*named[:_NAMED], *more]


def _only(manifest: Mapping[str, Any], parts: Sequence[str]) -> dict[str, Any]:
    return {key: manifest.get(key) for key in parts}


def _part(difference: str) -> tuple[str, str]:
    where, _, rest = difference.partition(": ")
    return where, rest
