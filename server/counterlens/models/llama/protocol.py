"""Messages between parent and child that only llama.cpp has."""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.models.base import Api


@dataclass(frozen=True, slots=True)
class Open:
    """Load a model file. Answered by `Opened`."""

    path: str
    threads: int
    context: int
    api: Api = Api.COMPLETIONS
    identity: str = ""


@dataclass(frozen=True, slots=True)
class Opened:
    """The model is loaded."""

    description: str
    context: int
    trained_context: int
    vocabulary: int
    adds_bos: bool
    system: str
    parameters: int


@dataclass(frozen=True, slots=True)
class Settle:
    """Determine, if unknown, how completions are exact. Answered by a text; empty if they are not."""
