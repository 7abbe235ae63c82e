"""The operator probe, with the embedded model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.models.base import Capability, TokenScores
from counterlens.models.cache import CachedModel
from counterlens.probes.operator.memorisation import read_corpus
from counterlens.probes.operator.probe import OperatorOptions, OperatorProbe
from counterlens.probes.operator.questions import WINDOWS
from counterlens.probes.operator.record import COMPLETE, OperatorRecord, Window
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import plain, read, write_record
from counterlens.probes.runner import run_probe
from counterlens.progress import Steps
from counterlens.syntax.document import Document

PROBE = OperatorProbe()
SOURCE = "def f(a, b):\n    if a < b:\n        return a\n    else:\n        return b\n"


def record(
    model: Any, source: str = SOURCE, steps: Steps | None = None, options: OperatorOptions | None = None
) -> OperatorRecord:
    context = Context(model, steps=steps or Steps())
    found = run_probe(PROBE, context, Target(Document(source), "f"), options or OperatorOptions())
    assert isinstance(found, OperatorRecord)
    return found


def test_the_record_has_everything_that_was_found(cached_model: CachedModel) -> None:
    steps: list[tuple[int, int]] = []
    told = Steps(progress=lambda _what, done, total: steps.append((done, total)))
    kept = record(cached_model, steps=told)
    found = json.loads(write_record(kept))
    (one,) = found["operators"]
    assert one["operator"] == "<"
    assert sum(one["probability"].values()) == pytest.approx(1)
    assert {pair["change"] for pair in found["pairs"]} == {
        "operand-swap",
        "block-swap",
        "refactored block-swap",
        "refactor",
    }
    for pair in found["pairs"]:
        assert pair["both"] == (pair["original"]["correct"] and pair["transformed"]["correct"])
    assert any("no variables" in reason for reason in found["left_out"])
    assert steps[0] == (0, steps[0][1])
    assert all(done < total == steps[0][1] for done, total in steps)
    assert len(steps) == steps[0][1]  # as many batches as were promised
    assert read(write_record(kept), OperatorRecord) == kept
    assert read(plain(kept), OperatorRecord) == kept


def test_what_is_asked_was_estimated(cached_model: CachedModel) -> None:
    asked: list[int] = []

    class Counting:
        info, offers = cached_model.info, cached_model.offers

        def score_continuations(self, context: str, texts: Sequence[str], **more: Any) -> list[TokenScores]:
            asked.append(len(texts))
            return cached_model.score_continuations(context, texts, **more)

    for windows in (False, True):
        asked.clear()
        options = OperatorOptions(windows=windows)
        record(Counting(), options=options)
        assert PROBE.estimate(Target(Document(SOURCE), "f"), options, cached_model) == sum(asked)


def test_windows_add_rows_and_the_complete_text_stays(cached_model: CachedModel) -> None:
    found = record(cached_model, options=OperatorOptions(windows=True))
    pairs = [pair for pair in found.pairs if pair.change == "operand-swap"]
    assert {str(pair.window) for pair in pairs} == {
        "complete",
        *(f"{sign}{size}" for sign in "±+" for size in WINDOWS),
    }
    whole = next(pair for pair in pairs if pair.window == COMPLETE)
    wide = next(pair for pair in pairs if pair.window == Window(50, 50))
    assert wide.original.logprob == pytest.approx(
        whole.original.logprob, abs=3
    )  # the same text, less before it
    assert "with less context" in {table.title for table in PROBE.tables([found], seed=0)}
    assert all(pair.window == COMPLETE for pair in record(cached_model).pairs)


def test_several_functions_are_pooled(cached_model: CachedModel) -> None:
    records = [record(cached_model), record(cached_model, SOURCE.replace("<", ">="))]
    tables = {table.title: table for table in PROBE.tables(records, seed=0)}
    assert tables["original functions"].rows[0][:2] == ("all", 2)
    changes = tables["before and after changes that keep the meaning"]
    assert changes.rows[0][:2] == ("operand swap", 2)
    assert PROBE.summary(records).startswith("The model would have written ")
    assert " of 2 operators " in PROBE.summary(records)


class _Leaking:
    """A model that sees what stands in the gap: it counts how often the text says `<`."""

    def __init__(self, model: CachedModel) -> None:
        self.info = model.info
        self.calls = 0

    def offers(self, capability: Capability, **_: Any) -> bool:
        return capability in self.info.capabilities

    def score_continuations(self, _context: str, texts: Sequence[str], **_: Any) -> list[TokenScores]:
        self.calls += 1
        return [_flat(text, -1.0 - self.calls * len(text)) for text in texts]


def _flat(text: str, logprob: float) -> TokenScores:
    n = len(text.encode())
    return TokenScores(
        text=text,
        start=np.array([0]),
        end=np.array([n]),
        logprob=np.array([logprob]),
        entropy=np.array([0.0]),
        rank=np.array([0]),
        alternative_logprob=np.empty((1, 0)),
        alternative_text=((),),
        context=np.array([1]),
    )


def test_figures_are_refused_where_the_same_question_gets_two_answers(cached_model: CachedModel) -> None:
    with pytest.raises(CounterlensError, match="operator that the gap hides"):
        record(_Leaking(cached_model))


def test_it_can_be_stopped_and_refuses_what_has_no_operators(cached_model: CachedModel) -> None:
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        record(cached_model, steps=Steps(stop))
    with pytest.raises(SourceError, match="no operators"):
        PROBE.run(
            Context(cached_model), Target(Document("def f(a):\n    return a\n"), "f"), OperatorOptions()
        )


def test_a_corpus_is_files_or_a_dataset(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text("a = b + c + d\n")
    (tmp_path / "b.py").write_text("a < b\n")
    (tmp_path / "c.py").write_bytes(b"\xff\xfe + ")
    (tmp_path / "d.txt").write_text("a - b")
    assert read_corpus(str(tmp_path)).frequency == {"+": 2, "<": 1}
    data = tmp_path / "d.jsonl"
    data.write_text(
        json.dumps({"id": "s", "code": "def f(x):\n    return x * 2", "input": "1", "output": "2"})
    )
    assert read_corpus(str(data)).frequency == {"*": 1}
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "a.py").write_text("pass\n")
    with pytest.raises(CounterlensError, match="no operators"):
        read_corpus(str(tmp_path / "e"))


def test_a_corpus_is_read_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Path] = []
    file_text = Document.read

    def reading(path: Path) -> Document:
        reads.append(path)
        return file_text(path)

    monkeypatch.setattr(Document, "read", reading)
    file = tmp_path / "a.py"
    file.write_text("a = b + c\n")
    for _ in range(3):
        assert read_corpus(str(tmp_path)).frequency == {"+": 1}
    assert reads == [file]
    file.write_text("a = b + c - d\n")
    assert read_corpus(str(tmp_path)).frequency == {"+": 1, "-": 1}
    assert reads == [file, file]
