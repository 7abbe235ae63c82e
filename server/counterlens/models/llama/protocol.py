"""Messages between parent and child that only llama.cpp has."""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.models.base import Api
from counterlens.models.llama.devices import Offload


@dataclass(frozen=True, slots=True)
class Open:
    """Load a model file. Answered by `Opened`."""

    path: str
    threads: int
    context: int
    api: Api = Api.COMPLETIONS
    identity: str = ""
    gpu_layers: str = "auto"


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
    offload: Offload


@dataclass(frozen=True, slots=True)
class FindHardware:
    """Find out what llama.cpp can offload to, without a model. Answered by `Hardware`."""


@dataclass(frozen=True, slots=True)
class Settle:
    """Determine, if unknown, how completions are exact. Answered by a text; empty if they are not."""
