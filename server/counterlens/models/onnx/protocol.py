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
    """All pieces of a word, as the tokenizer splits a text before it looks for pieces."""
    PIECE = "piece"
    """One token."""

    @classmethod
    def named(cls, name: str) -> Masking:
        """The masking of a name that a user gave.

        Raises:
            ModelError: there is none of this name.
        """
        try:
            return cls(name)
        except ValueError:
            raise ModelError(f"nothing is masked by {name!r}", f"Choose one of: {', '.join(cls)}") from None


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
        reading: In which direction it reads.
        capabilities: Its capabilities.
        context: Tokens that its window holds, those around a text included.
        cached: Whether it keeps keys and values of what it has read.
        provider: Its execution provider.
        version: Of ONNX Runtime.
    """

    reading: Reading
    capabilities: frozenset[Capability]
    context: int
    cached: bool
    provider: str
    version: str
