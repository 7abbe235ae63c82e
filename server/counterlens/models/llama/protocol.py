"""Messages between parent and child that only llama.cpp has."""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.models.base import Api
from counterlens.models.llama.devices import Offload

SEQUENCES = 32
"""Maximum number of sequences decoded together; a processor gains little beyond that."""


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
    has_template: bool


@dataclass(frozen=True, slots=True)
class FindHardware:
    """Find out what llama.cpp can offload to, without a model. Answered by `Hardware`."""


@dataclass(frozen=True, slots=True)
class Settle:
    """Determine, if unknown, how completions are exact. Answered by a text; empty if they are not."""


@dataclass(frozen=True, slots=True)
class CountWork:
    """Count what the process has decoded. Answered by `Work`."""


@dataclass(slots=True)
class Work:
    """What the process of a model has decoded.

    Attributes:
        steps: Number of calls of llama.cpp for next tokens.
        rows: Number of their rows, each a token of a completion.
        stepping: Processor seconds of the steps.
        read: Number of tokens of prompts that were read.
        reading: Processor seconds for these.
    """

    steps: int = 0
    rows: int = 0
    stepping: float = 0.0
    read: int = 0
    reading: float = 0.0

    def add_steps(self, steps: int, rows: int, seconds: float) -> None:
        """Count steps."""
        self.steps, self.rows, self.stepping = self.steps + steps, self.rows + rows, self.stepping + seconds

    def add_read(self, tokens: int, seconds: float) -> None:
        """Count a portion of a prompt."""
        self.read, self.reading = self.read + tokens, self.reading + seconds


@dataclass(frozen=True, slots=True)
class TryFilling:
    """Try the file's tokens for filling in the middle. Answered by `FillTrial`; None if it names none."""


@dataclass(frozen=True, slots=True)
class FillTrial:
    """The perplexity per token of texts that belong in holes of code.

    Attributes:
        given: Given the code on both sides, each after its token.
        exchanged: With the two sides exchanged, which a model that only continues text finds likelier.
        before: Given only the code before the hole, without any such token.
    """

    given: float
    exchanged: float
    before: float

    @property
    def works(self) -> bool:
        """Whether the model makes use of the code after a hole."""
        return self.given < min(self.exchanged, self.before)

    def __str__(self) -> str:
        return (
            f"the text of a hole has perplexity {self.given:.1f} with the code on both sides, "
            f"{self.exchanged:.1f} with the sides exchanged, {self.before:.1f} with only the code before it"
        )
