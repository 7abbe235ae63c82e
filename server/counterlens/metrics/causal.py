"""AsC-Causal (Palacio et al. 2023, section IV) with DoWhy: how confidence in a concept affects cross-entropy.

The treatment is a snippet's confidence in a concept, the outcome its cross-entropy, and four features of its
code are the confounders. The average treatment effect is the slope of the treatment in a linear regression
that controls for the confounders (back-door criterion). The tables also have Pearson's correlations, which
control for nothing, and DoWhy's refutations: attempts to make the effect vanish, or appear where there is
none.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from counterlens.errors import CounterlensError
from counterlens.metrics.agreement import correlation
from counterlens.metrics.bootstrap import Estimate, bootstrap
from counterlens.progress import ProgressCallback

CONFOUNDERS = ("cyclomatic_complexity", "ast_levels", "ast_nodes", "sequence_length")
LEAST_SNIPPETS = 30
"""Minimum number of snippets with a concept for an estimate: six coefficients are fitted to them."""
SIMULATIONS = 20
_PLACEBO_SHARE = 0.5  # share of an effect from which a placebo refutes it
_UNOBSERVED = 0.2  # standard deviations by which an unobserved confounder shifts treatment and outcome


@dataclass(frozen=True, slots=True)
class Snippet:
    """The measurements of one function.

    Attributes:
        cluster: Its cluster, such as its file.
        cross_entropy: Nats per token.
        confounders: One value for each of `CONFOUNDERS`.
        concepts: The confidence in each concept that occurs in it, 0 to 1.
    """

    cluster: str
    cross_entropy: float
    confounders: tuple[float, ...]
    concepts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Refutation:
    """One attempt to refute an effect.

    Attributes:
        holds: Whether the estimate stands: a placebo's effect is small compared with it (`beats_placebo`), a
            random common cause and a subset change it by no more than its own uncertainty, and an unobserved
            confounder does not change its sign.
    """

    effect: float
    holds: bool


@dataclass(frozen=True, slots=True)
class ConceptEffect:
    """A concept's effect on cross-entropy.

    Attributes:
        n: Number of snippets with it.
        effect: The average treatment effect in nats per token for a confidence of 1 instead of 0, with a 95 %
            interval over clusters; None if there are too few snippets, or the confidence is constant.
        pearson: Its correlation with each confounder and with `cross_entropy`; None if one of them is
            constant.
        refutations: `placebo`, `random common cause`, `subset`, `unobserved`.
    """

    concept: str
    n: int
    effect: Estimate
    pearson: Mapping[str, float | None]
    refutations: Mapping[str, Refutation]


def causal_effects(
    snippets: Sequence[Snippet],
    *,
    seed: int = 0,
    simulations: int = SIMULATIONS,
    progress: ProgressCallback | None = None,
) -> list[ConceptEffect]:
    """The effect of every concept, in the order of first occurrence.

    Args:
        snippets: Functions scored by one model.
        seed: Random seed of intervals and refutations.
        simulations: Number of simulations per refutation.
        progress: Called at each concept.

    Raises:
        CounterlensError: DoWhy is not installed.
    """
    require_dowhy()
    from dowhy import CausalModel

    names = list(dict.fromkeys(name for snippet in snippets for name in snippet.concepts))
    effects = []
    for number, name in enumerate(names):
        if progress:
            progress(name, number, len(names))
        holding = [snippet for snippet in snippets if name in snippet.concepts]
        effects.append(_effect(CausalModel, name, holding, seed, simulations))
    return effects


def slope(snippets: Sequence[Snippet], concept: str) -> float | None:
    """The regression coefficient of a concept's confidence given the confounders; None if it is constant."""
    treatment = np.array([snippet.concepts[concept] for snippet in snippets])
    if len(snippets) < len(CONFOUNDERS) + 3 or np.ptp(treatment) < 1e-9:
        return None
    columns = np.array([snippet.confounders for snippet in snippets], np.float64)
    design = np.column_stack([treatment, columns, np.ones(len(snippets))])
    outcome = np.array([snippet.cross_entropy for snippet in snippets])
    return float(np.linalg.lstsq(design, outcome, rcond=None)[0][0])


def beats_placebo(effect: float, placebo: float) -> bool:
    """Whether an effect beats that of a placebo: by sign and size, whatever the width of its interval.

    A placebo with half of the effect in the same direction, or all of it in the other, refutes it.
    """
    return -1 < placebo / effect < _PLACEBO_SHARE if effect else False


