import pytest

from counterlens.sandbox import registry
from counterlens.sandbox.registry import Availability


def test_every_back_end_says_what_it_offers_and_the_best_is_usable() -> None:
    offered = registry.available()
    assert [back_end.name for back_end in offered] == list(registry._BACK_ENDS)
    best = registry.best_sandbox()
    assert best is registry.best_sandbox()
    chosen = registry.choose()
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


@pytest.mark.parametrize(
    ("strengths", "best", "tested"),
    [
        (("weak", "strong"), "1", 2),
        (("weak", "none"), "0", 2),
        (("none", "weak"), "1", 2),
        (("strong", "strong"), "0", 1),
    ],
)
def test_the_first_strong_one_is_chosen_else_the_first_usable_one(
    monkeypatch: pytest.MonkeyPatch, strengths: tuple[str, ...], best: str, tested: int
) -> None:
    made: list[str] = []

    def offer(name: str) -> Availability:
        made.append(name)
        strength = strengths[int(name)]
        return Availability(name, strength != "none", "", (("reads", strength == "strong"),))

    monkeypatch.setattr(registry, "_BACK_ENDS", {str(place): None for place in range(len(strengths))})
    monkeypatch.setattr(registry, "_try", offer)
    chosen = registry.choose()
    assert (chosen.name, chosen.strength) == (best, strengths[int(best)])
    assert len(made) == tested
