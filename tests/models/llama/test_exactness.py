"""A completion is a function of its prompt: what else is asked, and on how many threads, changes no bit."""

from __future__ import annotations

import threading
from bisect import bisect
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterlens.errors import Cancelled
from counterlens.models.base import Api, Capability, Completion, Prompt, Stop
from counterlens.models.files import note, recall
from counterlens.models.llama import exactness
from counterlens.models.llama.completing import LlamaCompleter
from counterlens.models.llama.decoding import ExactDecoder, SharedCalls
from counterlens.models.llama.model import LlamaModel
from counterlens.models.llama.native import TILED, Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.sequences import ROWS, Row, SequenceBatch
from counterlens.models.local.encoded_prompt import Constraint
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
    with LlamaModel(short_model(endless=True), spec="other", threads=threads) as other:
        assert other.complete(PROMPTS[4:]) == alone[4:]
        assert other.offers(Capability.EXACT)
        assert ("completions", "exact") in other.info.details


class Kernels:
    """A batch that decodes nothing: the bits of a row are what llama.cpp's kernels could make them depend on.

    Args:
        changes: The numbers of rows from which on other kernels are used.
        tiles: Whether the place of a row in its call matters, too.
    """

    keeps_prefixes = True

    def __init__(self, changes: tuple[int, ...], *, tiles: bool = False) -> None:
        self.changes, self.tiles = changes, tiles
        self.held: dict[int, list[object]] = {}

    def start(self, needs: list[int]) -> None:
        self.held = {i: [] for i in range(len(needs))}

    def close(self) -> None:
        self.held = {}

    def cut(self, seq_id: int, length: int) -> None:
        assert length <= len(self.held[seq_id])
        del self.held[seq_id][length:]

    def copy(self, source: int, target: int) -> None:
        self.held[target] = list(self.held[source])

    def decode(self, rows: list[Row]) -> np.ndarray[Any, Any]:
        assert len(rows) <= ROWS
        counts = Counter(row.seq_id for row in rows)
        assert len(counts) == 1 or set(counts.values()) == {1}
        assert not any(row.wanted for row in rows[:-1]) or len(counts) == len(rows)
        bits = []
        for at, row in enumerate(rows):
            # Attention is computed otherwise for several rows of a sequence than for one.
            kernel = bisect(self.changes, len(rows)), counts[row.seq_id] > 1, at if self.tiles else 0
            self.held[row.seq_id].append((row.token, kernel))
            if row.wanted:
                bits.append([float(hash(tuple(self.held[row.seq_id])) % 10**6)])
        return np.array(bits, np.float32).reshape(len(bits), 1)


def _alone(kernels: Kernels, prompt: list[int], steps: list[int]) -> list[float]:
    """The logits of a sequence that is decoded by the rule, in calls of its own."""
    decoder = ExactDecoder(Kernels(kernels.changes, tiles=kernels.tiles), SharedCalls(), 1, 4096)  # type: ignore[arg-type]
    decoder.begin(0, np.asarray(prompt, np.int32))
    rows = [next(row[0] for _ in prompt if (row := decoder.read(0)) is not None)]
    return [*rows, *(decoder.step({0: token})[0][0] for token in steps)]


KERNELS = {  # what may share calls: the kernels
    SharedCalls(): Kernels((2, 5, 33), tiles=True),
    SharedCalls(7, free=True): Kernels((8,)),
    SharedCalls(32, free=True): Kernels(()),
}


@settings(max_examples=80)
@given(
    calls=st.sampled_from(list(KERNELS)),
    sequences=st.lists(
        st.tuples(
            st.lists(st.integers(0, 1), min_size=1, max_size=130),
            st.lists(st.integers(2, 3), max_size=6),
            st.integers(0, 5),
        ),
        min_size=1,
        max_size=24,
    ),
    shared=st.lists(st.integers(0, 1), max_size=150),
)
def test_sequences_that_begin_and_end_at_any_time_get_the_bits_that_they_get_alone(
    calls: SharedCalls, sequences: list[tuple[list[int], list[int], int]], shared: list[int]
) -> None:
    kernels = Kernels(KERNELS[calls].changes, tiles=KERNELS[calls].tiles)
    decoder = ExactDecoder(kernels, calls, min(8, len(sequences)), 4096)  # type: ignore[arg-type]
    prompts = [shared + own for own, _, _ in sequences]
    waiting = sorted(range(len(prompts)), key=lambda i: sequences[i][2])
    logits: dict[int, list[float]] = {}
    reading: list[int] = []
    time = 0
    while waiting or reading or any(len(rows) <= len(sequences[i][1]) for i, rows in logits.items()):
        arrived = [i for i in waiting if sequences[i][2] <= time]
        for i in arrived[: decoder.free]:
            decoder.begin(i, np.asarray(prompts[i], np.int32))
            reading.append(i)
            waiting.remove(i)
        if reading:  # one portion of one of them
            i = reading[time % len(reading)]
            if (row := decoder.read(i)) is not None:
                logits[i] = [row[0]]
                reading.remove(i)
                if not sequences[i][1]:
                    decoder.end(i)
        live = {
            i: sequences[i][1][len(rows) - 1]
            for i, rows in logits.items()
            if len(rows) <= len(sequences[i][1])
        }
        for i, row in decoder.step(live).items() if live else ():
            logits[i].append(row[0])
            if len(logits[i]) > len(sequences[i][1]):
                decoder.end(i)
        time += 1
    for i, rows in logits.items():
        assert rows == _alone(kernels, prompts[i], sequences[i][1])


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(short_model(endless=True), threads=1, context=1024)


