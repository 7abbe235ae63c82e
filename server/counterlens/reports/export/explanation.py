"""Explained completions as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from counterlens.explaining.completing import Explained
from counterlens.models.base import ModelInfo


def explanation_json(
    found: Sequence[tuple[str, Explained]], info: ModelInfo, path: str, qualname: str
) -> dict[str, Any]:
    """Completions at some places.

    Keys: `model`, `path`, `function`, `completions`; each completion has `title`, `text`, `finish`, `start`
        and `end` (bytes of the completed program), `tokens` (`text`, `line`, `probability`, `alternatives`),
        `nodes` (`kind`, `start`, `end`, `confidence`), `errors` (such nodes), and `departure` (null if the
        completion is the existing code).
    """
    return {
        "model": info.id,
        "path": path,
        "function": qualname,
        "completions": [_plain(title, one) for title, one in found],
    }


def _plain(title: str, found: Explained) -> dict[str, Any]:
    def nodes(every: Sequence[Any]) -> list[dict[str, Any]]:
        return [{key: getattr(node, key) for key in ("kind", "start", "end", "confidence")} for node in every]

    return {
        "title": title,
        "text": found.completion.text,
        "finish": found.completion.finish,
        "start": found.start,
        "end": found.end,
        "tokens": [asdict(token) for token in found.tokens],
        "nodes": nodes(found.nodes),
        "errors": nodes(found.errors),
        "departure": asdict(found.departure) if found.departure else None,
    }
