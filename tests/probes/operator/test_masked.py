"""Masked models are asked for an operator with all its pieces masked at once, and see both sides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from counterlens.errors import ModelError
from counterlens.models import load
from counterlens.models.base import Model
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.probes.operator.scoring import operator_distribution
from counterlens.syntax.document import Document
from counterlens.syntax.operators import OperatorSite, operator_sites
from tests.models.onnx.exporting import SPECIAL, Exported, export
from tests.models.onnx.transformer import log_probabilities

SOURCE = "def f(x):\n    if x <= 1:\n        return x == 1\n    return x\n"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return export(tmp_path_factory.mktemp("masked"), causal=False, positions=False)


@pytest.fixture(scope="module")
def model(exported: Exported) -> Iterator[Model]:
    with load(exported.spec) as loaded:
        yield loaded


def expected(exported: Exported, source: str, start: int, end: int) -> float:
    """The logarithm of the probability of the pieces in a span, by NumPy."""
    encoding = exported.tokenizer.encode(source, add_special_tokens=False)
    hidden = [i for i, (a, b) in enumerate(encoding.offsets) if a < end and b > start]
    read = [SPECIAL.index("<mask>") if i in hidden else token for i, token in enumerate(encoding.ids)]
    read = [SPECIAL.index("<s>"), *read, SPECIAL.index("</s>")]
    says = log_probabilities(exported.sizes, exported.weights, read, causal=False)[1:-1]
    return float(sum(says[i, encoding.ids[i]] for i in hidden))


def site_of(document: Document, operator: str) -> OperatorSite:
    return next(site for site in operator_sites(document) if site.operator == operator)


@pytest.mark.parametrize("operator", ["<=", "=="])
def test_a_candidate_has_the_probability_of_its_masked_pieces(
    exported: Exported, model: Model, operator: str
) -> None:
    document = Document(SOURCE)
    site = site_of(document, operator)
    distribution = operator_distribution(model, document, site)
    end = SOURCE.rindex("\n    return x") + len("\n    return x")
    for candidate, logprob in zip(site.candidates, distribution.logprob, strict=True):
        text = SOURCE[: site.start] + candidate + SOURCE[site.end : end]
        assert logprob == pytest.approx(
            expected(exported, text, site.start, site.start + len(candidate)), abs=1e-4
        )
    own = SOURCE[:end]
    assert distribution.surprisal == pytest.approx(-expected(exported, own, site.start, site.end), abs=1e-4)


def test_what_stands_there_is_hidden_and_what_follows_is_seen(model: Model) -> None:
    document = Document(SOURCE)
    site = site_of(document, "<=")
    first = operator_distribution(model, document, site)
    other = Document(SOURCE.replace("<=", ">"))
    hidden = operator_distribution(model, other, site_of(other, ">"))
    assert hidden.logprob == pytest.approx(first.logprob, abs=1e-6)
    windows = [operator_distribution(model, document, site, before=4, after=after) for after in (1, 3)]
    assert not np.allclose(windows[0].logprob, windows[1].logprob)


def test_a_span_is_scored_alone_and_kept(exported: Exported, model: Model, tmp_path: Path) -> None:
    cached = CachedModel(model, AnswerStore(tmp_path / "answers.sqlite"))
    span = SOURCE.index("=="), SOURCE.index("==") + 2
    scores = cached.score_span(SOURCE, *span, alternatives=2)
    assert (scores.start[0], scores.end[-1]) == (span[0] - 1, span[1])  # with the blank before it
    assert scores.logprob.sum() == pytest.approx(expected(exported, SOURCE, *span), abs=1e-4)
    assert scores.alternative_logprob.shape == (len(scores), 2)
    model.close()
    assert cached.score_span(SOURCE, *span, alternatives=2).logprob.tolist() == scores.logprob.tolist()


def test_a_model_that_reads_forward_masks_nothing(tmp_path: Path) -> None:
    with load(export(tmp_path).spec) as causal, pytest.raises(ModelError, match="masks no tokens"):
        causal.score_span("x", 0, 1, cancel=Event())
