"""Figures, without a threshold, of closed questions with the probability of each candidate answer.

What a model says hides what it knows if one answer is nearly always the likeliest. So the candidates of a
question are ranked by their probabilities, and the prior of an answer can be taken out: the mean of its
log-probability over questions about other functions (contextual calibration, Zhao et al. 2021, with real
questions in place of empty ones), so that no function's own questions decide how they are corrected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.metrics.bootstrap import Estimate, bootstrap_pairs, pooled_mean
from counterlens.metrics.calibration import auroc
from counterlens.metrics.effects import Proportion, pooled_share

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed question with the probabilities of its candidates.

    Attributes:
        function: The function that it is about, the cluster of intervals.
        candidates: The answers.
        logprobs: (k,) their log-probabilities in nats, given that one of them is the answer.
        right: The indices of the right ones, at least one.
    """

    function: Hashable
    candidates: tuple[Hashable, ...]
    logprobs: tuple[float, ...]
    right: frozenset[int]

    @property
    def chance(self) -> float:
        """The share of right candidates."""
        return len(self.right) / len(self.candidates)

    @property
    def chance_rank(self) -> float:
        """The expected reciprocal rank of the first right candidate in a random order."""
        k, first = len(self.candidates), 0.0
        missed = 1.0  # the probability that none of the ranks before is right
        for rank in range(1, k - len(self.right) + 2):
            hit = len(self.right) / (k - rank + 1)
            first += missed * hit / rank
            missed *= 1 - hit
        return first


def less_prior(questions: Sequence[Closed]) -> list[Closed]:
    """The questions with the prior of each candidate taken out, fitted on other functions.

    A candidate that no question about another function has keeps its probability.
    """
    sums: defaultdict[Hashable, float] = defaultdict(float)
    counts: defaultdict[Hashable, int] = defaultdict(int)
    own_sums: defaultdict[tuple[Hashable, Hashable], float] = defaultdict(float)
    own_counts: defaultdict[tuple[Hashable, Hashable], int] = defaultdict(int)
    for question in questions:
        for candidate, excess in zip(question.candidates, _excess(question), strict=True):
            sums[candidate] += excess
            counts[candidate] += 1
            own_sums[question.function, candidate] += excess
            own_counts[question.function, candidate] += 1
    corrected = []
    for question in questions:
        scores = []
        for candidate, excess in zip(question.candidates, _excess(question), strict=True):
            own = question.function, candidate
            others = counts[candidate] - own_counts[own]
            scores.append(excess - ((sums[candidate] - own_sums[own]) / others if others else 0.0))
        logprobs = np.array(scores)
        logprobs -= np.logaddexp.reduce(logprobs)
        corrected.append(
            Closed(question.function, question.candidates, tuple(logprobs.tolist()), question.right)
        )
    return corrected


def _excess(question: Closed) -> list[float]:
    """The log-probabilities above that of a uniform guess, so that questions of any size compare."""
    return [logprob + float(np.log(len(question.candidates))) for logprob in question.logprobs]


def share_first(questions: Sequence[Closed]) -> Proportion:
    """The share of questions whose likeliest candidate is right."""
    return pooled_share(
        (question.function, int(np.argmax(question.logprobs)) in question.right) for question in questions
    )


def share_above_chance(questions: Sequence[Closed]) -> Estimate:
    """The share of questions whose likeliest candidate is right, less that of a random one."""
    return pooled_mean(
        (question.function, float(int(np.argmax(question.logprobs)) in question.right) - question.chance)
        for question in questions
    )


def reciprocal_rank(questions: Sequence[Closed]) -> Estimate:
    """The mean reciprocal rank of the likeliest right candidate; others as likely count half each."""
    return pooled_mean(((question.function, _reciprocal(question)) for question in questions), bounds=(0, 1))


def _reciprocal(question: Closed) -> float:
    best = max(question.logprobs[index] for index in question.right)
    others = [value for at, value in enumerate(question.logprobs) if at not in question.right]
    rank = 1 + sum(value > best for value in others) + sum(value == best for value in others) / 2
    return 1 / rank


def area(questions: Sequence[Closed], *, seed: int = 0) -> Estimate:
    """Of questions with two candidates, the probability that the first one is likelier where it is right.

    The area under the ROC curve (AUROC) of its probability: 0.5 for a coin, and for a model whose answer does
    not depend on the question. Ties count one half.

    Args:
        questions: Questions with the same two candidates.
        seed: Random seed of the bootstrap over functions.
    """
    value, right, group = _first_candidates(questions)
    if not len(value) or right.min() == right.max():
        return Estimate(None, None, None, len(set(group.tolist())))
    auc = auroc(value, right, group, seed=seed)
    return Estimate(auc.value, auc.low, auc.high, len(set(group.tolist())))


def area_inside(questions: Sequence[Closed], *, seed: int = 0) -> Estimate:
    """As `area`, among questions about one function: the mean over functions, weighted by their pairs.

    What makes a function's questions alike, such as its length, has no part in it.
    """
    value, right, group = _first_candidates(questions)
    pairs = []
    for function in np.unique(group):
        here = group == function
        true, false = value[here & (right == 1)], value[here & (right == 0)]
        if len(true) and len(false):
            above = (true[:, None] > false).sum() + (true[:, None] == false).sum() / 2
            pairs.append((float(above), float(len(true) * len(false))))
    return bootstrap_pairs(pairs, lambda won, all_: won.sum(axis=1) / all_.sum(axis=1), seed=seed)


def _first_candidates(questions: Sequence[Closed]) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """(n,) log-odds of the first candidate, whether it is right, and the index of the function."""
    functions = {name: at for at, name in enumerate(dict.fromkeys(each.function for each in questions))}
    return (
        np.array([each.logprobs[0] - each.logprobs[1] for each in questions], np.float64),
        np.array([float(0 in each.right) for each in questions], np.float64),
        np.array([functions[each.function] for each in questions], np.int64),
    )
