"""A pipe or a device in the place of a file that is kept from run to run neither blocks nor floods."""

from __future__ import annotations

import gzip
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens import regular_file
from counterlens.confidence.correctness import correctness_file, load_correctness
from counterlens.datasets import open_dataset
from counterlens.errors import CounterlensError, DataError, ModelError
from counterlens.evaluation.causal_results import FILE, stored_effects
from counterlens.evaluation.store import Store
from counterlens.models import files
from counterlens.models.cache import AnswerStore
from counterlens.models.entries import user_entries, user_file
from counterlens.models.llama.worker import one_process
from counterlens.models.remote.accepted_parameters import ParameterMemory
from counterlens.python.judging import baseline
from counterlens.regular_file import numbered_lines, read_bytes, read_inflated, read_text
from counterlens.user_list import read_list
from tests.evaluation.made_up import results

MOST_SECONDS = 60


def pipe(path: Path) -> None:
    os.mkfifo(path)


def link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def link_to_a_pipe(path: Path) -> None:
    os.mkfifo(path.with_name(f"pipe for {path.name}"))
    path.symlink_to(f"pipe for {path.name}")


def folder(path: Path) -> None:
    path.mkdir()


OTHERS = [pipe, link_to_a_device, link_to_a_pipe, folder]
Other = Callable[[Path], None]


@pytest.fixture(autouse=True)
def _stop_if_blocked() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise AssertionError("blocked")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(MOST_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("other", OTHERS)
def test_only_files_are_read(other: Other, tmp_path: Path) -> None:
    other(tmp_path / "x")
    with pytest.raises(OSError, match="x"):
        read_bytes(tmp_path / "x")


def test_a_file_is_read_up_to_a_size(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("ä" * 10)
    (tmp_path / "link").symlink_to("x")
    assert read_text(tmp_path / "link", 20) == "ä" * 10
    with pytest.raises(OSError, match="larger than 19 bytes"):
        read_text(path, 19)
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a hole takes no space
    with pytest.raises(OSError, match="larger"):
        read_bytes(path)


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("beside", ["", "-wal", "-shm", "-journal"])
def test_kept_answers_and_locks_do_without_a_file(other: Other, beside: str, tmp_path: Path) -> None:
    other(tmp_path / f"answers.sqlite{beside}")
    store = AnswerStore(tmp_path / "answers.sqlite")
    store.put(b"key", b"value")
    assert store.get(b"key") in (None, b"value")
    store.close()


@pytest.mark.parametrize("other", OTHERS)
def test_what_is_kept_between_runs_is_as_good_as_none(
    other: Other, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def replaced(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        other(path)
        return path

    cache = tmp_path / "cache" / "counterlens"
    replaced(cache / "endpoints.json")
    assert ParameterMemory(Path("endpoints.json")).recall("endpoint") is None
    replaced(cache / "notes.json")
    assert files.recall("notes.json", "key") is None
    assert read_list(replaced(tmp_path / "list.json")) == []
    assert baseline.read(replaced(tmp_path / "baseline.json")) is None
    replaced(correctness_file("model"))
    assert load_correctness("model") is None
    replaced(user_file())
    with pytest.raises(CounterlensError, match="cannot be read"):
        user_entries()
    (tmp_path / "run").mkdir()
    replaced(tmp_path / "run" / FILE)
    assert stored_effects(tmp_path / "run", results(task="confidence")) is None


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", ["run.sqlite", "run.sqlite-wal", "lock.sqlite", "run.sqlite-journal"])
def test_a_run_is_refused_in_words(other: Other, name: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    Store.create(run).close()
    (run / name).unlink(missing_ok=True)
    other(run / name)
    with pytest.raises(CounterlensError, match=r"regular file|cannot be|no run"):
        Store.create(run)
    with pytest.raises(DataError):
        Store.open(run)


@pytest.mark.parametrize("other", OTHERS[:3])
def test_data_and_models_are_files(other: Other, tmp_path: Path) -> None:
    for name in ("model.gguf", "data.jsonl"):
        other(tmp_path / name)
    with pytest.raises(ModelError, match="is not a file"):
        files.check_gguf(tmp_path / "model.gguf")
    with pytest.raises(DataError, match="neither a file nor a folder"):
        open_dataset(str(tmp_path / "data.jsonl"))


def test_a_lock_that_is_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with one_process("purpose", Event()):
        (lock,) = tmp_path.rglob("*.sqlite")
    lock.unlink()
    os.mkfifo(lock)
    with one_process("purpose", Event()):
        pass


@given(
    st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=30),
    st.integers(1, 50),
)
def test_lines_are_those_of_the_text_whatever_the_pieces(lines: list[bytes], piece: int) -> None:
    with tempfile.TemporaryDirectory() as folder_, pytest.MonkeyPatch.context() as patch:
        patch.setattr(regular_file, "_PIECE", piece)
        for name, pack in (("x", bytes), ("x.gz", gzip.compress)):
            path = Path(folder_) / name
            path.write_bytes(pack(b"\n".join(lines)))
            expected = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
            assert list(numbered_lines(path)) == expected


def test_what_inflates_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular_file, "MOST_INFLATED", 1 << 20)
    monkeypatch.setattr(regular_file, "LONGEST_LINE", 1 << 16)
    for content, reason in ((b"\n" * (2 << 20), "holds more"), (b"x" * (2 << 20), "line 1 is longer")):
        path = tmp_path / "x.jsonl.gz"
        path.write_bytes(gzip.compress(content))
        with pytest.raises(OSError, match=reason):
            list(numbered_lines(path))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"x" * 1000)[:-9])
    with pytest.raises(OSError, match="damaged"):
        read_inflated(tmp_path / "cut.gz")
