"""Scores of exported causal models, each figure against a forward pass in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from counterlens.errors import ModelError
from counterlens.models import load
from counterlens.models.base import Capability, Model, TokenScores
from tests.models.onnx.exporting import Exported, export
from tests.models.onnx.transformer import hidden_states, log_probabilities

TEXT = "def f(x):\n    return x == 'é∂'\n"
LONG = "".join(f"for x{i} in x:\n    return x{i} == {i}\n" for i in range(40))
NEAR = 1e-4


@pytest.fixture(scope="module", params=["rereading", "cached", "without positions"])
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    folder = tmp_path_factory.mktemp("export")
    if request.param == "rereading":
        return export(folder)
    if request.param == "cached":
        window = {"max_position_embeddings": 300}  # more than one chunk
        return export(folder, past=True, hidden=True, external=True, config=window)
    return export(folder, past=True, positions=False)


@pytest.fixture(scope="module")
def model(exported: Exported) -> Iterator[Model]:
    with load(exported.spec) as loaded:
        yield loaded


def expected(exported: Exported, tokens: list[int], at: int, seen: int) -> np.ndarray:
    """(v,) what the token at a place is predicted by, having seen so many tokens before it."""
    return log_probabilities(exported.sizes, exported.weights, tokens[at - seen : at])[-1]


def check(exported: Exported, scores: TokenScores, tokens: list[int], first: int = 0, step: int = 1) -> None:
    """Every figure of some tokens; `tokens` are those of the context and the text."""
    for i in range(0, len(scores), step):
        at = first + i
        if np.isnan(scores.logprob[i]):
            assert at == 0
            continue
        says = expected(exported, tokens, at, int(scores.context[i]))
        assert scores.logprob[i] == pytest.approx(says[tokens[at]], abs=NEAR)
        assert scores.entropy[i] == pytest.approx(-(np.exp(says) * says).sum(), abs=NEAR)
        assert scores.rank[i] == (says > says[tokens[at]]).sum()
        best = np.argsort(-says)[: scores.alternative_logprob.shape[1]]
        assert scores.alternative_logprob[i] == pytest.approx(says[best], abs=NEAR)


def test_every_figure_is_that_of_a_forward_pass(exported: Exported, model: Model) -> None:
    tokens = exported.tokens(TEXT)
    scores = model.score(TEXT, alternatives=7)
    assert len(scores) == len(tokens)
    assert np.isnan(scores.logprob[0])
    assert scores.rank[0] == -1
    assert scores.context.tolist() == list(range(len(tokens)))
    check(exported, scores, tokens)
    data = TEXT.encode()
    assert scores.start.tolist() == [0, *scores.end[:-1].tolist()]
    assert scores.end[-1] == len(data)
    pieces = [data[a:b] for a, b in zip(scores.start, scores.end, strict=True)]
    assert pieces[:3] == [b"def", b" ", b"f"]
    assert b" return" in pieces


def test_the_names_of_alternatives_are_the_tokens_of_their_probabilities(
    exported: Exported, model: Model
) -> None:
    tokens = exported.tokens("x == x")
    scores = model.score("x == x", alternatives=3)
    says = expected(exported, tokens, 2, 2)
    names = [exported.tokenizer.decode([int(token)]) for token in np.argsort(-says)[:3]]
    assert scores.alternative_text[2] == tuple(names)


def test_a_text_is_scored_after_its_context(exported: Exported, model: Model) -> None:
    context, text = "def f(x):", "\n    return x\n"
    tokens = exported.tokens(context + text)
    scores = model.score(text, context=context)
    check(exported, scores, tokens, first=len(tokens) - len(scores))
    assert not np.isnan(scores.logprob).any()
    assert scores.end[-1] == len(text)


def test_a_text_longer_than_the_window_is_scored_in_windows(exported: Exported, model: Model) -> None:
    tokens = exported.tokens(LONG)
    assert len(tokens) > 700
    scores = model.score(LONG)
    assert scores.context[200:].min() >= (model.info.context or 0) // 2
    check(exported, scores, tokens, step=61)


def test_what_was_asked_before_changes_nothing(exported: Exported, model: Model) -> None:
    edited = TEXT.replace("==", "in")
    first = model.score(edited)
    model.score(TEXT)
    again = model.score(edited)
    assert again.logprob[1:].tolist() == first.logprob[1:].tolist()
    check(exported, again, exported.tokens(edited))


def test_continuations_are_scored_as_texts_after_a_context_are(model: Model) -> None:
    steps: list[tuple[int, int]] = []
    texts = [" == 1", " in x", ""]
    together = model.score_continuations("x", texts, progress=lambda *step: steps.append(step))
    assert steps[-1] == (3, 3)
    for scores, text in zip(together, texts, strict=True):
        alone = model.score(text, context="x")
        assert scores.logprob == pytest.approx(alone.logprob, abs=NEAR)
        assert scores.end.tolist() == alone.end.tolist()


def test_embeddings_are_the_mean_of_the_hidden_states_where_they_were_exported(
    exported: Exported, model: Model
) -> None:
    if not model.offers(Capability.EMBED):
        with pytest.raises(ModelError, match="its hidden states were not exported"):
            model.embed([TEXT])
        return
    vectors = model.embed([TEXT, "x"])
    for vector, text in zip(vectors, [TEXT, "x"], strict=True):
        states = hidden_states(exported.sizes, exported.weights, exported.tokens(text))
        assert vector == pytest.approx(states.mean(axis=0), abs=NEAR)
    with pytest.raises(ModelError, match="does not fit into the model's window of 300"):
        model.embed([LONG])


def test_weights_set_by_hand_give_probabilities_known_without_computing(tmp_path: Path) -> None:
    exported = export(tmp_path, follows={"x": "=", "=": "x"})
    others = exported.sizes.vocabulary - 1
    right = 12.0 - np.log(np.exp(12.0) + others)
    with load(exported.spec) as model:
        scores = model.score("x=x=xx")
    assert scores.logprob[1:5] == pytest.approx([right] * 4, abs=NEAR)
    assert scores.logprob[5] == pytest.approx(right - 12, abs=NEAR)
    assert scores.rank[1:].tolist() == [0, 0, 0, 0, 1]