@pytest.mark.parametrize("calls", list(KERNELS)[1:])
def test_the_trial_sees_whether_kernels_change_in_company(engine: Engine, calls: SharedCalls) -> None:
    def opened(kernels: Kernels) -> Any:
        return lambda: Kernels(kernels.changes, tiles=kernels.tiles)

    expected = [calls.width <= kernels.width for kernels in list(KERNELS)]
    assert [exactness.holds(engine, calls, opened(kernels)) for kernels in KERNELS.values()] == expected


def test_what_was_tried_is_not_tried_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tried: list[None] = []
    monkeypatch.setattr(exactness, "holds", lambda *_: tried.append(None))
    assert [exactness.calls_of(engine, name) for name in ("one", "one", "two")] == [SharedCalls()] * 3
    assert len(tried) == 2


@pytest.fixture(scope="module")
def k_quants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The short model with the weights that can be K-quants as such."""
    path = tmp_path_factory.mktemp("quantised") / "short-q4_k_m.gguf"
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype, parameters.allow_requantize = llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_K_M, True
    assert (
        llama_cpp.llama_model_quantize(
            str(short_model(endless=True)).encode(), str(path).encode(), parameters
        )
        == 0
    )
    return path


@pytest.mark.parametrize("tiled", ["", "1"])
def test_k_quants_are_exact_with_and_without_tiled_kernels(
    k_quants: Path, tiled: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if tiled:
        monkeypatch.setenv(TILED, tiled)
    prompts = [*PROMPTS, *(Prompt(f"{HEAD}    s{i} = 0\n", 6) for i in range(8))]
    with LlamaModel(k_quants, spec="k", threads=1) as one, LlamaModel(k_quants, spec="k", threads=2) as two:
        alone = [answer for prompt in prompts for answer in one.complete([prompt])]
        assert two.complete(prompts) == alone
        assert one.complete(prompts[::-1]) == alone[::-1]
    (memory,) = tmp_path.rglob("exact-decoding.json")
    assert ("width=7" if tiled else "width=32") in memory.read_text()


def test_requests_of_several_threads_share_calls_and_get_the_answers_that_they_get_alone(
    model: LlamaModel, alone: list[Completion]
) -> None:
    cancel, cancelled = threading.Event(), []

    def withdrawn() -> None:
        with pytest.raises(Cancelled):
            model.complete([Prompt("numbers = [7, 8, 9,", 3000)], cancel=cancel)
        cancelled.append(True)

    other = threading.Thread(target=withdrawn)
    other.start()
    with ThreadPoolExecutor(len(PROMPTS) + 1) as pool:
        pending = [pool.submit(model.complete, [prompt]) for prompt in PROMPTS]
        scores = pool.submit(model.score, HEAD)
        answers = [each.result()[0] for each in pending]
        assert not cancelled
    cancel.set()
    other.join()
    assert answers == alone
    assert cancelled
    assert np.array_equal(scores.result().logprob, model.score(HEAD).logprob, equal_nan=True)
    assert model.complete(PROMPTS) == alone


def test_recurrent_models_whose_sequences_cannot_be_copied_or_cut_get_the_same_answers(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    parts = PromptEncoder(engine, Api.COMPLETIONS), engine, Constraint(engine.pieces)
    usual = LlamaCompleter(*parts, SharedCalls(32, free=True))
    expected = usual.complete(PROMPTS, lambda *_: None)
    monkeypatch.setattr(Engine, "keeps_prefixes", property(lambda _: False))
    monkeypatch.setattr(SequenceBatch, "copy", None)
    cut = SequenceBatch.cut
    lengths: list[int] = []
    monkeypatch.setattr(SequenceBatch, "cut", lambda *given: lengths.append(given[2]) or cut(*given))
    recurrent = LlamaCompleter(*parts, exactness.calls_of(engine, "recurrent"))
    assert recurrent.calls == SharedCalls()
    assert recurrent.complete(PROMPTS, lambda *_: None) == expected
    assert set(lengths) == {0}


def test_notes_are_kept_and_a_damaged_file_is_begun_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    note("memory.json", "a", "1")
    note("memory.json", "b", "2")
    assert (recall("memory.json", "a"), recall("memory.json", "b")) == ("1", "2")
    (tmp_path / "counterlens" / "memory.json").write_text("{")
    assert recall("memory.json", "a") is None


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
