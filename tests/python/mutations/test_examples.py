"""The examples that stand in the mutations' classes."""

import pytest

from counterlens.mutations import apply_everywhere, counterfactuals, refusals
from counterlens.mutations.mutation import Example
from counterlens.python.mutations.language import MUTATIONS

NEEDS_AN_EXECUTION = {"loop-unroll"}
CASES = [
    pytest.param(name, example, id=f"{name}-{number}")
    for name, mutation in MUTATIONS.items()
    for number, example in enumerate(mutation.EXAMPLES)
]


@pytest.mark.parametrize(("name", "example"), CASES)
def test_example(name: str, example: Example) -> None:
    expected = example.before if example.after is None else example.after
    assert apply_everywhere(example.before, name) == expected
    reasons = [refusal.reason for refusal in refusals(example.before, mutations=[name])]
    if example.refused is not None:
        assert any(example.refused in reason for reason in reasons), reasons
    else:
        assert not reasons


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_mutation_is_documented_and_shows_what_it_does_and_refuses(name: str) -> None:
    mutation = MUTATIONS[name]
    assert mutation.__doc__
    assert mutation.source
    if name not in NEEDS_AN_EXECUTION:
        assert any(example.after is not None for example in mutation.EXAMPLES)
    assert any(example.refused is not None for example in mutation.EXAMPLES)


@pytest.mark.parametrize(("name", "example"), CASES)
def test_what_an_example_changes_is_what_its_counterfactuals_say(name: str, example: Example) -> None:
    for counterfactual in counterfactuals(example.before, mutations=[name]):
        before, after = example.before.encode(), counterfactual.source.encode()
        at = moved = 0
        for change in counterfactual.changes:
            assert before[at : change.original[0]] == after[moved : change.mutated[0]]
            at, moved = change.original[1], change.mutated[1]
        assert before[at:] == after[moved:]
