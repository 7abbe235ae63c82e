"""Small files that are kept from run to run: a damaged one is as good as none."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from counterlens.lsp import consent
from counterlens.models import files
from counterlens.python.judging import baseline
from counterlens.python.judging.baseline import PASSED, Baseline, BaselineTest
from counterlens.sandbox import claims
from counterlens.sandbox.base import Job, JobOutcome, ServedProgram
from counterlens.sandbox.registry import Availability
from counterlens.sandbox.serving import Conversation
from tests.evaluation.test_damage import largest_file

VALUES = (None, 7, -1, 1e300, "", "x", [], [[]], {}, {"x": None}, True)


def replaced(document: Any) -> Iterator[Any]:
    """A JSON document with each of its values, in turn, replaced by others, or missing."""
    yield from VALUES
    parts = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in list(parts):
        less = document.copy()
        del less[key]
        yield less
        inner = replaced(value) if isinstance(value, dict | list) else VALUES
        for other in inner:
            copy = document.copy()
            copy[key] = other
            yield copy


def damages(path: Path) -> Iterator[bytes]:
    """Contents that a file may have instead of its own."""
    sound = path.read_bytes()
    for at in range(0, len(sound), max(1, len(sound) // 60)):
        for flip in (0x01, 0x10, 0x80):
            yield sound[:at] + bytes([sound[at] ^ flip]) + sound[at + 1 :]
        yield sound[:at]
    yield from (b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 10_000, b"null")
    yield from (json.dumps(document).encode() for document in replaced(json.loads(sound)))


def made() -> Baseline:
    tests = [
        BaselineTest(
            kind="case", file="t.py", owner="", name=f"test_{n}", item="", outcome=PASSED, seconds=0.1
        )
        for n in range(3)
    ]
    return Baseline(tests, {"m.py": {2: [0, 1], 3: [2]}}, {"u.py": "it ends"}, False, None, 1.5, 3)


def test_a_damaged_baseline_is_none_or_one(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    baseline.write(made(), file)
    assert baseline.read(file) == made()
    for damaged in damages(file):
        file.write_bytes(damaged)
        found = baseline.read(file)
        if found is not None:
            assert len(found.width()) == len(found.tests) <= 3
            assert all(isinstance(part, str) for test in found.tests for part in test.key)
            assert all(isinstance(why, str) for why in found.broken.values())


def test_a_baseline_that_cannot_be_kept_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = made()
    found.broken["v.py"] = "x" * 100_000
    with largest_file(4_096), caplog.at_level(logging.WARNING):
        baseline.write(found, tmp_path / "kept.json")
    assert "cannot be stored" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_damaged_claims_are_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else damage could make a weak sandbox a strong one."""

    class Weak:
        name = "weak"
        guarantees = (("reads", True),)

        def run(self, job: Job, **_: object) -> JobOutcome:
            raise NotImplementedError

        def serve(self, service: ServedProgram) -> Conversation:
            raise NotImplementedError

    truth = {"reads": ("reading a user's file",), "writes": ("chmod", "utime")}
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_: str(tmp_path))
    monkeypatch.setattr(claims, "attempt_all", lambda _: truth)
    assert claims.failing_claims(Weak()) == truth
    (path,) = (tmp_path / "sandbox-claims").iterdir()
    sound = path.read_bytes()
    for damaged in damages(path):
        path.write_bytes(damaged)
        assert claims.failing_claims(Weak()) == truth
        assert path.read_bytes() == sound


def test_damaged_notes_and_a_damaged_answer_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_: str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    files.note("notes.json", "key", "value")
    path = tmp_path / "notes.json"
    for damaged in damages(path):
        path.write_bytes(damaged)
        files.recall("notes.json", "key")
        files.note("notes.json", "key", "value")
        assert files.recall("notes.json", "key") == "value"
    answer = consent._place()
    answer.parent.mkdir(parents=True, exist_ok=True)
    weak = Availability("process", True, "does not isolate reads", (("reads", False),))
    for text in (b"\xff\xfe", b"", b"\x00" * 9):
        answer.write_bytes(text)
        assert not consent._was_accepted(weak)
