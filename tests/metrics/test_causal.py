"""Treatment effects on data whose effects are known, because it was made so."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from counterlens.errors import CounterlensError
from counterlens.metrics.causal import (
    LEAST_SNIPPETS,
    ConceptEffect,
    Snippet,
    beats_placebo,
    causal_effects,
    slope,
)


def made(effect: float, *, n: int = 240, seed: int = 1) -> list[Snippet]:
    """Snippets where complexity lowers confidence and raises cross-entropy, beside the effect itself."""
    random = np.random.default_rng(seed)
    snippets = []
    for i in range(n):
        complexity = random.normal()
        others = random.normal(size=3)
        confidence = 0.6 - 0.1 * complexity + 0.05 * random.normal()
        entropy = 2 + effect * confidence + 0.4 * complexity + 0.1 * others[0] + 0.05 * random.normal()
        snippets.append(
            Snippet(f"{i // 4}.py", entropy, (complexity, *others), {"loops": confidence, "same": 0.5})
        )
    return snippets


@pytest.fixture(scope="module")
def found() -> dict[float, dict[str, ConceptEffect]]:
    return {
        effect: {one.concept: one for one in causal_effects(made(effect), simulations=4)}
        for effect in (-1.5, 0.0)
    }


def test_a_known_effect_is_found_where_correlation_is_confounded(
    found: dict[float, dict[str, ConceptEffect]],
) -> None:
    loops = found[-1.5]["loops"]
    assert loops.n == 240
    assert loops.effect.value == pytest.approx(-1.5, abs=0.2)
    assert loops.effect.low is not None
    assert loops.effect.high is not None
    assert loops.effect.low < -1.5 < loops.effect.high < 0
    none = found[0.0]["loops"]
    assert none.effect.value == pytest.approx(0, abs=0.2)
    assert none.pearson["cross_entropy"] is not None
    assert none.pearson["cross_entropy"] < -0.7  # all of it is the complexity's
    assert none.pearson["cyclomatic_complexity"] is not None
    assert none.pearson["cyclomatic_complexity"] < -0.7


def test_refutations_leave_a_true_effect_and_show_a_placebo(
    found: dict[float, dict[str, ConceptEffect]],
) -> None:
    refuted = found[-1.5]["loops"].refutations
    assert set(refuted) == {"placebo", "random common cause", "subset", "unobserved"}
    assert abs(refuted["placebo"].effect) < 0.3
    assert refuted["random common cause"].effect == pytest.approx(-1.5, abs=0.2)
    assert refuted["subset"].effect == pytest.approx(-1.5, abs=0.2)
    assert refuted["unobserved"].effect > -1.5 + 0.2  # it works against the estimate
    assert all(one.holds for one in refuted.values())


def test_our_slope_is_dowhys(found: dict[float, dict[str, ConceptEffect]]) -> None:
    assert found[-1.5]["loops"].effect.value == pytest.approx(slope(made(-1.5), "loops"))


def test_the_seed_decides_everything() -> None:
    snippets = made(-1.0, n=40)
    state = np.random.get_state()[1].tolist()
    once = causal_effects(snippets, seed=5, simulations=2)
    assert once == causal_effects(snippets, seed=5, simulations=2)
    assert np.random.get_state()[1].tolist() == state


def test_what_never_varies_or_is_rare_has_no_effect(found: dict[float, dict[str, ConceptEffect]]) -> None:
    same = found[0.0]["same"]
    assert (same.effect.value, same.n, same.pearson["cross_entropy"]) == (None, 240, None)
    (rare, _) = causal_effects(made(-1.0, n=LEAST_SNIPPETS - 1))
    assert (rare.effect.value, rare.refutations) == (None, {})


def test_without_dowhy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dowhy", None)
    with pytest.raises(CounterlensError, match="DoWhy"):
        causal_effects(made(0.0, n=3))


def test_a_placebo_refutes_by_sign_and_size_however_wide_the_interval_is() -> None:
    assert beats_placebo(-1.0, 0.0)
    assert beats_placebo(-1.0, -0.49)
    assert not beats_placebo(-1.0, -0.5)
    assert beats_placebo(-1.0, 0.99)
    assert not beats_placebo(-1.0, 1.0)
    assert not beats_placebo(0.01, 0.3)
    assert not beats_placebo(0.0, 0.0)
    found = noise()
    value, placebo = found.effect.value, found.refutations["placebo"]
    assert value is not None
    assert found.effect.low is not None
    assert abs(placebo.effect) < value - found.effect.low  # within the estimate's uncertainty
    assert not placebo.holds


def noise() -> ConceptEffect:
    """The effect of a treatment that has none, on few snippets: its interval is wide."""
    random = np.random.default_rng(6)
    snippets = [
        Snippet(f"{i}.py", random.normal(), tuple(random.normal(size=4)), {"none": random.uniform()})
        for i in range(LEAST_SNIPPETS)
    ]
    (found,) = causal_effects(snippets, simulations=2)
    return found
