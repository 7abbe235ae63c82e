"""A model that is instructed through its own chat template, or that fills in the middle."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterlens.errors import ModelError
from counterlens.models import load
from counterlens.models.base import Prompt, Stop
from counterlens.models.files import embedded_model
from counterlens.models.llama.model import LlamaModel
from counterlens.models.registry import Options
from tests.conftest import short_model

ADD = 'def add(a, b):\n    """Return the sum of a and b."""\n'


@pytest.fixture(scope="module")
def chat() -> Iterator[LlamaModel]:
    with LlamaModel(short_model(), spec="chat", api="chat") as model:
        yield model


def test_an_instructed_model_is_read_as_a_continuation() -> None:
    with LlamaModel(embedded_model(), spec="trained", api="chat") as trained:
        (answer,) = trained.complete([Prompt(ADD, 64, Stop(indent=0))])
    assert "```" not in answer.text
    assert "return a + b" in answer.text
    compile(ADD + answer.text, "add.py", "exec")


def test_an_instructed_batch_is_the_same_whatever_ran_before(chat: LlamaModel) -> None:
    prompts = [Prompt(ADD, 24, Stop(indent=0)), Prompt(ADD.replace("sum", "product"), 24, Stop(indent=0))]
    first = chat.complete(prompts)
    chat.complete(prompts[:1])
    assert chat.complete(prompts) == first


def test_marks_in_code_are_text(chat: LlamaModel) -> None:
    code = 'def end():\n    """Give the mark."""\n    mark = "<|im_end|>"\n'
    (answer,) = chat.complete([Prompt(code, 24, Stop(indent=0))])
    assert answer.tokens > 0
    with pytest.raises(ModelError, match="does not fit"):
        chat.complete([Prompt("x = 1\n" * 9000, 24)])


def test_a_model_without_the_tokens_says_that_it_cannot_fill() -> None:
    with pytest.raises(ModelError, match="fill-in-the-middle"):
        load("smollm2-135m", Options(api="fill"))


def with_fill_marks(source: Path, target: Path, marks: tuple[int, int, int]) -> None:
    """A copy of a GGUF file that names tokens for filling in the middle: an entry more in its header."""
    data = source.read_bytes()
    magic, version, tensors, entries = struct.unpack_from("<IIQQ", data)
    added = b""
    for name, token in zip(("prefix", "suffix", "middle"), marks, strict=True):
        key = f"tokenizer.ggml.fim_{name[:3]}_token_id".encode()
        added += struct.pack("<Q", len(key)) + key + struct.pack("<II", 4, token)
    added += _alignment_filler(len(added) + 0)
    head = struct.pack("<IIQQ", magic, version, tensors, entries + 4)
    target.write_bytes(head + added + data[24:])


def _alignment_filler(length: int) -> bytes:
    """A string entry that makes the header grow by whole multiples of the alignment, 32 bytes."""
    key = b"counterlens.filler"
    fixed = 8 + len(key) + 4 + 8
    size = -(length + fixed) % 32
    return struct.pack("<Q", len(key)) + key + struct.pack("<IQ", 8, size) + b"x" * size


def test_a_model_that_fills_reads_what_follows(tmp_path: Path) -> None:
    """The model was not trained to fill: what is shown is that the suffix is read, and where."""
    path = tmp_path / "fill.gguf"
    with_fill_marks(short_model(wide=True), path, (3, 4, 5))
    with LlamaModel(path, spec="fill", api="fill", context=256) as model:
        asked = [Prompt(ADD, 16, Stop(), suffix=text) for text in ("\n", 6 * "    return zebra\n")]
        first = model.complete(asked)
        assert len(first) == 2
        assert all(answer.tokens > 0 for answer in first)
        assert first[0].text != first[1].text
        assert model.complete(asked) == first
        long = Prompt("x = 1\n" * 200 + ADD, 4, suffix="y = 2\n" * 200)
        (answer,) = model.complete([long])
        assert answer.dropped > 0
