"""Marking breaking counterfactuals that nothing tells from the original."""

from __future__ import annotations

from counterlens.mutations import counterfactuals, mark_possibly_equivalent

SOURCE = "def f(x, z=0):\n    if x > 0:\n        y = x + z\n    else:\n        y = -x\n    return y\n"


def tells_apart(original: str, mutated: str) -> bool:
    results = []
    for source in (original, mutated):
        space: dict[str, object] = {}
        exec(source, space)  # noqa: S102
        function = space["f"]
        assert callable(function)
        results.append([function(value) for value in (-2, 3)])
    return results[0] != results[1]


def test_only_a_breaking_one_that_nothing_notices_is_marked() -> None:
    names = ["negate-condition", "replace-arithmetic", "if-else-flip"]
    pairs = counterfactuals(SOURCE, mutations=names, seed=1)
    judged: list[str] = []

    def judge(original: str, mutated: str) -> bool:
        judged.append(mutated)
        return tells_apart(original, mutated)

    found = mark_possibly_equivalent(SOURCE, pairs, judge)
    marked = {pair.mutation: pair.possibly_equivalent for pair in found}
    assert marked["negate-condition"] is False
    assert marked["if-else-flip"] is False
    assert len(judged) == sum(not pair.preserving for pair in pairs)
    assert marked["replace-arithmetic"] is True
