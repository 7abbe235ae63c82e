"""What a model's confidence in code that it writes says about whether the code is right.

A map per model, fitted by `counterlens calibrate` on completions that tests have judged: the
probability that a completion passes, and that a statement stays as it is in the smallest fix. The shares that
a front end shows are of functions outside the fit. Some models' maps come with Counterlens (`measured/`).
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import platformdirs

from counterlens.atomic_file import replace_file
from counterlens.errors import ModelError
from counterlens.metrics.bootstrap import IntervalEstimate
from counterlens.regular_file import read_text

VERSION = 2
_MOST_ODDS = 30.0
_LEAST_SHOWN = 20  # pieces behind a share
LogProbs = Sequence[float] | npt.NDArray[np.float64]
"""(n,) log-probabilities of tokens, in nats; n is 1 or more."""


class Summary(StrEnum):
    """A number that summarises the log-probabilities of a piece's tokens."""

    MEAN = "mean"
    """Their mean, in nats."""
    TOTAL = "total"
    """Their sum: the log-probability of the whole piece, in nats."""
    LEAST = "least"
    """The smallest, in nats."""
    LENGTH = "length"
    """The natural logarithm of their number."""


def summaries(logprobs: LogProbs) -> dict[Summary, float]:
    """All summaries of a piece.

    Args:
        logprobs: (n,) log-probabilities of its tokens, in nats; n is 1 or more.
    """
    values = np.asarray(logprobs, np.float64)
    return {
        Summary.MEAN: float(values.mean()),
        Summary.TOTAL: float(values.sum()),
        Summary.LEAST: float(values.min()),
        Summary.LENGTH: math.log(len(values)),
    }


def features(logprobs: LogProbs, whole: LogProbs | None = None) -> list[float]:
    """The summaries of a piece, in the order of `Summary`; for a part, followed by those of its whole."""
    parts = (logprobs,) if whole is None else (logprobs, whole)
    return [value for part in parts for value in summaries(part).values()]


@dataclass(frozen=True, slots=True)
class RightShare:
    """The pieces with a chance from `low` to `high`, of functions outside the fit.

    Attributes:
        n: Number of pieces.
        right: Number of them that were right.
        chance: Their mean chance.
    """

    low: float
    high: float
    n: int
    right: int
    chance: float


