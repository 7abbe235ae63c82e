"""What a run is asked to do: kept with it, so that it can be resumed and replayed from its folder alone."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from counterlens.attribution.base import LIMITS
from counterlens.models.registry import DEFAULT_MODEL
from counterlens.mutations.cuts import PREFIX_RATIO, Ratio
from counterlens.probes.completion import MAX_TOKENS


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a run.

    Attributes:
        tasks: What is probed, in this order: ids of `probes.registry.BENCHABLE`.
        data: A dataset's name, a path, or `repo:PATH`; paths are absolute.
        models: Who is asked, in this order.
        limit: At most so many functions, drawn at random.
        seed: Of the draw, and of names and sites.
        mutations: Ids; none means all that preserve.
        without: Assumptions that no counterfactual may rest on.
        max_tokens: At most so many new tokens a completion.
        prefix_ratio: Which part of a function stays before the cut, or its range.
        since: For `repo:`: only what differs from this revision.
        paths: For `repo:`: only these files.
        windows: Also with less context around a gap.
        unroll: Also with loops unrolled.
        code: Which programs are asked about, where a task knows several.
        encoder: The model whose embeddings compare sentences, as the user names it; None for the small one.
        corpus: What frequencies are counted in.
        method: How dependences are found out.
        timeout: Seconds that a program has together with the tests that judge it.
        threads: Threads of a local model; 0 chooses.
        base_url: Where a remote model is served.
        api: How a model is asked.
    """

    tasks: tuple[str, ...]
    data: str
    models: tuple[str, ...] = (DEFAULT_MODEL,)
    limit: int | None = None
    seed: int = 0
    mutations: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    max_tokens: int = MAX_TOKENS
    prefix_ratio: Ratio = PREFIX_RATIO
    since: str | None = None
    paths: tuple[str, ...] = ()
    windows: bool = False
    unroll: bool = False
    code: str = "given"
    encoder: str | None = None
    corpus: str | None = None
    method: str | None = None
    timeout: float = LIMITS.seconds
    threads: int = 0
    base_url: str | None = None
    api: str = "completions"

    @property
    def task(self) -> str:
        """What is probed, in words."""
        return ", ".join(self.tasks)

    def to_json(self) -> str:
        """All options, in a form that `from_json` reads."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The options that `to_json` wrote."""
        found: dict[str, Any] = json.loads(text)
        names = {one.name for one in fields(cls)}
        known = {key: value for key, value in found.items() if key in names}
        listed: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in known.items()
        }
        return cls(**listed)

    def differences(self, other: Settings) -> list[str]:
        """The options that differ, each as `seed is 0, not 1`: this one's value, then the other's."""
        return [
            f"{one.name} is {getattr(self, one.name)!r}, not {getattr(other, one.name)!r}"
            for one in fields(self)
            if getattr(self, one.name) != getattr(other, one.name)
        ]
