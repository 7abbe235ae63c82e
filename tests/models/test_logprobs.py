"""Log-probabilities of generated tokens: placed in the text of a completion, and the same as scores."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from counterlens.models.base import Prompt, Stop
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.llama.model import LlamaModel
from counterlens.models.logprobs import log_probabilities_of

PROMPT = Prompt("def add(a, b):\n    return", max_tokens=12, stop=Stop(indent=0))


def cut(*pieces: str) -> tuple[bytes, list[tuple[int, float]]]:
    """A generated text and its tokens, whose log-probabilities are minus their indices."""
    tokens, written = [], b""
    for number, piece in enumerate(pieces):
        tokens.append((len(written), -float(number)))
        written += piece.encode()
    return written, tokens


@pytest.mark.parametrize(
    ("text", "pieces", "start", "expected"),
    [
        ("a + b", ["a", " +", " b"], 0, ((0, 0.0), (1, -1.0), (3, -2.0))),
        ("a + b", ["\n    a", " +", " b", "\n", "x"], 0, ((0, 0.0), (1, -1.0), (3, -2.0))),
        ("x = 1", ["x = 1", "\n", "x", " =", " 1"], 6, ((0, -2.0), (1, -3.0), (3, -4.0))),
        ("ä", ["Ä", "ä"], 0, ((0, -1.0),)),
        ("", ["a"], 0, ()),
        ("b", ["a"], 0, None),
        (
            "  if x:\n    y\n",
            ["```\n", "if", " x:\n", "\t", "y", "\n```"],
            0,
            ((2, -1.0), (4, -2.0), (12, -4.0)),
        ),
        ("  if x:\n    z\n", ["if", " x:\n", "  y"], 0, None),
    ],
)
def test_tokens_are_placed_in_the_text(
    text: str, pieces: list[str], start: int, expected: tuple[tuple[int, float], ...] | None
) -> None:
    assert log_probabilities_of(text, *cut(*pieces), start) == expected


def test_generated_tokens_have_the_probabilities_of_scores(embedded: LlamaModel) -> None:
    (plain,) = embedded.complete([PROMPT])
    assert plain.logprobs is None
    (scored,) = embedded.complete([Prompt(PROMPT.text, 12, PROMPT.stop, logprobs=True)])
    assert scored.text == plain.text
    assert scored.logprobs is not None
    starts = [at for at, _ in scored.logprobs]
    assert starts == sorted(starts)
    assert starts[0] == 0
    assert all(value <= 0 for _, value in scored.logprobs)
    again = embedded.score(scored.text, context=PROMPT.text)
    mean = sum(value for _, value in scored.logprobs) / len(scored.logprobs)
    assert mean == pytest.approx(float(again.logprob.mean()), abs=0.4)
    assert math.exp(mean) > 0.3


def test_the_cache_keeps_them_apart_from_answers_without(model: LlamaModel, tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.sqlite")
    cached = CachedModel(model, store, owns_store=False)
    wanted = Prompt(PROMPT.text, 12, PROMPT.stop, logprobs=True)
    assert cached.complete([PROMPT])[0].logprobs is None
    first = cached.complete([wanted])
    assert first[0].logprobs
    assert cached.complete([wanted]) == first == model.complete([wanted])
    store.close()
