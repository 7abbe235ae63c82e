"""The examples that stand in the classes of Java's mutations."""

import pytest

from counterlens.java.mutations.language import MUTATIONS, PLACEBOS, java_meaning
from counterlens.java.mutations.module import JavaModule
from counterlens.mutations import mutated
from counterlens.mutations.engine import apply_everywhere, refusals, survey
from counterlens.mutations.mutation import Example

EVERY = {**MUTATIONS, **PLACEBOS}
CASES = [
    pytest.param(name, example, id=f"{name}-{number}")
    for name, mutation in EVERY.items()
    for number, example in enumerate(mutation.EXAMPLES)
]


@pytest.mark.parametrize(("name", "example"), CASES)
def test_example(name: str, example: Example) -> None:
    expected = example.before if example.after is None else example.after
    assert apply_everywhere(JavaModule(example.before), EVERY[name]) == expected
    reasons = [refusal.reason for refusal in refusals(JavaModule(example.before), mutations=[EVERY[name]])]
    if example.refused is not None:
        assert any(example.refused in reason for reason in reasons), reasons
    elif example.after is not None:
        assert survey(example.before, mutations=[EVERY[name]], language="java").counterfactuals


@pytest.mark.parametrize("name", EVERY)
def test_every_mutation_shows_what_it_does_and_refuses(name: str) -> None:
    mutation = EVERY[name]
    assert mutation.__doc__
    assert mutation.source
    assert any(example.after is not None for example in mutation.EXAMPLES)
    assert any(example.refused is not None for example in mutation.EXAMPLES)


@pytest.mark.parametrize(("name", "example"), CASES)
def test_counterfactuals_of_examples_parse_and_say_what_they_change(name: str, example: Example) -> None:
    for counterfactual in survey(example.before, mutations=[EVERY[name]], language="java").counterfactuals:
        JavaModule(counterfactual.source)
        before, after = example.before.encode(), counterfactual.source.encode()
        at = moved = 0
        for change in counterfactual.changes:
            assert before[at : change.original[0]] == after[moved : change.mutated[0]]
            at, moved = change.original[1], change.mutated[1]
        assert before[at:] == after[moved:]


@pytest.mark.parametrize("name", PLACEBOS)
def test_placebos_leave_the_tokens(name: str) -> None:
    for example in PLACEBOS[name].EXAMPLES:
        assert example.after is None or java_meaning(example.after) == java_meaning(example.before)
    assert java_meaning("class A { int a = 1; }") != java_meaning("class A { int a = 2; }")
    assert java_meaning("class A {") is None


def test_what_java_lacks_of_pythons_mutations_is_listed() -> None:
    java, python = mutated("java"), mutated("python")
    assert [*java.missing] == [name for name in python.own if name not in java.own]
    assert not python.missing
