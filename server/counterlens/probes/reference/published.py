"""The published scores of known models, from `published.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from counterlens.metrics.effects import Proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScores:
    """The published scores of one model.

    Attributes:
        name: Its published name.
        words: What its names have in common.
        without: What none of them has.
        ids: Further names, whole: Ollama calls a model that follows instructions by its size alone.
        source: The publication.
        scores: The scores, in percent, by id.
    """

    name: str
    words: tuple[str, ...]
    without: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    source: str
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """All published scores.

    Attributes:
        model: The models.
        conditions: What was asked for each score.
    """

    model: tuple[PublishedScores, ...]
    conditions: Mapping[str, str]


@cache
def published_table() -> PublishedTable:
    """The table that comes with Counterlens."""
    text = (files(__package__) / "published.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), PublishedTable)


def published_scores(named: str) -> PublishedScores | None:
    """The scores of a model, by its own name; None if it is not known."""
    name = "-".join(named.lower().replace("_", "-").split())
    return next(
        (
            each
            for each in published_table().model
            if name in each.ids
            or (all(word in name for word in each.words) and not any(word in name for word in each.without))
        ),
        None,
    )


def agreement(published: float | None, yours: Proportion) -> str:
    """Whether a published score, in percent, is within the interval of a measured one."""
    if published is None or yours.low is None or yours.high is None:
        return ""
    if 100 * yours.low <= published <= 100 * yours.high:
        return "yes"
    return "no, lower" if published > 100 * yours.high else "no, higher"
