import pytest

from counterlens.sandbox import registry
from counterlens.sandbox.registry import Availability


def test_every_back_end_says_what_it_offers_and_the_best_is_usable() -> None:
    offered = registry.available()
    assert [back_end.name for back_end in offered] == list(registry._BACK_ENDS)
    best = registry.best_sandbox()
    assert best is registry.best_sandbox()
    chosen = registry.chosen()
    assert best.name == chosen.name
    assert dict(best.guarantees)["time"]
    missing = [what for what, held in chosen.guarantees if not held]
    assert all(what in chosen.reason for what in missing)
    assert bool(missing) == bool(chosen.reason)


@pytest.mark.parametrize(
    ("guarantees", "strength"),
    [
        ({"reads": True, "network": True}, "strong"),
        ({"reads": True, "disk": False}, "strong"),
        ({"reads": False, "network": True}, "weak"),
        ({"network": False}, "weak"),
    ],
)
def test_strength_is_a_matter_of_what_holds(guarantees: dict[str, bool], strength: str) -> None:
    assert Availability("x", True, "", tuple(guarantees.items())).strength == strength
    assert Availability("x", False, "not there", ()).strength == "none"


def test_a_strong_one_is_preferred_to_an_earlier_weak_one(monkeypatch: pytest.MonkeyPatch) -> None:
    weak = Availability("bubblewrap", True, "does not isolate reads", (("reads", False),))
    strong = Availability("process", True, "", (("reads", True),))
    registry.chosen.cache_clear()
    try:
        monkeypatch.setattr(registry, "available", lambda: (weak, strong))
        assert registry.chosen() is strong
        registry.chosen.cache_clear()
        monkeypatch.setattr(registry, "available", lambda: (weak, strong._replace(usable=False)))
        assert registry.chosen() is weak
    finally:
        registry.chosen.cache_clear()
