"""Layers of a local model go to a device with room; else the processor computes, or an error says why."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import llama_cpp
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.cli.main import main
from counterlens.errors import ModelError
from counterlens.models.base import RUNS_ON, Prompt
from counterlens.models.llama import worker
from counterlens.models.llama.devices import (
    MARGIN,
    NOTHING,
    Device,
    Hardware,
    Offload,
    choose_offload,
    device_list,
    find_hardware,
    fitting_layers,
)
from counterlens.models.llama.model import LlamaModel, hardware
from counterlens.models.llama.native import Engine
from counterlens.models.llama.protocol import Open
from counterlens.models.llama.rounding import SHARED_CACHE, layer_sizes
from tests.conftest import embedded_file, short_model

GB = 10**9
CARD = Device("CUDA0", "a card", 11 * GB, 12 * GB)
SECOND = Device("CUDA1", "another card", 8 * GB, 8 * GB)
SHARED = Device("Vulkan0", "in the processor", 30 * GB, 32 * GB, integrated=True)
sizes = st.lists(st.integers(0, 4 * GB), min_size=1, max_size=80)


@given(sizes, st.integers(0, 400 * GB))
def test_as_many_layers_as_fit_and_not_one_more(needs: list[int], room: int) -> None:
    count = fitting_layers(needs, room)
    assert count == 0 or sum(needs[-count:]) <= room
    assert count == len(needs) or sum(needs[-count - 1 :]) > room


@given(sizes, st.integers(0, 400 * GB), st.integers(0, GB))
def test_more_room_never_holds_fewer_layers(needs: list[int], room: int, more: int) -> None:
    assert fitting_layers(needs, room) <= fitting_layers(needs, room + more)


@given(sizes, st.lists(st.integers(0, 40 * GB), min_size=1, max_size=3))
def test_auto_leaves_the_margin_of_each_device(needs: list[int], free: list[int]) -> None:
    devices = tuple(Device(f"CUDA{i}", "", each, 40 * GB) for i, each in enumerate(free))
    offload = choose_offload("auto", Hardware(("CUDA",), devices), needs)
    room = sum(each - MARGIN for each in free if each > MARGIN)
    assert offload.count == fitting_layers(needs, room)
    assert offload.devices == (devices if offload.count else ())


@given(sizes, st.integers(1, 9999))
def test_a_number_is_taken_as_it_is_up_to_all_layers(needs: list[int], number: int) -> None:
    offload = choose_offload(str(number), Hardware(("CUDA",), (CARD,)), needs)
    assert offload.count == min(number, len(needs))
    assert choose_offload("all", Hardware(("CUDA",), (CARD,)), needs).count == len(needs)


def test_layers_go_to_cards_and_to_a_part_of_the_processor_only_without_a_card() -> None:
    needs = [GB] * 4
    for devices, used in (((SHARED, CARD, SECOND), (CARD, SECOND)), ((SHARED,), (SHARED,))):
        assert choose_offload("auto", Hardware(("CUDA",), devices), needs).devices == used
    offload = choose_offload("3", Hardware(("CUDA",), (CARD, SECOND)), needs)
    assert str(offload) == "CUDA0 (a card) and CUDA1 (another card), 3 of 4 layers"


def test_without_room_auto_is_the_processor_and_says_why() -> None:
    full = Hardware(("CUDA",), (Device("CUDA0", "a card", MARGIN // 2, 4 * GB),))
    offload = choose_offload("auto", full, [GB] * 4)
    assert (offload.count, offload.devices) == (0, ())
    assert str(offload) == "the processor: too little memory is free on CUDA0 (a card): 0.5 GB"


@pytest.mark.parametrize("wanted", ["1", "10", "all"])
@pytest.mark.parametrize(
    ("here", "message", "hint"),
    [
        (Hardware(), "no back end for graphics processors", "docs/installing.md"),
        (Hardware(("CUDA", "Vulkan")), "finds no device for CUDA or Vulkan", "Check its driver"),
    ],
)
def test_layers_without_a_device_are_an_error_that_says_what_to_do(
    here: Hardware, wanted: str, message: str, hint: str
) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        choose_offload(wanted, here, [GB])
    assert hint in (caught.value.hint or "")
    assert choose_offload("auto", here, [GB]) == choose_offload("0", here, [GB]) == NOTHING


def test_zero_layers_do_not_use_a_device() -> None:
    for zero in ("0", "00"):
        assert choose_offload(zero, Hardware(("CUDA",), (CARD,)), [GB]) == NOTHING
    assert list(device_list(())) == [None]


def test_the_sizes_of_layers_are_those_of_the_file() -> None:
    path, context, layers = Path(embedded_file()), 4096, 30
    needs = layer_sizes(path, context)
    assert len(needs) == layers + 1
    # 3 heads of keys and values, 64 wide, 16 bits each; twice, or half a gigabyte for all layers.
    cache = 2 * 2 * 3 * 64 * context
    weights = sum(needs) - layers * (cache + max(cache, SHARED_CACHE // layers))
    assert 0.95 < weights / path.stat().st_size <= 1
    assert needs[-1] > 10 * 1024**2  # the embeddings are copied as the output
    assert needs[0] < layer_sizes(path, 100 * context)[0] == layer_sizes(path, 2 * context)[0]


def test_the_other_files_of_a_model_count(tmp_path: Path) -> None:
    first = tmp_path / "model[1]-00001-of-00002.gguf"
    first.write_bytes(Path(embedded_file()).read_bytes())
    alone = layer_sizes(first, 512)
    (tmp_path / "model[1]-00002-of-00002.gguf").write_bytes(bytes(31_000_000))
    assert [more - less for more, less in zip(layer_sizes(first, 512), alone, strict=True)] == [10**6] * 31


def test_a_damaged_file_has_no_sizes(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(Path(embedded_file()).read_bytes()[:4000])
    assert layer_sizes(damaged, 512) == layer_sizes(tmp_path / "none.gguf", 512) == []


# The build of the tests, which has no back end for a graphics processor.


@pytest.fixture
def plain_build() -> Hardware:
    offers = hardware()
    if offers.backends:
        pytest.skip(f"this build has {offers.backends}")
    return offers


def test_the_build_is_asked_in_a_child_process(plain_build: Hardware) -> None:
    assert plain_build == find_hardware() == Hardware()


@pytest.mark.usefixtures("plain_build")
def test_a_back_end_beside_the_libraries_that_cannot_be_loaded_is_left_out(
    plain_build: Hardware, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries = Path(llama_cpp.__file__).parent / "lib"
    shutil.copytree(libraries, tmp_path / "lib", symlinks=True)
    (tmp_path / "lib" / "libggml-vulkan.so").write_bytes(b"no library")
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path / "lib"))
    assert hardware() == plain_build


def test_auto_runs_on_the_processor_and_a_number_is_refused() -> None:
    with LlamaModel(short_model(endless=True), spec="short") as model:
        assert dict(model.info.details)[RUNS_ON] == "the processor"
        assert model.info.device == ""
        with LlamaModel(short_model(endless=True), spec="short", gpu_layers="0") as other:
            assert other.info == model.info
            prompt = Prompt("def add(a, b):\n    return", 4)
            assert other.complete([prompt]) == model.complete([prompt])
    with pytest.raises(ModelError, match="no back end") as caught:
        LlamaModel(short_model(endless=True), spec="short", gpu_layers="10")
    assert "docs/installing.md" in (caught.value.hint or "")


@pytest.mark.usefixtures("plain_build")
def test_the_command_line_refuses_layers_and_forms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = tmp_path / "code.py"
    code.write_text("a = 1\n")
    for layers, said in (
        ("10", "no back end"),
        ("-1", "'-1' is not a number, all or auto"),
        ("N", "'N' is not"),
    ):
        with pytest.raises(SystemExit):
            main(["score", str(code), "-m", str(short_model(endless=True)), "--gpu-layers", layers])
        assert said in " ".join(capsys.readouterr().err.replace("\u2502", " ").split())


@pytest.mark.usefixtures("plain_build")
def test_models_test_names_the_device(capsys: pytest.CaptureFixture[str]) -> None:
    for form, said in ((), "it runs on the processor\n"), (("--json",), '"runs on": "the processor"'):
        with pytest.raises(SystemExit) as ended:
            main(["models", "test", str(short_model(endless=True)), "--gpu-layers", "auto", *form])
        assert ended.value.code == 0
        assert said in capsys.readouterr().out


# A device that llama.cpp reports, but that does not hold the layers: the list of the build is replaced.


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[Offload]:
    """The attempts to open the model: the first device is reported, and fails when it is used."""
    attempts = []

    class Opened(Engine):
        def __init__(self, path: Path, *, offload: Offload, **options: Any) -> None:
            attempts.append(offload)
            if offload.count:
                raise ModelError(f"llama.cpp cannot load {path.name} on {offload}: out of memory")
            super().__init__(path, offload=offload, **options)

    monkeypatch.setattr(worker, "find_hardware", lambda: Hardware(("CUDA",), (CARD,)))
    monkeypatch.setattr(worker, "Engine", Opened)
    return attempts


def test_auto_falls_back_to_the_processor_if_the_device_fails(refused: list[Offload]) -> None:
    request = Open(str(short_model(endless=True)), 1, 512)
    engine = worker._engine(request, print)
    assert [attempt.devices for attempt in refused] == [(CARD,), ()]
    assert str(engine.offload).startswith("the processor: llama.cpp cannot load ")
    assert str(engine.offload).endswith("layers: out of memory")
    with pytest.raises(ModelError, match="out of memory"):
        worker._engine(Open(str(short_model(endless=True)), 1, 512, gpu_layers="all"), print)


def test_another_child_opens_the_same_model() -> None:
    with LlamaModel(short_model(endless=True), spec="short") as model:
        assert model._process.opening.gpu_layers == "0"  # what auto chose, whatever is free later
        assert model.pid is not None
        os.kill(model.pid, signal.SIGKILL)
        psutil.wait_procs([psutil.Process(model.pid)] if psutil.pid_exists(model.pid) else [])
        assert model.complete([Prompt("x = ", 2)])[0].tokens == 2
