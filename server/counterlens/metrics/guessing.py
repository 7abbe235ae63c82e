"""Guesses among a few candidates: accuracy per candidate, and comparison with chance.

The Monte-Carlo baseline guesses by prior frequency (Ahmed et al. 2024, sections 4.2.1 and 4.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.metrics.agreement import Agreement

SIMULATIONS = 1000


@dataclass(frozen=True, slots=True)
class Guess:
    """One guess.

    Attributes:
        true: The truth.
        guessed: The answers.
        candidates: The candidates; both operators are among them.
    """

    true: str
    guessed: str
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chance:
    """The accuracy of guessing by frequency.

    Attributes:
        mean: The mean accuracy of the simulations.
        highest: The highest accuracy of a simulation.
        p_value: (b + 1) / (m + 1), for b of m simulations at least as accurate as the observed guesses
            (Davison and Hinkley 1997, section 4.2): never 0.
        simulations: Number of simulations.
        better: Number of simulations that were more accurate than the observed guesses.
    """

    mean: float
    highest: float
    p_value: float
    simulations: int
    better: int


@dataclass(frozen=True, slots=True)
class PerCandidate:
    """The figures of one candidate against the others.

    Attributes:
        counts: True positives, false positives, false negatives.
        p_value: As in `Chance`, for its F1; None if it was never right.
        better: As in `Chance`, for its F1.
    """

    counts: Agreement
    p_value: float | None
    better: int | None


def accuracy(guesses: Sequence[Guess]) -> float | None:
    """The share of right guesses; None if there are none."""
    return sum(guess.true == guess.guessed for guess in guesses) / len(guesses) if guesses else None


def by_chance(
    guesses: Sequence[Guess],
    frequency: Mapping[str, float],
    *,
    simulations: int = SIMULATIONS,
    seed: int = 0,
    unseen: float = 1.0,
) -> tuple[Chance, dict[str, PerCandidate]] | None:
    """Compare some guesses with guessing by frequency.

    Args:
        frequency: Frequency of each candidate, in any unit.
        simulations: Number of simulations of all guesses.
        seed: Random seed.
        unseen: The count added to each frequency, so that unseen operators can be guessed. With 0 they
            cannot, unless none of the candidates was ever seen.

    Returns:
        The comparison over all guesses, and per candidate, most frequent first; None if there are no guesses.
    """
    if not guesses:
        return None
    random = np.random.default_rng(seed)
    names = sorted(
        {name for guess in guesses for name in guess.candidates}, key=lambda n: (-frequency.get(n, 0), n)
    )
    index = {name: i for i, name in enumerate(names)}
    true = np.array([index[guess.true] for guess in guesses])
    drawn = np.empty((simulations, len(guesses)), np.int64)
    for candidates in dict.fromkeys(guess.candidates for guess in guesses):  # the order of a set is random
        where = np.array([i for i, guess in enumerate(guesses) if guess.candidates == candidates])
        weights = np.array([frequency.get(name, 0) + unseen for name in candidates])
        weights = weights if weights.sum() else np.ones(len(candidates))
        picked = random.choice(len(candidates), (simulations, len(where)), p=weights / weights.sum())
        drawn[:, where] = np.array([index[name] for name in candidates])[picked]
    observed = float(np.mean([guess.true == guess.guessed for guess in guesses]))
    simulated = (drawn == true).mean(axis=1)
    overall = Chance(
        mean=float(simulated.mean()),
        highest=float(simulated.max()),
        p_value=_p_value(simulated >= observed - 1e-12),
        simulations=simulations,
        better=int((simulated > observed + 1e-12).sum()),
    )
    return overall, {
        name: _candidate(_counts(guesses, name), _f1(drawn == i, true == i)) for i, name in enumerate(names)
    }


def _candidate(counts: Agreement, simulated: npt.NDArray[np.float64]) -> PerCandidate:
    if not counts.true_positives + counts.false_negatives:
        return PerCandidate(counts, None, None)
    observed = counts.f1 or 0.0
    return PerCandidate(
        counts, _p_value(simulated >= observed - 1e-12), int((simulated > observed + 1e-12).sum())
    )


def _counts(guesses: Sequence[Guess], name: str) -> Agreement:
    positions = {i for i, guess in enumerate(guesses) if guess.guessed == name}
    return Agreement.of(positions, {i for i, guess in enumerate(guesses) if guess.true == name})


def _f1(drawn: npt.NDArray[np.bool_], true: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """(m,) the F1 of each of m simulations."""
    hits = (drawn & true).sum(axis=1)
    return np.asarray(2 * hits / np.maximum(drawn.sum(axis=1) + true.sum(), 1), np.float64)


def _p_value(at_least: npt.NDArray[np.bool_]) -> float:
    return float((at_least.sum() + 1) / (len(at_least) + 1))
