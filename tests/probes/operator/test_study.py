"""The probe as a task, with the embedded model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.models.base import TokenScores
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.operator.frequency import corpus_frequencies
from counterlens.probes.operator.study import COMPLETE, WINDOWS, Window, study
from counterlens.probes.registry import TASKS
from counterlens.probes.task import Request, Target
from counterlens.reports.tables import task_json
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

SOURCE = "def f(a, b):\n    if a < b:\n        return a\n    else:\n        return b\n"


def request(model: Any, source: str = SOURCE, **more: Any) -> Request:
    return Request(model, [Target(Document(source), "f")], best_sandbox, **more)


def test_the_task_tells_everything_it_found(model: LlamaModel) -> None:
    steps: list[tuple[int, int]] = []
    result = TASKS["operator"].run(
        request(model, report=lambda _what, done, total: steps.append((done, total)))
    )
    found = json.loads(json.dumps(task_json(result)))
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


def test_windows_add_rows_and_the_complete_text_stays(model: LlamaModel) -> None:
    pairs = study(request(model, windows=True), rows=("operand-swap",)).pairs
    assert {str(pair.window) for pair in pairs} == {
        "complete",
        *(f"{sign}{size}" for sign in "±+" for size in WINDOWS),
    }
    whole = next(pair for pair in pairs if pair.window == COMPLETE)
    wide = next(pair for pair in pairs if pair.window == Window(50, 50))
    assert wide.original.logprob == pytest.approx(
        whole.original.logprob, abs=3
    )  # the same text, less before it


class _Leaking:
    """A model that sees what stands in the gap: it counts how often the text says `<`."""

    def __init__(self, model: LlamaModel) -> None:
        self.info = model.info
        self.calls = 0

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


def test_figures_are_refused_where_the_same_question_gets_two_answers(model: LlamaModel) -> None:
    with pytest.raises(CounterlensError, match="what the gap hides"):
        study(request(_Leaking(model)))


def test_it_can_be_stopped_and_refuses_what_has_no_operators(model: LlamaModel) -> None:
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        study(request(model, cancel=stop))
    with pytest.raises(SourceError, match="no operators"):
        TASKS["operator"].run(request(model, "def f(a):\n    return a\n"))


def test_a_corpus_is_files_or_a_dataset(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text("a = b + c + d\n")
    (tmp_path / "b.py").write_text("a < b\n")
    (tmp_path / "c.py").write_bytes(b"\xff\xfe + ")
    (tmp_path / "d.txt").write_text("a - b")
    assert corpus_frequencies(str(tmp_path)) == {"+": 2, "<": 1}
    data = tmp_path / "d.jsonl"
    data.write_text(
        json.dumps({"id": "s", "code": "def f(x):\n    return x * 2", "input": "1", "output": "2"})
    )
    assert corpus_frequencies(str(data)) == {"*": 1}
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "a.py").write_text("pass\n")
    with pytest.raises(CounterlensError, match="no operators"):
        corpus_frequencies(str(tmp_path / "e"))
