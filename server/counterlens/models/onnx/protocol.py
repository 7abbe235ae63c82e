"""Messages between parent and child that only ONNX Runtime has."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from counterlens.errors import ModelError
from counterlens.models.base import Capability
from counterlens.models.onnx.export import Export, Reading


class Masking(StrEnum):
    """The unit that is masked."""

    WORD = "word"
    """All pieces of a word, as the tokenizer splits a text before it splits words into pieces."""
    PIECE = "piece"
    """One token."""

    @classmethod
    def named(cls, name: str) -> Masking:
        """The masking with a name that the user gave.

        Raises:
            ModelError: there is no such masking.
        """
        try:
            return cls(name)
        except ValueError:
            raise ModelError(f"there is no masking by {name!r}", f"Choose one of: {', '.join(cls)}") from None


@dataclass(frozen=True, slots=True)
class OpenExport:
    """Load an export. Answered by `OpenedExport`."""

    export: Export
    threads: int
    context: int
    masking: Masking
    identity: str


@dataclass(frozen=True, slots=True)
class OpenedExport:
    """The model is loaded.

    Attributes:
        reading: The reading direction.
        context: Number of tokens that its window holds, including those around a text.
        cached: Whether it has a cache of keys and values.
        provider: Its execution provider.
        version: Version of ONNX Runtime.
    """

    reading: Reading
    capabilities: frozenset[Capability]
    context: int
    cached: bool
    provider: str
    version: str
