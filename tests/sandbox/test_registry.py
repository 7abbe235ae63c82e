from counterlens.sandbox import registry


def test_every_back_end_says_what_it_offers_and_the_best_is_usable() -> None:
    offered = registry.available()
    assert [back_end.name for back_end in offered] == list(registry._BACK_ENDS)
    best = registry.best_sandbox()
    assert best is registry.best_sandbox()
    chosen = next(back_end for back_end in offered if back_end.usable)
    assert best.name == chosen.name
    assert dict(best.guarantees)["time"]
    missing = [what for what, held in chosen.guarantees if not held]
    assert all(what in chosen.reason for what in missing)
    assert bool(missing) == bool(chosen.reason)
