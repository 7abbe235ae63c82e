"""Messages between parent and child: length-prefixed pickles over the child's standard streams.

The child is Counterlens's own code and runs no foreign code, so pickle is as safe as a function call, and
arrays are sent in binary.
"""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from counterlens.models.base import Prompt

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Complete:
    """Continue prompts, at least one, that decode together. Answered by a list of `Completion`."""

    prompts: tuple[Prompt, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Score a text after a context. Answered by `Scored`."""

    text: bytes
    context: bytes
    alternatives: int


@dataclass(frozen=True, slots=True)
class ScoreContinuations:
    """Score texts that each follow the same context. Answered by a list of `Scored`.

    Attributes:
        unscored: Number of bytes at the start of each text that need no scores.
    """

    context: bytes
    continuations: tuple[bytes, ...]
    unscored: tuple[int, ...]
    alternatives: int


@dataclass(frozen=True, slots=True)
class ScoreSpan:
    """Score the tokens of a text in a span, all masked at once. Answered by their first byte and `Scored`."""

    text: bytes
    start: int
    end: int
    alternatives: int


@dataclass(frozen=True, slots=True)
class Embed:
    """Embed texts, at least one. Answered by an (n, dimensions) float32 array."""

    texts: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The scores of n tokens, as in `TokenScores`; a token may split a character, so texts are bytes."""

    end: npt.NDArray[np.int64]
    logprob: npt.NDArray[np.float64]
    entropy: npt.NDArray[np.float64]
    rank: npt.NDArray[np.int64]
    alternative_logprob: npt.NDArray[np.float64]
    alternatives: list[tuple[bytes, ...]]
    context: npt.NDArray[np.int64]
    deviation: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel request `number`, whatever its state. Answered by the request's own `Failed`."""

    number: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A request could not be answered."""

    message: str
    hint: str | None = None
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Advanced:
    """Progress of a request: `done` of `total` steps."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message that belongs to request `number`.

    Attributes:
        seconds: Processor time that the child has taken so far; 0 in requests.
    """

    number: int
    content: Any
    seconds: float = 0.0


def send(stream: IO[bytes], message: Envelope | Cancel) -> None:
    """Write one message."""
    data = pickle.dumps(message, protocol=5)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Envelope | Cancel | None:
    """Read one message; None if the other side has ended."""
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    data = stream.read(length)
    if len(data) < length:
        return None
    message: Envelope | Cancel = pickle.loads(data)  # noqa: S301 - from our own child or parent
    return message
