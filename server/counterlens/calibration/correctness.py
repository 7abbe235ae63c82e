"""Fits and evaluates what a model's confidence says about the correctness of code that it wrote.

The figures of a map are of functions outside the fit: each half of the functions gets the map of the other
half. The stored map is then fitted on all functions.
"""

from __future__ import annotations

import datetime
import importlib.util
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterlens.calibration.outcomes import Outcomes
from counterlens.confidence.correctness import (
    ChanceMap,
    Correctness,
    RightShare,
    Summary,
    features,
)
from counterlens.errors import CounterlensError
from counterlens.metrics.bootstrap import IntervalEstimate
from counterlens.metrics.calibration import Floats, Integers, auroc, brier_skill, quality
from counterlens.models.base import ModelInfo

LEAST_FUNCTIONS = 20
"""Minimum number of functions: half of them fit a map."""
_LEAST_OF_KIND = 40
"""Minimum number of statements of a kind in the fit for an offset of its own."""
_STRENGTH = 1.0  # the inverse of the L2 penalty, on summaries in units of their spread


def require_statistics() -> None:
    """Report early, with a hint, that the fitting library is missing.

    Raises:
        CounterlensError: scikit-learn is not installed.
    """
    if importlib.util.find_spec("sklearn") is None:  # importing it takes most of a second
        raise CounterlensError(
            "calibration needs scikit-learn, which is not installed",
            "Install it with: pip install 'counterlens[statistics]'",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """n pieces of code that a model wrote.

    Attributes:
        features: (n, 4) for whole completions, (n, 8) for statements.
        kinds: (n,) node types; empty for whole completions.
        right: (n,) 1.0 or 0.0.
        group: (n,) the index of each piece's function.
    """

    features: Floats
    kinds: np.ndarray[tuple[int], np.dtype[np.str_]]
    right: Floats
    group: Integers

    def where(self, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Pieces:
        """The pieces selected by a mask of (n,)."""
        return Pieces(self.features[mask], self.kinds[mask], self.right[mask], self.group[mask])


@dataclass(frozen=True, slots=True)
class CorrectnessResult:
    """The maps of a model, and what they were measured on.

    Attributes:
        maps: The maps with their figures.
        completions: Number of completions.
        functions: Number of functions.
        fixed_by: Number of failing completions by what their statements were compared with.
        left_out: Reasons why functions and completions were left out, with their number.
    """

    maps: Correctness
    completions: int
    functions: int
    fixed_by: dict[str, int]
    left_out: dict[str, int]


def fit_correctness(
    outcomes: Outcomes, info: ModelInfo, *, data: str, language: str, seed: int = 0
) -> CorrectnessResult:
    """Fit both maps of a model.

    Args:
        outcomes: Its judged completions.
        info: The model.
        data: What they are completions of, in words.
        language: The language of the code.
        seed: Random seed of the halves, the parts and the intervals.

    Raises:
        CounterlensError: there are too few functions, or all completions have the same verdict; or
            scikit-learn is missing.
    """
    completions = outcomes.completions
    functions = sorted({each.function for each in completions})
    passed = sum(each.passed for each in completions)
    reasons = "; ".join(f"{reason} ({n})" for reason, n in outcomes.left_out.items())
    if len(functions) < LEAST_FUNCTIONS or passed in (0, len(completions)):
        raise CounterlensError(
            f"{len(functions)} functions with {len(completions)} completions, {passed} of which pass, are "
            f"too few for a fit: it takes {LEAST_FUNCTIONS} functions, and both verdicts",
            f"Give more data, or a higher --limit. Left out: {reasons}" if reasons else "Give more data",
        )
    number = {name: i for i, name in enumerate(functions)}
    whole = _pieces([(each.logprobs, None, "", each.passed, number[each.function]) for each in completions])
    statements = _pieces(
        [
            (part.logprobs, each.logprobs, part.kind, part.right, number[each.function])
            for each in completions
            for part in each.statements
        ]
    )
    longest = max(len(each.logprobs) for each in completions)
    fixed_by = Counter(each.fixed_by for each in completions if not each.passed)
    maps = Correctness(
        model=info.identity,
        name=info.name,
        language=language,
        completion=replace(fit_map(whole, seed), longest=longest),
        statement=replace(fit_map(statements, seed), longest=longest),
        created=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        data=data,
    )
    return CorrectnessResult(maps, len(completions), len(functions), dict(fixed_by), dict(outcomes.left_out))


def _pieces(rows: Sequence[tuple[Floats, Floats | None, str, bool, int]]) -> Pieces:
    """The pieces of some rows: log-probabilities, those of the whole, node type, truth and function."""
    _, _, kinds, right, group = zip(*rows, strict=True)
    return Pieces(
        np.array([features(own, whole) for own, whole, *_ in rows], np.float64),
        np.array(kinds, np.str_),
        np.array(right, np.float64),
        np.array(group, np.int64),
    )


def fit_map(pieces: Pieces, seed: int = 0) -> ChanceMap:
    """The map of some pieces, fitted on all of them, with the figures of functions outside the fit."""
    chances = np.empty(len(pieces.right))
    for half in _parts(pieces, 2, seed):
        chances[half] = _fit(pieces.where(~half)).chances(pieces.features[half], pieces.kinds[half])
    fitted = _fit(pieces)
    right, group = pieces.right, pieces.group
    measured = quality(chances, right, group, seed=seed)
    kinds, place = np.unique(pieces.kinds, return_inverse=True)
    return replace(
        fitted,
        functions=len(np.unique(group)),
        skill=brier_skill(chances, right, group, seed=seed),
        auroc=auroc(chances, right, group, seed=seed),
        ece=measured.ece,
        shares=tuple(
            RightShare(
                each.low,
                each.high,
                each.n,
                round(each.right * each.n) if each.n else 0,
                each.confidence if each.n else each.low,
            )
            for each in measured.bins
        ),
        by_kind={
            str(kind): (int((place == i).sum()), int(right[place == i].sum()))
            for i, kind in enumerate(kinds)
            if kind
        },
    )


def _fit(pieces: Pieces) -> ChanceMap:
    """A logistic regression on all features, with an offset for each node type that is frequent enough."""
    from sklearn.linear_model import LogisticRegression

    columns = pieces.features
    center, spread = columns.mean(axis=0), np.maximum(columns.std(axis=0), 1e-9)
    types, counts = np.unique(pieces.kinds, return_counts=True)
    kinds = [kind for kind, n in zip(types, counts, strict=True) if kind and n >= _LEAST_OF_KIND]
    rows = np.concatenate(
        [(columns - center) / spread, *((pieces.kinds == kind)[:, None] for kind in kinds)], axis=1
    )
    n, share = len(pieces.right), float(pieces.right.mean())
    empty: dict[str, Any] = {
        "n": n,
        "functions": 0,
        "longest": 0,
        "right": share,
        "shares": (),
        **dict.fromkeys(("skill", "auroc", "ece"), IntervalEstimate(0.0, None, None)),
    }
    if share in (0.0, 1.0):
        share = (pieces.right.sum() + 1) / (n + 2)
        return ChanceMap({}, {}, float(np.log(share / (1 - share))), {}, **empty)
    fitted = LogisticRegression(C=_STRENGTH, max_iter=1000).fit(rows, pieces.right)
    features = columns.shape[1]
    weights = fitted.coef_[0, :features] / spread
    own, whole = weights[: len(Summary)].tolist(), weights[len(Summary) :].tolist()
    return ChanceMap(
        dict(zip(Summary, own, strict=True)),
        dict(zip(Summary, whole, strict=False)),  # of a whole completion, there are none
        float(fitted.intercept_[0] - weights @ center),
        dict(zip(map(str, kinds), fitted.coef_[0, features:].tolist(), strict=True)),
        **empty,
    )


def _parts(pieces: Pieces, n: int, seed: int) -> Iterator[np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Masks of n parts of the functions, at random, with about the same share of right pieces.

    Otherwise a part with a high share would have a rest with a low one, and so chances that are too low: with
    few functions, that reverses the order of pieces of different parts.
    """
    functions, place = np.unique(pieces.group, return_inverse=True)
    share = np.bincount(place, pieces.right) / np.bincount(place)
    order = np.random.default_rng(seed).permutation(len(functions))
    order = order[np.argsort(share[order], kind="stable")]
    for i in range(n):
        yield np.isin(pieces.group, functions[order[i::n]])
