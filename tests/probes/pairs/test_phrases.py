"""Reports have words for every mutation."""

from __future__ import annotations

import pytest

from counterlens.mutations.languages import mutated
from counterlens.probes.pairs.phrases import change_phrase, ignoring_phrase

PRESERVING = sorted(
    {
        mutation.id
        for language in ("python", "java")
        for mutation in mutated(language).mutations.values()
        if mutation.preserving
    }
)


@pytest.mark.parametrize("mutation", PRESERVING)
def test_a_mutation_has_its_phrases(mutation: str) -> None:
    needed = f"add the two phrases of {mutation} to _DONE of probes/pairs/phrases.py"
    assert change_phrase(mutation) != f"After {mutation}", needed
    assert ignoring_phrase(mutation) != ignoring_phrase("none of them"), needed
