"""How likely the true rest of a function is before and after a mutation, on the real model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterlens.errors import ModelError
from counterlens.models.base import Capability, Model, ModelInfo, TokenScores
from counterlens.models.llama.model import LlamaModel
from counterlens.models.wrapped import WrappedModel
from counterlens.probes.options import ProbeOptions, make
from counterlens.probes.pairs.likelihood import LikelihoodProbe
from counterlens.probes.pairs.likelihood_effect import likelihood_effects
from counterlens.probes.pairs.record import NOISE, PairsRecord
from counterlens.probes.pairs.wording import meaning
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.record import read, write_record
from counterlens.probes.runner import identify
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

SOURCE = '''def largest(values):
    """Return the largest of some numbers."""
    best = values[0]
    for value in values[1:]:
        if value > best:
            best = value
    return best
'''


def measured(model: Model) -> PairsRecord:
    likelihood = LikelihoodProbe()
    target = Target(Document(SOURCE, Path("largest.py")), "largest")
    record = likelihood.run(Context(model), target, make(likelihood.options, {}))
    return identify(record, likelihood, model.info, target, ProbeOptions())


def gap(text: str, cut: str) -> Gap:
    document = Document(text, Path("largest.py"))
    return Gap.of(document, find_function(document, "largest"), text.index(cut))


def test_the_identity_mutation_has_no_likelihood_effect(model: LlamaModel) -> None:
    whole = gap(SOURCE, "            best = value")
    other = gap(SOURCE.replace("largest of", "greatest of"), "            best = value")
    same, changed = likelihood_effects(model, [(whole, whole), (whole, other)])
    assert same.change == 0
    assert same.total_change == 0
    assert same.changes == ()
    assert not same.visible
    assert changed.change != 0


def test_a_wrong_way_is_less_likely_than_the_true_one(wide_model: LlamaModel) -> None:
    cut = "            best = value"
    turned = SOURCE.replace("return best", "return value[best]")
    (effect,) = likelihood_effects(wide_model, [(gap(SOURCE, cut), gap(turned, cut))])
    assert effect.visible
    assert effect.change < -NOISE
    assert effect.total_change < 0
    assert effect.matched < effect.mutated_tokens


class Noting(WrappedModel):
    """A model that notes the scores of continuations."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.noted: list[TokenScores] = []

    def score_continuations(self, *texts: Any, **options: Any) -> list[TokenScores]:
        scores = super().score_continuations(*texts, **options)
        self.noted += scores
        return scores


def test_only_the_rest_is_scored(model: LlamaModel) -> None:
    """The logits of a token cost half as much again as reading it."""
    cut, noting = "            best = value", Noting(model)
    likelihood_effects(noting, [(gap(SOURCE, cut), gap(SOURCE.replace("values", "xs"), cut))])
    for scores in noting.noted:
        is_before = scores.end <= scores.text.encode().index(cut.encode())
        assert np.isnan(scores.logprob[is_before]).all()
        assert not np.isnan(scores.logprob[~is_before]).any()


def test_it_is_the_change_of_the_scores_of_the_rest(model: LlamaModel) -> None:
    cut = "            best = value"
    renamed = SOURCE.replace("values", "xs")
    (effect,) = likelihood_effects(model, [(gap(SOURCE, cut), gap(renamed, cut))])
    means = []
    for text in (SOURCE, renamed):
        scores = model.score(text)
        inside = scores.end > text.encode().index(cut.encode())
        inside &= scores.start < len(text.rstrip("\n"))
        means.append(float(np.mean(scores.logprob[inside])))
    assert effect.original == pytest.approx(means[0], abs=0.1)  # grouped otherwise, rounded otherwise
    assert effect.mutated == pytest.approx(means[1], abs=0.1)
    assert effect.matched == effect.original_tokens == effect.mutated_tokens
    for one in effect.changes:
        assert one.line in {6, 7}


def test_the_probe_needs_no_tests_and_writes_nothing(model: LlamaModel) -> None:
    found = measured(model)
    assert read(write_record(found), PairsRecord) == found
    assert found.judged_by is None
    assert found.pairs
    for pair in found.pairs:
        assert pair.original.completion is None
        assert pair.likelihood is not None
        assert pair.effect is None
    assert "rest of largest" in meaning(found)


class Silent:
    info = ModelInfo("silent", "silent", "0", "local", frozenset({Capability.COMPLETE}))

    def score_continuations(self, *_: object, **__: object) -> object:
        raise ModelError("this model returns no token probabilities")


def test_a_model_without_probabilities_is_an_error_that_says_so() -> None:
    with pytest.raises(ModelError, match="no token probabilities"):
        measured(Silent())  # type: ignore[arg-type]
