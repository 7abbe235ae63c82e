"""Files of the hub: fetched whole or not at all, continued, and found again without a network."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event

import pytest

from counterlens.errors import Cancelled, ModelError
from counterlens.models.code_models import code_models
from counterlens.models.hub import HubFile, fetch
from counterlens.models.registry import takes
from tests.models.hub_server import COMMIT, Hub, hub

NAME, SPEC = "owner/repo/model.gguf", "owner/repo/model.gguf"
DATA = b"GGUF" + os.urandom(3_000_000)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_TOKEN", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "hf" / "hub" / "models--owner--repo"


def use(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server.url)


def test_a_file_is_fetched_with_progress_and_found_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int]] = []
    with hub({NAME: DATA}) as server:
        use(server, monkeypatch)
        path = fetch(SPEC, lambda done, total: told.append((done, total)))
    assert path == cache / "snapshots" / COMMIT / "model.gguf"
    assert path.read_bytes() == DATA
    assert (cache / "refs" / "main").read_text() == COMMIT
    assert told[-1] == (len(DATA), len(DATA))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert fetch(SPEC) == path  # the server is gone


def test_the_hubs_own_library_finds_what_was_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = pytest.importorskip("huggingface_hub")
    with hub({NAME: DATA}) as server:
        use(server, monkeypatch)
        path = fetch(SPEC)
    found = library.try_to_load_from_cache("owner/repo", "model.gguf", cache_dir=tmp_path / "hf" / "hub")
    assert Path(found) == path


def test_what_breaks_off_is_continued(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub({NAME: DATA}, breaks_at=1_200_000) as server:
        use(server, monkeypatch)
        with pytest.raises(ModelError):
            fetch(SPEC)
        (part,) = cache.glob("blobs/*.incomplete")
        kept = part.stat().st_size
        assert 0 < kept <= 1_200_000
        assert fetch(SPEC).read_bytes() == DATA
        ranges = [headers["Range"] for _, _, headers in server.asked if "Range" in headers]
    assert ranges[-1] == f"bytes={kept}-"


def test_a_cancelled_one_is_kept_and_continued(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cancel = Event()
    with hub({NAME: DATA}) as server:
        use(server, monkeypatch)
        with pytest.raises(Cancelled):
            fetch(SPEC, lambda _done, _total: cancel.set(), cancel)
        assert list(cache.glob("blobs/*.incomplete"))
        assert HubFile("owner/repo", "model.gguf").here() is None
        assert fetch(SPEC).read_bytes() == DATA


def test_another_content_than_the_hub_named_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"/owner/repo/resolve/main/model.gguf": "0" * 64}
    with hub({NAME: DATA}, told) as server:
        use(server, monkeypatch)
        with pytest.raises(ModelError, match="SHA-256"):
            fetch(SPEC)
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_without_a_hash_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"/owner/repo/resolve/main/model.gguf": "0" * 40}  # a small file has another kind
    with hub({NAME: DATA}, told) as server:
        use(server, monkeypatch)
        with pytest.raises(ModelError, match="no hash"):
            fetch(SPEC)


def test_a_name_that_is_not_there_and_a_hub_that_is_not_there_are_clear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with hub({}) as server:
        use(server, monkeypatch)
        with pytest.raises(ModelError, match="the hub does not provide owner"):
            fetch(SPEC)
    with pytest.raises(ModelError, match="cannot be reached") as gone:
        fetch(SPEC)
    assert gone.value.brief == "offline"
    assert "proxy" in (gone.value.hint or "")
    for wrong in ("owner/model.gguf", "owner/repo/../model.gguf", "owner/repo/model.bin"):
        with pytest.raises(ModelError, match="does not name a model file"):
            fetch(wrong)


def test_a_proxy_is_used_and_a_key_is_for_the_hub_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with hub({NAME: DATA}) as server:
        monkeypatch.setenv("HF_ENDPOINT", "http://hub.invalid")
        monkeypatch.setenv("HTTP_PROXY", server.url)
        with pytest.raises(ModelError):
            fetch(SPEC)
        assert server.asked[0][1].startswith("http://hub.invalid/owner/repo/resolve/main/")


def test_what_is_offered_has_all_that_people_choose_by() -> None:
    offered = code_models()
    assert len(offered) >= 3
    for one in offered:
        assert 0.4e9 < one.parameters < 3.5e9
        assert one.bytes > one.parameters / 2
        assert one.licence
        assert takes(one.id, "threads")
        assert all(name == name.lower() for name in one.also_known)
