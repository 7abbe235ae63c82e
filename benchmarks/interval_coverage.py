"""Measures the coverage of the reports' 95 % intervals on simulated data, by size, clustering and rate.

    python benchmarks/interval_coverage.py            # some minutes
    python benchmarks/interval_coverage.py --quick    # under a minute

Shares: observations of 0 and 1 in clusters, such as pairs in functions. Each cluster has its own rate, from a
beta distribution with the given mean and the given correlation of the observations of one cluster (0: none;
1: all values of a cluster are equal). `mean` is the coverage averaged over rates from 0 to 1 in equal steps,
`least` that of the worst rate, and some rates have their own columns. For small n, no interval can have
exactly 95 % coverage at every rate, because few counts are possible (Brown, Cai and DasGupta 2001). The
coverage of independent observations is computed exactly.

Means: of clusters whose means and observations have a normal or an exponential distribution; similarities: in
[0, 1], a third of them 1. Bootstraps: the median of independent clusters.

Differences: of an average mutation effect and its noise floor (`metrics/noise_floor.py`), over functions that
each have some informative pairs and placebos, or 1 to 8 and 0 to 4 of them. Effect and floor of a function
are correlated: both are at the same quantile of their beta distributions. `detected` is how often the
effect differs significantly from the floor: the error rate at equal rates, else the power.

    python benchmarks/interval_coverage.py --only differences

The last line is one JSON document; its ratios are coverages: averages over the rows of a kind, the lowest
row, and the lowest single rate.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import comb
from statistics import mean, median

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from counterlens.metrics.bootstrap import Estimate, bootstrap, pooled_mean
from counterlens.metrics.effects import Effect, pooled_share, wilson
from counterlens.metrics.noise_floor import above_floor
from counterlens.metrics.summary import Observation

Floats = npt.NDArray[np.float64]
Sizes = npt.NDArray[np.int64]
Groups = list[list[float]]

MIXED = -1
"""Represents cluster sizes from 1 to 13."""
FUNCTIONS = (10, 20, 50)
BESIDE: tuple[tuple[int, int] | None, ...] = ((5, 3), None)
"""Number of pairs and placebos per function; None: it varies."""
EFFECT_AND_FLOOR = ((0.15, 0.15), (0.3, 0.15), (0.4, 0.2), (0.4, 0.05), (0.4, 0.0), (0.05, 0.05))
INDEPENDENT = (2, 3, 5, 10, 20, 50, 100, 300, 1000)
CLUSTERED = tuple((clusters, size) for clusters in (2, 5, 10, 20, 50) for size in (2, 5, 20, MIXED))
CORRELATIONS = (0.0, 0.1, 0.3, 0.6, 1.0)
SHOWN = (0.0, 0.01, 0.05, 0.2, 0.5)
ENOUGH = 10
"""Number of clusters from which the effective sample size is estimated well enough not to be conservative."""


def sizes_of(clusters: int, size: int) -> list[int]:
    """The sizes of some clusters."""
    return [1 + 7 * i % 13 for i in range(clusters)] if size == MIXED else [size] * clusters


@lru_cache(maxsize=100_000)
def held_by(counts: tuple[tuple[int, int], ...]) -> tuple[float, float]:
    """The interval of a share, from the numbers of true and of all observations of each cluster."""
    share = pooled_share((i, k < true) for i, (true, size) in enumerate(counts) for k in range(size))
    return (share.low or 0.0) - 1e-12, (share.high or 0.0) + 1e-12


def exact(n: int, rates: Sequence[float]) -> list[float]:
    """The coverage of n independent observations at each rate."""
    bounds = [(k, wilson(k, n)) for k in range(n + 1)]
    logs = [float(np.log(float(comb(n, k)))) if n < 500 else _log_choose(n, k) for k in range(n + 1)]
    coverages = []
    for rate in rates:
        holding = [k for k, share in bounds if (share.low or 0.0) <= rate <= (share.high or 0.0)]
        if rate in (0, 1):
            coverages.append(float(n * round(rate) in holding))
        else:
            terms = np.array([logs[k] + k * np.log(rate) + (n - k) * np.log1p(-rate) for k in holding])
            coverages.append(float(np.exp(terms).sum()))
    return coverages


def _log_choose(n: int, k: int) -> float:
    return float(np.log(np.arange(n - k + 1, n + 1)).sum() - np.log(np.arange(1, k + 1)).sum())


def simulated(
    sizes: list[int], correlation: float, rates: Sequence[float], each: int, random: np.random.Generator
) -> list[float]:
    """The coverage of clustered observations at each rate, from a number of samples."""
    coverages = []
    for rate in rates:
        shape = (each, len(sizes))
        if correlation in (0, 1) or rate in (0, 1):
            own = np.full(shape, rate) if correlation < 1 else (random.random(shape) < rate).astype(float)
        else:
            strength = (1 - correlation) / correlation
            own = random.beta(rate * strength, (1 - rate) * strength, shape)
        counts = random.binomial(sizes, own)
        intervals = [held_by(tuple(sorted(zip(row, sizes, strict=True)))) for row in counts.tolist()]
        coverages.append(mean(low <= rate <= high for low, high in intervals))
    return coverages


def normal(sizes: list[int], correlation: float, random: np.random.Generator) -> tuple[Groups, float]:
    """Clusters whose means and observations are normal."""
    between, within = np.sqrt(correlation), np.sqrt(1 - correlation)
    return [list(random.normal(random.normal(0, between), within, size)) for size in sizes], 0.0


def exponential(sizes: list[int], correlation: float, random: np.random.Generator) -> tuple[Groups, float]:
    """Clusters whose means and observations are exponential: skewed, as surprisals are."""
    between, within = np.sqrt(correlation), np.sqrt(1 - correlation)
    groups = [list(between * random.exponential() + within * random.exponential(size=size)) for size in sizes]
    return groups, float(between + within)


def similarities(sizes: list[int], correlation: float, random: np.random.Generator) -> tuple[Groups, float]:
    """Clusters of similarities: a third are 1, the others of Beta(4, 2)."""
    groups = []
    for size in sizes:
        values = np.where(random.random(size) < 1 / 3, 1.0, random.beta(4, 2, size))
        alike = random.random(size) < correlation
        groups.append(list(np.where(alike, values[0], values)))
    return groups, 1 / 3 + 2 / 3 * 2 / 3


def drawn_mean(
    make: Callable[[list[int], float, np.random.Generator], tuple[Groups, float]],
    sizes: list[int],
    correlation: float,
    each: int,
    random: np.random.Generator,
    bounds: tuple[float, float] | None = None,
) -> float:
    """The coverage of the mean of clustered observations."""
    holding = []
    for _ in range(each):
        groups, truth = make(sizes, correlation, random)
        estimate = pooled_mean(
            ((i, value) for i, group in enumerate(groups) for value in group), bounds=bounds
        )
        holding.append(_holds(estimate, truth))
    return mean(holding)


def drawn_median(n: int, each: int, random: np.random.Generator) -> float:
    """The coverage of the bootstrapped median of n clusters."""
    samples = [random.normal(size=n).tolist() for _ in range(each)]
    return mean(_holds(bootstrap(values, median, seed=i), 0.0) for i, values in enumerate(samples))


def _holds(estimate: Estimate, truth: float) -> bool:
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and bool(low <= truth <= high)


def shares(
    each: int, rates: Sequence[float], random: np.random.Generator
) -> Iterator[tuple[str, float, float]]:
    """Print the coverage of shares; yield kind, mean and least of each row."""
    print(f"{'shares':34}{'mean':>7}{'least':>7}" + "".join(f"{f'at {rate:.0%}':>9}" for rate in SHOWN))
    for n in INDEPENDENT:
        coverages = exact(n, [i / 1000 for i in range(1001)])
        yield _row(f"{n} independent", "independent", coverages, exact(n, SHOWN))
    for clusters, size in CLUSTERED:
        for correlation in CORRELATIONS:
            sizes = sizes_of(clusters, size)
            coverages = simulated(sizes, correlation, rates, each, random)
            shown = simulated(sizes, correlation, SHOWN, each, random)
            title = f"{clusters} x {'1..13' if size == MIXED else size}, correlation {correlation:g}"
            kind = "clustered" if clusters >= ENOUGH else "few_clusters"
            yield _row(title, kind, coverages, shown)


def _row(title: str, kind: str, coverages: list[float], shown: list[float]) -> tuple[str, float, float]:
    figures = "".join(f"{coverage:9.1%}" for coverage in shown)
    print(f"{title:34}{mean(coverages):7.1%}{min(coverages):7.1%}{figures}", flush=True)
    return kind, mean(coverages), min(coverages)


def means(each: int, random: np.random.Generator) -> Iterator[tuple[str, float]]:
    """Print the coverage of means and medians; yield kind and coverage of each row."""
    print(f"\n{'means':34}{'normal':>14}{'exponential':>14}{'similarities':>14}")
    for clusters, size in ((2, 1), (5, 1), (10, 1), (50, 1), (2, 5), (5, 5), (10, 5), (20, MIXED), (50, 5)):
        for correlation in (0.0,) if size == 1 else (0.0, 0.3, 1.0):
            sizes = sizes_of(clusters, size)
            coverages = [
                drawn_mean(normal, sizes, correlation, each, random),
                drawn_mean(exponential, sizes, correlation, each, random),
                drawn_mean(similarities, sizes, correlation, each, random, (0, 1)),
            ]
            title = f"{clusters} x {'1..13' if size == MIXED else size}, correlation {correlation:g}"
            print(f"{title:34}" + "".join(f"{coverage:14.1%}" for coverage in coverages), flush=True)
            yield from zip(("normal", "exponential", "similarities"), coverages, strict=True)
    print(f"\n{'bootstrapped medians':34}{'normal':>14}")
    for n in (6, 10, 20, 50):
        coverage = drawn_median(n, max(50, each // 4), random)
        print(f"{f'{n} independent':34}{coverage:14.1%}", flush=True)
        yield "medians", coverage


def beside(
    functions: int, counts: tuple[int, int] | None, random: np.random.Generator
) -> tuple[Sizes, Sizes]:
    """The numbers of pairs and of placebos of each function."""
    if counts:
        return np.full(functions, counts[0]), np.full(functions, counts[1])
    return random.integers(1, 9, functions), random.integers(0, 5, functions)


def drawn_difference(
    functions: int,
    counts: tuple[int, int] | None,
    correlation: float,
    rates: tuple[float, float],
    each: int,
    random: np.random.Generator,
) -> tuple[float, float]:
    """The coverage of an effect minus its floor, and how often they differ significantly."""
    held, detected = [], []
    for _ in range(each):
        at = random.random(functions)
        kinds = []
        for rate, sizes in zip(rates, beside(functions, counts, random), strict=True):
            strength = (1 - correlation) / correlation if correlation else 0
            own = rate if 0 in (strength, rate) else betaincinv(rate * strength, (1 - rate) * strength, at)
            changed = random.binomial(sizes, own)
            kinds.append(
                [
                    Observation(Effect(original=True, counterfactual=k >= true), "", "", str(function), "")
                    for function, (true, size) in enumerate(zip(changed, sizes, strict=True))
                    for k in range(size)
                ]
            )
        found = above_floor(*kinds)
        held.append(_holds(found.difference, rates[0] - rates[1]))
        detected.append(found.exceeded is True)
    return mean(held), mean(detected)


def differences(
    each: int, functions: Sequence[int], random: np.random.Generator
) -> Iterator[tuple[str, float]]:
    """Print the coverage of differences; yield kind and figure of each."""
    head = "".join(f"{f'{effect:.0%} less {floor:.0%}':>20}" for effect, floor in EFFECT_AND_FLOOR)
    print(f"\n{'effect minus floor: coverage, detected':42}{head}")
    for number in functions:
        for counts in BESIDE:
            for correlation in (0.0, 0.3, 0.6):
                figures = [
                    drawn_difference(number, counts, correlation, rates, each, random)
                    for rates in EFFECT_AND_FLOOR
                ]
                size = f"{counts[0]} and {counts[1]}" if counts else "1..8 and 0..4"
                title = f"{number} x {size}, correlation {correlation:g}"
                print(
                    f"{title:42}" + "".join(f"{held:11.1%},{detected:7.1%} " for held, detected in figures),
                    flush=True,
                )
                for (effect, floor), (held, detected) in zip(EFFECT_AND_FLOOR, figures, strict=True):
                    yield "differences", held
                    if effect == floor:
                        yield "detected_in_error", detected


def main() -> None:
    """Print the tables and the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="use fewer samples")
    parser.add_argument("--only", choices=["differences"], help="print only this part")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    random = np.random.default_rng(given.seed)
    figures: dict[str, list[float]] = {}
    for kind, figure in differences(*((20, (20,)) if given.quick else (300, FUNCTIONS)), random):
        figures.setdefault(kind, []).append(figure)
    ratios = {name: round(mean(found), 3) for name, found in figures.items()}
    ratios |= {f"lowest_{name}": round(min(found), 3) for name, found in figures.items()}
    if given.only:
        print(json.dumps({"benchmark": "interval_coverage", "ratios": ratios}))
        return
    random, figures = np.random.default_rng(given.seed), {}
    steps, each = (20, 60) if given.quick else (40, 400)
    rows = list(shares(each, [i / steps for i in range(steps + 1)], random))
    for kind, average, _ in rows:
        figures.setdefault(f"shares_{kind}", []).append(average)
    for kind, coverage in means(100 if given.quick else 2000, random):
        figures.setdefault(f"means_{kind}" if kind != "medians" else kind, []).append(coverage)
    ratios |= {name: round(mean(coverages), 3) for name, coverages in figures.items()}
    ratios |= {f"lowest_{name}": round(min(coverages), 3) for name, coverages in figures.items()}
    ratios["least_of_a_rate"] = round(min(least for _, _, least in rows), 3)
    print(json.dumps({"benchmark": "interval_coverage", "ratios": ratios}))


if __name__ == "__main__":
    main()
