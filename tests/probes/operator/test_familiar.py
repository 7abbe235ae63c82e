"""Table 7 of Ahmed et al. 2024: accuracy by whether an operation stands in a corpus."""

from __future__ import annotations

from pathlib import Path

from counterlens.metrics.bootstrap import Estimate
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.operator.memorisation import read_corpus, squeeze
from counterlens.probes.operator.probe import OperatorOptions, OperatorProbe
from counterlens.probes.operator.record import OperatorRecord
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import read, write_record
from counterlens.syntax.document import Document
from counterlens.syntax.operators import operator_sites

SOURCE = "def f(a, b):\n    if a < b:\n        return a\n    else:\n        return b\n"


def test_operations_are_searched_for_blanks_aside(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.py"
    corpus.write_text("if a<b:\n    pass\nx = (a +\n     b)\n")
    operations = read_corpus(str(corpus)).operations
    assert squeeze(operator_sites(Document("y = a  <  b\n"))[0].text) in operations
    assert squeeze(operator_sites(Document("y = a + b\n"))[0].text) in operations
    assert squeeze(operator_sites(Document("y = b > a\n"))[0].text) not in operations


def test_pairs_are_told_apart_by_what_was_found(model: LlamaModel, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.py"
    corpus.write_text("a < b\na >= b\n")
    probe, target = OperatorProbe(), Target(Document(SOURCE), "f")
    record = probe.run(Context(model), target, OperatorOptions(corpus=str(corpus)))
    tables = probe.tables([record], seed=0)
    (table,) = (one for one in tables if one.title == "seen before?")
    told = {row[0]: row[1:3] for row in table.rows}
    assert told["operand swap"] == ("yes", "no")  # b > a is not in it
    assert told["block swap"] == ("yes", "yes")
    (exchanged,) = (one for one in tables if one.title == "complementary operators")
    assert [row[:3] + row[5:] for row in exchanged.rows] == [("<", ">=", 1.0, 1, 0, "1 : 1")]
    (pair,) = (one for one in record.pairs if one.change == "block-swap")
    lost = pair.original.correct - pair.transformed.correct
    drop = exchanged.rows[0][3]
    assert isinstance(drop, Estimate)
    assert (drop.value, drop.n) == (lost, 1)
    assert drop.low is not None
    assert drop.high is not None
    assert -1 <= drop.low <= lost <= drop.high <= 1
    assert drop.high - drop.low > 1.5  # one pair says next to nothing of others
    again = read(write_record(record), OperatorRecord)
    assert isinstance(again, OperatorRecord)
    assert table in probe.tables([again], seed=0)
    plain = probe.run(Context(model), target, OperatorOptions())
    assert "seen before?" not in {one.title for one in probe.tables([plain], seed=0)}
