"""Completions of exported causal models: greedy against NumPy, in any composition, drawn, healed, stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from counterlens.errors import Cancelled, ModelError
from counterlens.models import load
from counterlens.models.base import Draw, Model, Prompt, Reply, Stop
from tests.models.onnx.exporting import SPECIAL, Exported, export
from tests.models.onnx.transformer import log_probabilities

ASKED = Reply("", "")  # a question is read as it stands: nothing is healed
TEXTS = ("def f(x):\n    return", "x", "for x in x:\n  x == ", "def f(x):\n    x in x == x")


@pytest.fixture(scope="module", params=["rereading", "cached", "without positions"])
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    cached = request.param != "rereading"
    return export(
        tmp_path_factory.mktemp("export"), past=cached, positions=request.param != "without positions"
    )


@pytest.fixture(scope="module")
def model(exported: Exported) -> Iterator[Model]:
    with load(exported.spec) as loaded:
        yield loaded


def greedy(exported: Exported, text: str, count: int) -> str:
    """The text of the likeliest tokens, in NumPy alone."""
    tokens = exported.tokens(text)
    start = len(tokens)
    for _ in range(count):
        token = int(np.argmax(log_probabilities(exported.sizes, exported.weights, tokens)[-1]))
        if token == SPECIAL.index("</s>"):
            break
        tokens.append(token)
    names = [exported.tokenizer.id_to_token(token) for token in tokens[start:]]
    alphabet = exported.tokenizer.decoder
    return str(alphabet.decode(names)).replace("\ufffd", "")


def test_the_likeliest_tokens_are_those_of_a_forward_pass(exported: Exported, model: Model) -> None:
    answers = model.complete([Prompt(text, 12, reply=ASKED) for text in TEXTS])
    for text, answer in zip(TEXTS, answers, strict=True):
        assert answer.text.replace("\ufffd", "") == greedy(exported, text, 12)


def test_a_batch_says_what_each_prompt_says_alone(model: Model) -> None:
    prompts = [Prompt(text, 4 + 6 * i) for i, text in enumerate(TEXTS)]
    together = model.complete(prompts)
    assert together == [model.complete([prompt])[0] for prompt in prompts]
    assert model.complete([*prompts[::-1], prompts[0]]) == [*together[::-1], together[0]]
    assert [answer.tokens for answer in together] == [4, 10, 16, 22]


def test_draws_are_a_function_of_prompt_seed_and_index(model: Model) -> None:
    prompts = [Prompt("def f(x):", 10, draw=Draw(1.0, 7, index)) for index in range(6)]
    first = model.complete(prompts)
    assert model.complete(prompts) == first
    assert len({answer.text for answer in first}) > 1
    cold = model.complete([Prompt("def f(x):", 10, draw=Draw(1e-4, 7, 0))])
    assert cold[0].text == model.complete([Prompt("def f(x):", 10)])[0].text


def test_what_cannot_be_completed_is_refused(model: Model) -> None:
    with pytest.raises(ModelError, match="empty prompt"):
        model.complete([Prompt("", 8)])
    with pytest.raises(ModelError, match="do not fit into a context of 128"):
        model.complete([Prompt("x", 120)])
    (answer,) = model.complete([Prompt("x = " * 300, 8)])
    assert answer.dropped > 0
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        model.complete([Prompt("x", 100)], cancel=cancel)


@pytest.mark.parametrize("past", [False, True])
def test_a_completion_is_healed_and_ends_where_its_function_ends(tmp_path: Path, past: bool) -> None:
    follows = {")": ":", ":": "Ċ", "Ċ": "ĠĠĠ", "ĠĠĠ": "Ġreturn", "Ġreturn": "Ġx", "Ġx": ";", ";": "</s>"}
    follows |= {"Ġ": "return", "return": "Ġx"}
    with load(export(tmp_path / "end", follows=follows, past=past).spec) as model:
        # `retu` and the blanks before it would be no tokens of the whole text.
        for written in ("def f(x):\n    retu", "def f(x):\n    ", "def f(x):\n", "def f(x)"):
            (answer,) = model.complete([Prompt(written, 20, Stop(indent=0))])
            assert written + answer.text == "def f(x):\n    return x;"
            assert answer.finish == "stop"
    follows |= {"Ġx": "Ċ", "Ċ": "def", "def": "Ċ"}
    with load(export(tmp_path / "on", follows=follows, past=past).spec) as model:
        (answer,) = model.complete([Prompt("def f(x):\n    return", 20, Stop(indent=0))])
        assert answer.text == " x\n"
        assert answer.finish == "stop"
        (answer,) = model.complete([Prompt("def f(x):\n    return", 5)])
        assert (answer.text, answer.finish) == (" x\ndef\n", "length")
