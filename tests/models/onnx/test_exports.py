"""Folders: what is found in them, what is missing, what a model is by its files, and its tokenizer."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import threading
from pathlib import Path

import psutil
import pytest
import tokenizers
from tokenizers import models, normalizers, pre_tokenizers

from counterlens.errors import Cancelled, ModelError, ModelProcessDiedError
from counterlens.models import load
from counterlens.models.local.model import LocalModel
from counterlens.models.onnx.export import Export, Reading, export_name
from counterlens.models.onnx.tokenizer import ExportTokenizer
from counterlens.models.registry import Options, runs_here
from tests.models.onnx.exporting import Exported, export


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return export(tmp_path_factory.mktemp("export"), past=True, external=True)


def test_the_identity_is_of_all_files_that_decide(exported: Exported, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(exported.folder, copy)
    first = Export.at(exported.folder)
    names = [path.name for path in first.files]
    assert names == ["model.onnx", "model.onnx_data", "config.json", "tokenizer.json"]
    assert Export.at(copy).identity == first.identity
    data = bytearray((copy / "model.onnx_data").read_bytes())
    data[100] ^= 1
    (copy / "model.onnx_data").write_bytes(data)
    assert Export.at(copy).identity != first.identity


def test_an_export_is_a_folder_one_of_the_hub_or_a_file_in_either(exported: Exported, tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    shutil.copytree(exported.folder, hub)
    (hub / "onnx").mkdir()
    for name in ("model.onnx", "model.onnx_data"):
        (hub / name).rename(hub / "onnx" / name)
    assert Export.at(hub) == Export(hub, hub / "onnx" / "model.onnx")
    assert Export.at(hub / "onnx" / "model.onnx") == Export.at(hub)
    assert Export.at(exported.folder / "model.onnx") == Export.at(exported.folder)
    assert Export.at(hub).identity == Export.at(exported.folder).identity
    assert runs_here(exported.spec)


def test_what_is_missing_is_named(exported: Exported, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no model folder"):
        load(f"onnx:{tmp_path}/none")
    with pytest.raises(ModelError, match=r"has no model\.onnx") as failure:
        load(f"onnx:{tmp_path}")
    assert "optimum-cli export onnx" in (failure.value.hint or "")
    broken = tmp_path / "broken"
    shutil.copytree(exported.folder, broken)
    (broken / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match=r"ONNX Runtime cannot load model\.onnx"):
        load(f"onnx:{broken}")
    (broken / "config.json").write_text("[]")
    with pytest.raises(ModelError, match="JSON object"):
        load(f"onnx:{broken}")
    (broken / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"has no tokenizer\.json"):
        load(f"onnx:{broken}")
    for api in ("chat", "fill"):
        with pytest.raises(ModelError, match=f"an ONNX model cannot be used with {api}"):
            load(exported.spec, Options(api=api))
    with pytest.raises(ModelError, match="not exact"):
        load(exported.spec, Options(exact=True))


def test_a_model_that_is_no_causal_one_is_not_scored_as_one(tmp_path: Path) -> None:
    export(tmp_path, causal=False, config={"architectures": ["LlamaForCausalLM"]})
    with pytest.raises(ModelError, match="LlamaForCausalLM"):
        load(f"onnx:{tmp_path}")


def test_the_packages_that_are_missing_are_named(exported: Exported, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ModelError, match="onnxruntime is not installed") as failure:
        load(exported.spec)
    assert "counterlens[onnx]" in (failure.value.hint or "")


def test_a_hub_repository_without_a_network_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants", reason="huggingface_hub is not installed")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="onnx:owner/repo is not on this machine yet"):
        load("onnx:owner/repo")


@pytest.mark.parametrize(
    ("config", "reading", "window"),
    [
        ({"architectures": ["GPTNeoForCausalLM"], "max_position_embeddings": 2048}, Reading.CAUSAL, 2048),
        ({"architectures": ["GPT2LMHeadModel"], "n_positions": 1024}, Reading.CAUSAL, 1024),
        (
            {
                "architectures": ["RobertaForMaskedLM"],
                "model_type": "roberta",
                "max_position_embeddings": 514,
                "pad_token_id": 1,
            },
            Reading.MASKED,
            512,
        ),
        ({"model_type": "roberta", "max_position_embeddings": 514}, None, 512),
    ],
)
def test_what_a_configuration_says(
    tmp_path: Path, config: dict[str, object], reading: Reading | None, window: int
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = Export(tmp_path, tmp_path / "model.onnx")
    assert (found.reading, found.window) == (reading, window)


def test_ends_are_those_of_both_configurations(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"eos_token_id": 2}')
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [2, 7]}')
    assert Export(tmp_path, tmp_path / "model.onnx").ends == {2, 7}


def test_pieces_are_bytes_whatever_the_vocabulary_writes(exported: Exported, tmp_path: Path) -> None:
    byte_level = ExportTokenizer(exported.folder / "tokenizer.json")
    for text in ("def é∂😀\x00", "<s> is text </s>", "a\ud800b"):
        data = text.encode("utf-8", "surrogatepass")
        joined = b"".join(byte_level.pieces[token] for token in byte_level.tokenize(data))
        assert joined == data.replace(b"\xed\xa0\x80", "\ufffd".encode())
    pieces = tokenizers.Tokenizer(models.BPE({"▁": 0, "<0x0A>": 1, "a": 2, "▁a": 3}, [("▁", "a")]))
    pieces.pre_tokenizer = pre_tokenizers.Metaspace()
    pieces.save(str(tmp_path / "tokenizer.json"))
    assert ExportTokenizer(tmp_path / "tokenizer.json").pieces == [b" ", b"\n", b"a", b" a"]


def test_places_of_a_tokenizer_that_changes_letters_are_its_own(tmp_path: Path) -> None:
    names = ["[UNK]", "[MASK]", "re", "##turn", "é", "x"]
    words = tokenizers.Tokenizer(models.WordPiece({name: i for i, name in enumerate(names)}))
    words.normalizer = normalizers.Lowercase()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.save(str(tmp_path / "tokenizer.json"))
    tokenizer = ExportTokenizer(tmp_path / "tokenizer.json")
    encoded = tokenizer.encode("RETURN É x\n".encode())
    assert encoded.tokens == [2, 3, 4, 5]
    assert encoded.ends == [2, 6, 9, 12]
    assert encoded.words == [0, 0, 1, 2]
    assert tokenizer.mask == 1


def test_a_killed_child_is_a_clear_error_and_the_next_request_works(exported: Exported) -> None:
    long = "".join(f"x{i} = x{i}\n" for i in range(8000))
    with load(exported.spec) as model:
        assert isinstance(model, LocalModel)
        first = model.pid
        assert first is not None
        with pytest.raises(ModelProcessDiedError, match="signal 9"):
            model.score(long, progress=lambda *_: os.kill(first, signal.SIGKILL))
        assert len(model.score("x = 2"))
        assert model.pid not in (None, first)
        assert not psutil.pid_exists(first)
        cancel = threading.Event()
        with pytest.raises(Cancelled):
            model.score(long, cancel=cancel, progress=lambda *_: cancel.set())
        assert len(model.score("x = 1"))
    with pytest.raises(ModelError, match="closed"):
        model.score("x")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("owner/repo", "owner/repo"),
        ("/exports/bert", "bert"),
        ("/exports/bert/onnx/model.onnx", "bert"),
        ("/exports/bert/model.onnx", "bert"),
        ("/c/hub/models--owner--a-repo/snapshots/0123", "owner/a-repo"),
    ],
)
def test_an_export_is_called_by_its_folder_or_its_repository(path: str, name: str) -> None:
    assert export_name(path) == name
