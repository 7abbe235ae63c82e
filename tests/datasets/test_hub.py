"""Bringing a dataset, with the real library and a repository that is a folder: there is no network here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterlens.datasets import LOADERS, open_dataset
from counterlens.datasets.hub import bring
from counterlens.errors import DataError
from tests.datasets.test_formats import RECORDS


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the library loads as it does a repository: one file a split."""
    pytest.importorskip("datasets", reason="the extra `data` is not installed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "test.jsonl").write_text(json.dumps(RECORDS["cruxeval"]) + "\n")
    return folder


def test_what_was_brought_is_found(repository: Path, tmp_path: Path) -> None:
    path = bring(LOADERS["cruxeval"], tmp_path / "kept", repository=str(repository))
    (problem,) = open_dataset(path)
    assert (problem.dataset, problem.call) == ("cruxeval", "f([1])")
    assert [file.name for file in (tmp_path / "kept").iterdir()] == ["cruxeval.jsonl"]


def test_another_format_is_refused_and_the_old_copy_stays(repository: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    path = bring(LOADERS["cruxeval"], kept, repository=str(repository))
    before = path.read_bytes()
    (repository / "test.jsonl").write_text('{"other": 1}\n')
    with pytest.raises(DataError, match="not in the format of CRUXEval"):
        bring(LOADERS["cruxeval"], kept, repository=str(repository))
    assert path.read_bytes() == before
    assert len(list(kept.iterdir())) == 1


def test_what_cannot_be_reached_is_said(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="could not be downloaded"):
        bring(LOADERS["mbpp"], tmp_path / "kept", repository=str(repository / "nothing"))
    with pytest.raises(DataError, match="not on the hub"):
        bring(LOADERS["codenet"], tmp_path / "kept")


def test_without_the_library_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(DataError, match="not installed") as error:
        bring(LOADERS["mbpp"], tmp_path)
    assert error.value.hint == "pip install 'counterlens[data]'"
