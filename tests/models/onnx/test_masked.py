"""Scores of exported masked models: pseudo-log-likelihood, each figure against a forward pass in NumPy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from counterlens.errors import ModelError
from counterlens.models import Prompt, load
from counterlens.models.base import Capability, Model, TokenScores
from counterlens.models.registry import Options
from tests.models.onnx.exporting import SPECIAL, Exported, export
from tests.models.onnx.transformer import hidden_states, log_probabilities

TEXT = "def f(x):\n    return x == 'é∂'\n"
BEFORE, END, MASK = (SPECIAL.index(name) for name in ("<s>", "</s>", "<mask>"))
NEAR = 1e-4


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return export(tmp_path_factory.mktemp("masked"), causal=False, hidden=True, positions=False)


@pytest.fixture(scope="module", params=["word", "piece"])
def model(request: pytest.FixtureRequest, exported: Exported) -> Iterator[Model]:
    with load(exported.spec, Options(mask=request.param)) as loaded:
        yield loaded


def masked(exported: Exported, tokens: list[int], hidden: list[int]) -> np.ndarray:
    """(n, v) what each place says once some are masked."""
    read = [MASK if i in hidden else token for i, token in enumerate(tokens)]
    says = log_probabilities(exported.sizes, exported.weights, [BEFORE, *read, END], causal=False)
    return says[1:-1]


def groups(exported: Exported, model: Model, text: str) -> list[list[int]]:
    """The tokens that are masked together."""
    words = exported.tokenizer.encode(text, add_special_tokens=False).word_ids
    if model.info.scoring == "pseudo-log-likelihood, piece":
        return [[i] for i in range(len(words))]
    return [[i for i, other in enumerate(words) if other == word] for word in sorted(set(words))]


def check(exported: Exported, model: Model, scores: TokenScores, text: str, skipped: int = 0) -> None:
    tokens = exported.tokens(text)
    for group in groups(exported, model, text):
        hidden = [i for i in group if i >= skipped]
        says = masked(exported, tokens, hidden)
        for at in hidden:
            i, own = at - skipped, says[at]
            assert scores.logprob[i] == pytest.approx(own[tokens[at]], abs=NEAR)
            assert scores.entropy[i] == pytest.approx(-(np.exp(own) * own).sum(), abs=NEAR)
            assert scores.rank[i] == (own > own[tokens[at]]).sum()
            assert scores.alternative_logprob[i] == pytest.approx(-np.sort(-own)[:5], abs=NEAR)


def test_every_token_is_predicted_from_both_sides(exported: Exported, model: Model) -> None:
    steps: list[tuple[int, int]] = []
    scores = model.score(TEXT, progress=lambda *step: steps.append(step))
    count = len(exported.tokens(TEXT))
    assert len(scores) == count
    assert steps[-1] == (count, count)
    assert scores.end[-1] == len(TEXT.encode())
    assert not np.isnan(scores.logprob).any()
    check(exported, model, scores, TEXT)


def test_a_word_hides_all_its_pieces_from_each_other(exported: Exported) -> None:
    with load(exported.spec) as word, load(exported.spec, Options(mask="piece")) as piece:
        assert any(len(group) > 1 for group in groups(exported, word, TEXT))
        assert not np.allclose(word.score(TEXT).logprob, piece.score(TEXT).logprob)
        assert word.info.identity == piece.info.identity
        assert word.info.scoring != piece.info.scoring  # a key of the cache


def test_a_context_is_read_and_not_scored(exported: Exported, model: Model) -> None:
    context = "def f(x):\n"
    scores = model.score("    return x\n", context=context)
    check(exported, model, scores, context + "    return x\n", skipped=len(exported.tokens(context)))


def test_a_text_longer_than_the_window_is_read_around_each_mask(exported: Exported) -> None:
    text = "".join(f"x{i} = x{i} in x\n" for i in range(40))
    tokens = exported.tokens(text)
    with load(exported.spec, Options(mask="piece")) as model:
        assert model.info.context == 128  # 130 positions, of which two come before the first token
        scores = model.score(text, alternatives=0)
    width = 128 - 2
    assert len(tokens) > 2 * width
    for at in range(0, len(tokens), 71):
        begin = at - int(scores.context[at])
        says = masked(exported, tokens[begin : begin + width], [at - begin])[at - begin]
        assert scores.logprob[at] == pytest.approx(says[tokens[at]], abs=NEAR)
    assert (scores.context[width:-width] == width // 2).all()


def test_it_completes_nothing_and_embeds_by_its_first_token(exported: Exported, model: Model) -> None:
    assert model.info.capabilities == {Capability.SCORE, Capability.MASKED, Capability.EMBED}
    with pytest.raises(ModelError, match="cannot complete"):
        model.complete([Prompt("x", 4)])
    tokens = [BEFORE, *exported.tokens(TEXT), END]
    first = hidden_states(exported.sizes, exported.weights, tokens, causal=False)[0]
    assert model.embed([TEXT])[0] == pytest.approx(first, abs=NEAR)


def test_embeddings_are_pooled_as_the_export_says_and_need_no_logits(tmp_path: Path) -> None:
    exported = export(tmp_path, causal=False, hidden=True, logits=False, positions=False)
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    tokens = [BEFORE, *exported.tokens("x in x"), END]
    states = hidden_states(exported.sizes, exported.weights, tokens, causal=False)
    with load(exported.spec) as model:
        assert model.info.capabilities == {Capability.EMBED}
        assert model.embed(["x in x"])[0] == pytest.approx(states.mean(axis=0), abs=NEAR)
        with pytest.raises(ModelError, match="returns no token probabilities"):
            model.score("x")


def test_what_is_masked_together_has_a_name(exported: Exported) -> None:
    with pytest.raises(ModelError, match="there is no masking by 'line'"):
        load(exported.spec, Options(mask="line"))