@dataclass(frozen=True, slots=True)
class ChanceMap:
    """From the log-probabilities of a piece's tokens to the probability that the piece is right.

    Logistic in their summaries and, for a statement, in those of the whole completion that it is part of,
    because most statements of a completion that fails need a fix. Its figures are of functions outside the
    fit.

    Attributes:
        weights: The weights of the piece's own summaries.
        whole: The weights of those of the completion that it is part of; empty for whole completions.
        offset: The log-odds at 0.
        kinds: What a node type adds to the offset.
        n: Number of pieces.
        functions: Number of functions with these pieces.
        longest: Number of tokens of the longest completion; nothing is known about longer ones.
        right: Share of them that were right.
        skill: The Brier skill score over that share.
        auroc: The probability that a right piece has a higher chance than a wrong one.
        ece: The expected calibration error.
        shares: The reliability diagram.
        by_kind: The number of pieces, and of right ones, by node type.
    """

    weights: Mapping[Summary, float]
    whole: Mapping[Summary, float]
    offset: float
    kinds: Mapping[str, float]
    n: int
    functions: int
    longest: int
    right: float
    skill: IntervalEstimate
    auroc: IntervalEstimate
    ece: IntervalEstimate
    shares: tuple[RightShare, ...]
    by_kind: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the confidence tells right from wrong on functions outside the fit, beyond chance."""
        return self.skill.low is not None and self.skill.low > 0

    def chance(self, logprobs: LogProbs, kind: str = "", whole: LogProbs | None = None) -> float:
        """The probability that a piece is right, 0 to 1.

        Args:
            logprobs: Of the piece.
            kind: Its node type.
            whole: Of the completion that it is part of; None for a whole completion.
        """
        return float(self.chances(np.array([features(logprobs, whole)]), (kind,))[0])

    def chances(self, rows: npt.NDArray[np.float64], kinds: Iterable[str]) -> npt.NDArray[np.float64]:
        """(n,) the probabilities that n pieces are right.

        Args:
            rows: (n, 4) or (n, 8) their features.
            kinds: Their node types.
        """
        weights = [each.get(name, 0.0) for each in (self.weights, self.whole) for name in Summary]
        offsets = self.offset + np.array([self.kinds.get(str(kind), 0.0) for kind in kinds])
        odds = np.clip(offsets + rows @ np.array(weights[: rows.shape[1]]), -_MOST_ODDS, _MOST_ODDS)
        chances: npt.NDArray[np.float64] = 1 / (1 + np.exp(-odds))
        return chances

    def share(self, logprobs: LogProbs, kind: str = "", whole: LogProbs | None = None) -> RightShare | None:
        """The measured pieces with about the chance of a piece; None if there are none like it.

        Bins with few pieces are widened, because their share is mostly chance. The arguments are those of
        `chance`.
        """
        if len(logprobs if whole is None else whole) > self.longest:
            return None
        chance = self.chance(logprobs, kind, whole)
        place = next((i for i, each in enumerate(self.shares) if each.low <= chance <= each.high), None)
        if place is None:
            return None
        near = self.shares[place : place + 1]
        for more in range(1, len(self.shares)):
            if sum(each.n for each in near) >= _LEAST_SHOWN:
                break
            near = self.shares[max(place - more, 0) : place + more + 1]
        n = sum(each.n for each in near)
        mean = sum(each.n * each.chance for each in near) / n if n else 0.0
        right = sum(each.right for each in near)
        return RightShare(near[0].low, near[-1].high, n, right, mean) if n else None


@dataclass(frozen=True, slots=True)
class Correctness:
    """The maps of one model.

    Attributes:
        model: The model's identity.
        name: Its display name.
        language: The language of the code.
        completion: For whole completions of function bodies.
        statement: For their statements; right if the smallest fix leaves it as it is.
        created: Date of the fit, ISO 8601.
        data: What it was fitted on, in words.
        version: The format of the file.
    """

    model: str
    name: str
    language: str
    completion: ChanceMap
    statement: ChanceMap
    created: str
    data: str
    version: int = VERSION


def correctness_file(model_identity: str, folder: Path | None = None) -> Path:
    """The path of a model's maps, in the user's data folder."""
    folder = folder or Path(platformdirs.user_data_dir("counterlens")) / "correctness"
    return folder / f"{hashlib.sha256(model_identity.encode()).hexdigest()[:32]}.json"


def load_correctness(model_identity: str, *, folder: Path | None = None) -> Correctness | None:
    """The maps of a model: the user's own, else those that come with Counterlens; None if there are none."""
    own = correctness_file(model_identity, folder)
    with contextlib.suppress(OSError, msgspec.DecodeError, ValueError):
        maps = msgspec.json.decode(read_text(own), type=Correctness)
        if (maps.model, maps.version) == (model_identity, VERSION):
            return maps
    return _built_in().get(model_identity)


@cache
def _built_in() -> dict[str, Correctness]:
    folder = resources.files("counterlens.confidence") / "measured"
    files = [file for file in folder.iterdir() if file.name.endswith(".json")] if folder.is_dir() else []
    maps = [msgspec.json.decode(file.read_text(encoding="utf-8"), type=Correctness) for file in files]
    return {each.model: each for each in maps}


def save_correctness(maps: Correctness, *, folder: Path | None = None) -> Path:
    """Replace a model's stored maps atomically; returns their path.

    Raises:
        ModelError: they cannot be written.
    """
    path = correctness_file(maps.model, folder)
    text = msgspec.json.format(msgspec.json.encode(maps), indent=1).decode()
    try:
        replace_file(path, text + "\n")
    except OSError as error:
        raise ModelError(f"the result cannot be written to {path.parent}: {error.strerror}") from error
    return path