def _effect(
    causal_model: Any, name: str, snippets: Sequence[Snippet], seed: int, simulations: int
) -> ConceptEffect:
    pearson = {
        variable: correlation([(snippet.concepts[name], _value(snippet, variable)) for snippet in snippets])
        for variable in (*CONFOUNDERS, "cross_entropy")
    }
    undefined = Estimate(None, None, None, len(snippets))
    if len(snippets) < LEAST_SNIPPETS or slope(snippets, name) is None:
        return ConceptEffect(name, len(snippets), undefined, pearson, {})
    with _quiet(seed):
        model, identified, estimated = _estimate(causal_model, snippets, name)
        clusters = list(_clusters(snippets).values())
        drawn = bootstrap(
            clusters, lambda chosen: slope([*chain.from_iterable(chosen)], name), seed=seed, resamples=500
        )
        # A single cluster shows nothing about others.
        low, high = (drawn.low, drawn.high) if len(clusters) > 1 else (None, None)
        effect = Estimate(float(estimated.value), low, high, len(snippets))
        refutations = _refutations(model, identified, estimated, effect, snippets, name, seed, simulations)
    return ConceptEffect(name, len(snippets), effect, pearson, refutations)


def _estimate(causal_model: Any, snippets: Sequence[Snippet], name: str) -> tuple[Any, Any, Any]:
    import pandas

    columns: dict[str, list[float]] = {
        variable: [_value(snippet, variable) for snippet in snippets] for variable in CONFOUNDERS
    }
    varying = [variable for variable in CONFOUNDERS if np.ptp(columns[variable]) > 0]
    table = pandas.DataFrame({variable: columns[variable] for variable in varying})
    table["treatment"] = [snippet.concepts[name] for snippet in snippets]
    table["cross_entropy"] = [snippet.cross_entropy for snippet in snippets]
    model = causal_model(table, treatment="treatment", outcome="cross_entropy", common_causes=varying)
    identified = model.identify_effect(proceed_when_unidentifiable=True)
    return model, identified, model.estimate_effect(identified, method_name="backdoor.linear_regression")


def _refutations(
    model: Any,
    identified: Any,
    estimated: Any,
    effect: Estimate,
    snippets: Sequence[Snippet],
    name: str,
    seed: int,
    simulations: int,
) -> dict[str, Refutation]:
    value = float(estimated.value)
    bounds = [abs(bound - value) for bound in (effect.low, effect.high) if bound is not None]
    margin = max([*bounds, 0.1 * abs(value)])
    drawn = {"num_simulations": simulations, "random_state": seed, "show_progress_bar": False}

    def tried(method: str, **options: Any) -> float:
        refutation = model.refute_estimate(identified, estimated, method_name=method, **options)
        return float(np.mean(refutation.new_effect))

    placebo = tried("placebo_treatment_refuter", placebo_type="permute", **drawn)
    common = tried("random_common_cause", **drawn)
    subset = tried("data_subset_refuter", subset_fraction=0.8, **drawn)
    # Against the estimate, as if the effect were due to the confounder; DoWhy subtracts from the outcome
    # what it adds to the treatment, hence the sign.
    spread_t = float(np.std([snippet.concepts[name] for snippet in snippets]))
    spread_y = float(np.std([snippet.cross_entropy for snippet in snippets]))
    unobserved = tried(
        "add_unobserved_common_cause",
        simulation_method="direct-simulation",
        confounders_effect_on_treatment="linear",
        confounders_effect_on_outcome="linear",
        effect_strength_on_treatment=_UNOBSERVED * spread_t,
        effect_strength_on_outcome=np.sign(value) * _UNOBSERVED * spread_y,
        plotmethod=None,
    )
    return {
        "placebo": Refutation(placebo, beats_placebo(value, placebo)),
        "random common cause": Refutation(common, abs(common - value) <= margin),
        "subset": Refutation(subset, abs(subset - value) <= margin),
        "unobserved": Refutation(unobserved, unobserved * value > 0),
    }


def _value(snippet: Snippet, variable: str) -> float:
    if variable == "cross_entropy":
        return snippet.cross_entropy
    return float(snippet.confounders[CONFOUNDERS.index(variable)])


def _clusters(snippets: Sequence[Snippet]) -> dict[str, list[Snippet]]:
    clusters: dict[str, list[Snippet]] = {}
    for snippet in snippets:
        clusters.setdefault(snippet.cluster, []).append(snippet)
    return clusters


def require_dowhy() -> None:
    """Report early, with a hint, that the library is missing.

    Raises:
        CounterlensError: DoWhy is not installed.
    """
    try:
        import dowhy  # noqa: F401 - whether it is there
    except ImportError:
        raise CounterlensError(
            "causal effects need DoWhy, which is not installed",
            "Install it with: pip install 'counterlens[causal]'",
        ) from None


@contextlib.contextmanager
def _quiet(seed: int) -> Iterator[None]:
    """Silence DoWhy, and seed NumPy's global generator, which it uses; restore both afterwards."""
    state, level = np.random.get_state(), logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    np.random.seed(seed % 2**32)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(state)
        logging.disable(level)
