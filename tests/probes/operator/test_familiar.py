"""Table 7 of Ahmed et al. 2024: accuracy by whether an operation stands in a corpus."""

from __future__ import annotations

import json
from pathlib import Path

from counterlens.metrics.bootstrap import Estimate
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.operator.frequency import read_corpus, written
from counterlens.probes.registry import TASKS
from counterlens.probes.task import Request, Target
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.operators import operator_sites

SOURCE = "def f(a, b):\n    if a < b:\n        return a\n    else:\n        return b\n"


def test_operations_are_searched_for_blanks_aside(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.py"
    corpus.write_text("if a<b:\n    pass\nx = (a +\n     b)\n")
    operations = read_corpus(str(corpus)).operations
    assert written(operator_sites(Document("y = a  <  b\n"))[0]) in operations
    assert written(operator_sites(Document("y = a + b\n"))[0]) in operations
    assert written(operator_sites(Document("y = b > a\n"))[0]) not in operations


def test_pairs_are_told_apart_by_what_was_found(model: LlamaModel, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.py"
    corpus.write_text("a < b\na >= b\n")
    task = TASKS["operator"]
    request = Request(model, [Target(Document(SOURCE), "f")], best_sandbox, corpus=str(corpus))
    result = task.run(request)
    (table,) = (one for one in result.tables if one.title == "seen before?")
    told = {row[0]: row[1:3] for row in table.rows}
    assert told["operand swap"] == ("yes", "no")  # b > a is not in it
    assert told["block swap"] == ("yes", "yes")
    (exchanged,) = (one for one in result.tables if one.title == "complementary operators")
    assert [row[:3] + row[5:] for row in exchanged.rows] == [("<", ">=", 1.0, 1, 0, "1 : 1")]
    (pair,) = (one for one in result.data["pairs"] if one["change"] == "block-swap")
    lost = pair["original"]["correct"] - pair["transformed"]["correct"]
    assert exchanged.rows[0][3] == Estimate(lost, None, None, 1)  # one pair says nothing of others
    again = task.tables([json.loads(json.dumps(result.data))], seed=0)
    assert table in again
    plain = task.run(Request(model, request.targets, best_sandbox))
    assert "seen before?" not in {one.title for one in plain.tables}
