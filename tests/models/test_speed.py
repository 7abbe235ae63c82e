"""The speed of a local model: measured, remembered by its file, and scaled for a larger one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from counterlens.models import speed as speed_module
from counterlens.models.files import note
from counterlens.models.llama.model import LlamaModel
from counterlens.models.speed import (
    estimated_speed,
    measure_speed,
    noted_speed,
    share_of_others,
    undisturbed_speed,
)


def test_a_measured_speed_is_remembered_and_scaled(
    model: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed_module, "_used_by_others", lambda _pid: 0.0)
    speed = measure_speed(model, opening=0.5, pid=model.pid)
    assert min(speed.writing, speed.reading) > 1
    assert speed.memory > 20_000_000
    assert speed.first_mark > 0.5
    assert speed.first_token > 0
    assert "processor" in speed.machine
    assert noted_speed(model.info.identity) == speed
    assert noted_speed("another") is None
    larger = estimated_speed(speed, 100, 400)
    assert not larger.measured
    assert larger.writing == pytest.approx(speed.writing / 4)
    assert larger.first_mark == pytest.approx(4 * speed.first_mark)
    assert larger.first_token == pytest.approx(4 * speed.first_token)
    assert larger.memory == speed.memory + 300


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what other programs use")
def test_a_speed_that_other_programs_disturbed_is_told_and_not_kept(
    model: LlamaModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        others = share_of_others(model.pid)
        with monkeypatch.context() as patch:
            patch.delattr(speed_module, "measure_speed")  # it would be for nothing
            reason = undisturbed_speed(model, 0.5, notice=lambda _: None, pid=model.pid)
        speed = measure_speed(model, opening=0.5, pid=model.pid)
    finally:
        for each in busy:
            each.kill()
            each.wait()
    assert 0.2 < others <= 1
    assert str(reason).startswith(f"no speed is kept of {model.info.id}: other programs used ")
    assert 0.2 < speed.others <= 1
    assert speed.disturbed
    assert not replace(speed, others=0.05).disturbed
    assert noted_speed(model.info.identity) is None
    note("model-speeds.json", "an earlier version's", msgspec.json.encode(speed).decode())
    assert noted_speed("an earlier version's") is None
