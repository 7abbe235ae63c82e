"""Measures the coverage of intervals and the errors of sampling, for simulated models with known pass rates.

    python benchmarks/pass_rates.py            # some seconds
    python benchmarks/pass_rates.py --quick    # fewer samples

The models sample completions that pass with a known rate. `coverage`: how often the 95 % interval of a pair's
difference of pass rates contains it, computed exactly over all counts, averaged over a grid of both rates;
`lowest_coverage`: that of the worst two rates. `mean_coverage`: that of the mean difference over functions
with three pairs each, whose rates differ between functions. `moved_in_error`: how often sampling ends with an
effect if both rates are equal; `held_in_error`: how often it ends with "it held" if they differ by the tenth
that counts as none. Both are the largest over the tested rates. `share_of_draws`: the samples until sampling
ends over the allowed maximum, if 85 % of the originals and 20 % of the counterfactuals pass.
"""

from __future__ import annotations

import argparse
import json
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from counterlens.metrics.pass_rates import (
    NOTHING,
    PassCount,
    RateFinding,
    finding,
    looks,
    mean_difference,
    rate_difference,
)

RATES = np.linspace(0.05, 0.95, 13)
ALLOWED = (20, 200)
"""Maximum samples per side: a probe's default, and enough to conclude that a model held."""


@cache
def said(passed: int, other: int, n: int, most: int) -> RateFinding:
    """The result of a number of samples per side."""
    return finding(PassCount(passed, n), PassCount(other, n), most)


def coverages(n: int) -> npt.NDArray[np.float64]:
    """The coverage of the interval of a difference, by the two rates."""
    counts = range(n + 1)
    held = {}
    for before, after in product(counts, repeat=2):
        held[before, after] = rate_difference(PassCount(before, n), PassCount(after, n))
    low, high = (
        np.array([[getattr(held[i, j], end) for j in counts] for i in counts]) for end in ("low", "high")
    )
    found = np.empty((len(RATES), len(RATES)))
    for (i, original), (j, changed) in product(enumerate(RATES), repeat=2):
        weights = np.outer(binom.pmf(counts, n, original), binom.pmf(counts, n, changed))
        found[i, j] = weights[(low <= changed - original) & (changed - original <= high)].sum()
    return found


def mean_coverage(functions: int, runs: int, n: int, random: np.random.Generator) -> float:
    """The coverage of the interval of the mean difference, over functions with three pairs each."""
    held = 0
    for _ in range(runs):
        original = random.beta(4, 2, (functions, 3))
        changed = original * random.beta(5, 2, (functions, 1))
        drawn = [random.binomial(n, rates) for rates in (original, changed)]
        pairs = [
            (i, PassCount(int(drawn[0][i, j]), n), PassCount(int(drawn[1][i, j]), n))
            for i, j in product(range(functions), range(3))
        ]
        estimate = mean_difference(pairs)
        # The truth for the population of functions, not for the sampled ones.
        truth = 4 / 6 * (5 / 7 - 1)
        if estimate.low is not None and estimate.high is not None:
            held += estimate.low <= truth <= estimate.high
    return held / runs


def ends(
    original: float, changed: float, most: int, runs: int, random: np.random.Generator
) -> tuple[dict[RateFinding, float], float]:
    """How often sampling ends with each finding, and the mean share of samples until then."""
    before = np.cumsum(random.random((runs, most)) < original, axis=1)
    after = np.cumsum(random.random((runs, most)) < changed, axis=1)
    counted, taken = dict.fromkeys(RateFinding, 0), 0
    for run in range(runs):
        found, n = RateFinding.OPEN, most
        for n in looks(most):
            found = said(int(before[run, n - 1]), int(after[run, n - 1]), n, most)
            if found is not RateFinding.OPEN:
                break
        counted[found] += 1
        taken += n
    return {name: count / runs for name, count in counted.items()}, taken / runs / most


def main() -> None:
    """Print the tables and the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="use fewer samples")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    random = np.random.default_rng(given.seed)
    runs = 1_000 if given.quick else 20_000
    print(f"{'a pair, samples per side':36}{'mean':>8}{'least':>8}")
    single = {}
    for n in (8, 10, 16, 20, 40):
        single[n] = coverages(n)
        print(f"{n:<36}{single[n].mean():8.1%}{single[n].min():8.1%}", flush=True)
    print("\nmean over functions, 10 samples per side")
    means = []
    for functions in (10, 20, 50):
        means.append(mean_coverage(functions, max(200, runs // 10), 10, random))
        print(f"{functions:<36}{means[-1]:8.1%}", flush=True)
    print(f"\n{'end of sampling':36}{'moved':>8}{'held':>8}{'open':>8}{'samples':>8}")
    errors: dict[str, list[float]] = {"moved_in_error": [], "held_in_error": []}
    for most, rate in product(ALLOWED, (0.02, 0.05, 0.1, 0.3, 0.5, 0.9, 0.95, 0.98)):
        apart = rate - NOTHING if rate > NOTHING else rate + NOTHING
        for changed, error, name in (
            (rate, RateFinding.MOVED, "moved_in_error"),
            (apart, RateFinding.HELD, "held_in_error"),
        ):
            shares, draws = ends(rate, changed, most, runs, random)
            errors[name].append(shares[error])
            title = f"{rate:.0%} and {changed:.0%}, at most {most}"
            figures = "".join(f"{shares[found]:8.1%}" for found in RateFinding)
            print(f"{title:36}{figures}{draws:8.0%}", flush=True)
    _, draws = ends(0.85, 0.2, ALLOWED[0], runs, random)
    ratios = {
        "coverage": np.mean([found.mean() for found in single.values()]),
        "lowest_coverage": min(found.min() for found in single.values()),
        "mean_coverage": np.mean(means),
        **{name: max(found) for name, found in errors.items()},
        "share_of_draws": draws,
    }
    rounded = {name: round(float(value), 3) for name, value in ratios.items()}
    print(json.dumps({"benchmark": "pass_rates", "ratios": rounded}))


if __name__ == "__main__":
    main()
