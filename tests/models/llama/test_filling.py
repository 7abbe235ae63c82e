"""Filling in the middle: what follows a hole is read, and tokens that do not work are seen."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterlens.errors import ModelError
from counterlens.models.base import Prompt
from counterlens.models.llama.filling import HOLES, measure_filling
from counterlens.models.llama.model import LlamaModel
from counterlens.models.llama.native import Engine
from tests.conftest import CODE_MODEL, short_model
from tests.models.llama.measured import note_measurements

ONE = HOLES[1:2]
"""One hole of the trial: it shows wrong tokens, too, in a quarter of the time."""
ADD = 'def add(a, b):\n    """Return the sum of a and b."""\n'


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


@pytest.fixture(scope="module")
def engine(code_model: LlamaModel) -> Engine:
    assert code_model.fill_trial() is not None
    assert CODE_MODEL is not None
    return Engine(CODE_MODEL, threads=1, context=256)


@pytest.fixture(scope="module")
def filling(code_model: LlamaModel) -> Iterator[LlamaModel]:
    assert code_model.info.api == "completions"
    with LlamaModel(Path(str(CODE_MODEL)), spec="fill", api="fill", context=256) as model:
        yield model


def test_a_model_that_fills_reads_what_follows(filling: LlamaModel) -> None:
    names = ("width", "breadth")
    asked = [Prompt("def area(shape):\n    ", 8, suffix=f"\n    return {name} * height\n") for name in names]
    first = filling.complete(asked)
    assert [answer.text.partition(" =")[0] for answer in first] == list(names)
    assert filling.complete(asked) == first
    long = Prompt("x = 1\n" * 200 + ADD, 4, suffix="y = 2\n" * 200)
    (answer,) = filling.complete([long])
    assert answer.dropped > 0
    assert answer.tokens > 0


def test_a_trained_model_finds_a_hole_likelier_for_what_follows(code_model: LlamaModel) -> None:
    trial = code_model.fill_trial()
    assert trial is not None
    assert trial.works
    assert trial.given < 0.7 * min(trial.exchanged, trial.before)
    assert code_model.fill_trial() == trial


def test_one_hole_is_enough_to_see_right_tokens(engine: Engine) -> None:
    assert engine.fill_marks is not None
    assert measure_filling(engine, engine.fill_marks, ONE).works


@pytest.mark.parametrize("order", [(1, 0, 2), (0, 2, 1), (2, 1, 0)])  # fewer tokens are in place otherwise
def test_tokens_in_another_order_are_seen(engine: Engine, order: tuple[int, ...]) -> None:
    marks = engine.fill_marks
    assert marks is not None
    prefix, suffix, middle = (marks[i] for i in order)
    assert not measure_filling(engine, (prefix, suffix, middle), ONE).works


@pytest.mark.parametrize("wrong", range(3))
def test_one_wrong_token_is_seen(engine: Engine, wrong: int) -> None:
    (other,) = engine.tokenize(b"<|fim_pad|>", marks=True)
    assert engine.fill_marks is not None
    prefix, suffix, middle = (other if i == wrong else mark for i, mark in enumerate(engine.fill_marks))
    assert not measure_filling(engine, (prefix, suffix, middle), ONE).works


def test_a_model_that_was_not_trained_to_fill_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "untrained.gguf"
    with_fill_marks(short_model(endless=True), path, (3, 4, 5))
    note_measurements(path, short_model(endless=True))
    with (
        LlamaModel(path, spec="untrained", api="fill", context=256) as model,
        pytest.raises(ModelError, match="does not fill in the middle") as refused,
    ):
        model.complete([Prompt(ADD, 4)])
    assert "--api completions" in str(refused.value.hint)


def test_a_model_without_such_tokens_has_no_trial(model: LlamaModel) -> None:
    assert model.fill_trial() is None
