"""A completion is a function of its prompt: what else is asked, and on how many threads, changes no bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterlens.models.base import Capability, Completion, Prompt, Stop
from counterlens.models.files import known, note
from counterlens.models.llama import exactness
from counterlens.models.llama.decoding import ExactDecoder, Shape
from counterlens.models.llama.model import LlamaModel
from counterlens.models.llama.native import BATCH, Engine
from counterlens.models.llama.sequences import Row, SequenceBatch
from tests.conftest import short_model

HEAD = '''def mean(values):
    """The arithmetic mean of some numbers.

    >>> mean([1, 2, 3])
    2.0
    """
'''
LONG = "".join(f"x{i} = {i}\n" for i in range(36))  # looks back on more than 256 tokens
PROMPTS = [
    Prompt(f"{HEAD}    total = 0\n    for v in values:\n", 8, Stop(indent=0)),
    Prompt(f"{HEAD}    s = 0\n    for value in values:\n", 8, Stop(indent=0)),
    Prompt(HEAD, 8, Stop(indent=0)),
    Prompt("numbers = [1, 2, 3,", 6),
    Prompt("x", 3),
    Prompt(LONG + "y = x1 +", 4),
]


@pytest.fixture(scope="module")
def alone(model: LlamaModel) -> list[Completion]:
    return [answer for prompt in PROMPTS for answer in model.complete([prompt])]


@pytest.mark.parametrize("asked", [[3, 0, 4, 1], [5, 2, 3]])
def test_a_completion_alone_equals_the_one_in_any_batch(
    model: LlamaModel, alone: list[Completion], asked: list[int]
) -> None:
    assert model.complete([PROMPTS[i] for i in asked]) == [alone[i] for i in asked]


def test_the_number_of_threads_changes_no_completion(model: LlamaModel, alone: list[Completion]) -> None:
    threads = 1 if dict(model.info.details)["threads"] != "1" else 2
    with LlamaModel(short_model(), spec="other", threads=threads) as other:
        assert other.complete(PROMPTS[4:]) == alone[4:]
        assert other.offers(Capability.EXACT)
        assert ("completions", "exact") in other.info.details


SHAPES = st.sampled_from([*exactness.SHAPES, Shape(1, 1, 8), Shape(2, 1, 64)])


class Recorded:
    """A batch that decodes nothing, and holds what each sequence was given."""

    def __init__(self) -> None:
        self.held: dict[int, list[int]] = {}
        self.calls: list[list[Row]] = []

    def fits(self, _sequences: int, _tokens: int) -> bool:
        return True

    def start(self, needs: list[int]) -> None:
        self.held = {i: [] for i in range(len(needs))}

    def cut(self, seq_id: int, length: int) -> None:
        assert length <= len(self.held[seq_id])
        del self.held[seq_id][length:]

    def copy(self, source: int, target: int) -> None:
        self.held[target] = list(self.held[source])

    def decode(self, rows: list[Row]) -> np.ndarray[Any, Any]:
        self.calls.append(rows)
        found = []
        for row in rows:
            self.held[row.seq_id].append(row.token)
            if row.wanted:  # a logit that says what was read
                found.append([float(hash(tuple(self.held[row.seq_id])) % 10**6)])
        return np.array(found, np.float32).reshape(len(found), 1)


def _expected(tokens: list[int]) -> float:
    return float(np.float32(hash(tuple(tokens)) % 10**6))


@settings(max_examples=60)
@given(
    shape=SHAPES,
    texts=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=90), min_size=1, max_size=16),
    shared=st.lists(st.integers(0, 3), max_size=70),
    ends=st.lists(st.integers(0, 6), min_size=16, max_size=16),
)
def test_every_call_has_a_shape_of_the_class_and_every_sequence_its_own_tokens(
    shape: Shape, texts: list[list[int]], shared: list[int], ends: list[int]
) -> None:
    batch = Recorded()
    decoder = ExactDecoder(batch, shape)  # type: ignore[arg-type]
    sequences = [shared + text for text in texts]
    logits = decoder.read(sequences, [len(tokens) + 6 for tokens in sequences])
    for at in range(7):
        assert {i: row[0] for i, row in logits.items()} == {i: _expected(sequences[i]) for i in logits}
        going_on = [i for i in logits if at < ends[i]]
        if not going_on:
            break
        for i in going_on:
            sequences[i] = [*sequences[i], i]
        logits = decoder.step({i: i for i in going_on})
        assert set(logits) == set(going_on)
    for rows in batch.calls:
        wanted = sum(row.wanted for row in rows)
        assert len(rows) <= BATCH
        assert shape.rows(len(rows)) == len(rows)
        assert wanted == 0 or shape.rows(wanted) == wanted
        by_sequence = [[row for row in rows if row.seq_id == i] for i in range(1 + rows[-1].seq_id)]
        assert {len(each) for each in by_sequence} == {len(rows) // len(by_sequence)}
        assert len(by_sequence[0]) <= shape.each


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(short_model(), threads=1, context=1024)


def test_what_rounds_otherwise_is_found(engine: Engine) -> None:
    batch = SequenceBatch(engine)
    assert not exactness.holds(engine, batch, Shape(2, 1, 64))
    batch.close()


def test_what_was_tried_is_not_tried_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tried: list[Shape] = []

    def holds(_engine: Engine, _batch: SequenceBatch, shape: Shape) -> bool:
        tried.append(shape)
        return shape.least == 8

    monkeypatch.setattr(exactness, "holds", holds)
    batch = SequenceBatch(engine)
    first = exactness.shape_of(engine, batch, "one")
    assert first == exactness.shape_of(engine, batch, "one") == Shape(8, 1, 56)
    assert tried == list(exactness.SHAPES[:2])
    monkeypatch.setattr(exactness, "holds", lambda *_: False)
    assert exactness.shape_of(engine, batch, "two") is None
    monkeypatch.setattr(exactness, "holds", holds)
    assert exactness.shape_of(engine, batch, "two") is None


def test_notes_are_kept_and_a_damaged_file_is_begun_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    note("memory.json", "a", "1")
    note("memory.json", "b", "2")
    assert (known("memory.json", "a"), known("memory.json", "b")) == ("1", "2")
    (tmp_path / "counterlens" / "memory.json").write_text("{")
    assert known("memory.json", "a") is None


def test_a_copy_without_names_by_version_is_the_same_build(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def build_of(sizes: dict[str, int]) -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        (folder / "lib").mkdir(parents=True)
        for name, size in sizes.items():
            (folder / "lib" / name).write_bytes(b"x" * size)
        monkeypatch.setattr(exactness.llama, "__file__", str(folder / "__init__.py"))
        return exactness.build()

    copied = build_of({"libllama.so": 3, "libggml.so": 2})
    assert copied == build_of({"libllama.so": 3, "libllama.so.0.5.0": 3, "libggml.so": 2, "libggml.so.0": 2})
    assert copied != build_of({"libllama.so": 4, "libggml.so": 2})
    assert copied != build_of({"libllama.so": 3, "libggml-cpu.so": 2})
