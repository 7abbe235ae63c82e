"""Distances of equivalent and plain swaps, by models of which it is known what they follow."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterlens.errors import CounterlensError, SourceError
from counterlens.judging.languages import judging_of
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import plain, read, write_record
from counterlens.probes.robustness.embedding import EmbeddingOptions, EmbeddingProbe, EmbeddingRecord
from counterlens.probes.robustness.versions import Standing
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "recompute" / "operators.py"
SOURCE = '''\
def cap(value, high):
    """Hold a value.

    >>> cap(5, 3)
    3
    >>> cap(1, 3)
    1
    """
    if value > high:
        return high
    else:
        return value
'''


class Embeds:
    """A model with vectors made by a rule."""

    def __init__(self, model: LlamaModel, rule: Any) -> None:
        self.info, self.offers, self._rule = model.info, lambda *_, **__: True, rule

    def embed(self, texts: Sequence[str], **_: Any) -> np.ndarray:
        return np.array([self._rule(text) for text in texts], np.float64)


PROBE = EmbeddingProbe()


def run(model: Any, *sources: str, **options: Any) -> ProbeRun:
    targets = [Target(Document(text), "cap", id=f"f{i}") for i, text in enumerate(sources or (SOURCE,))]
    return run_targets(PROBE, Context(model, best_sandbox), targets, EmbeddingOptions(**options))


def by_meaning(text: str) -> list[float]:
    """What two calls give: the same for all that means the same."""
    space: dict[str, Any] = {}
    try:
        exec(text, space)  # noqa: S102 - the function above, rewritten
    except SyntaxError:
        return [1.0, 0.0, 0.0]
    return [1.0, space["cap"](5, 3), space["cap"](1, 3)]


def by_looks(text: str) -> list[float]:
    """How often some signs stand in the text: the condition of a plain swap is the original's."""
    return [1.0, text.count(">") - text.count(">>>") * 3, text.count("<")]


JAVA = """\
class Cap {
    static int cap(int value, int high) {
        if (value > high) {
            return high;
        } else {
            return value;
        }
    }
}
"""


def test_swaps_of_java_are_settled_by_tests_alone(model: LlamaModel) -> None:
    if missing := judging_of("java").missing():
        pytest.skip(missing)
    target = Target(Document(JAVA, Path("Cap.java"), "java"), "Cap.cap")
    found = run_targets(PROBE, Context(Embeds(model, by_looks), best_sandbox), [target], EmbeddingOptions())
    (record,) = found.probed
    (pair,) = record.pairs
    assert pair.standing is Standing.UNSETTLED, "it has no tests"
    assert pair.published
    assert not pair.nearer
    assert pair.changed_tokens.plain < pair.changed_tokens.equivalent


def test_a_model_that_embeds_the_meaning_has_the_equivalent_swap_nearer(model: LlamaModel) -> None:
    found = run(Embeds(model, by_meaning), SOURCE, SOURCE.replace("value > ", "value >= "))
    records = [record for record in found.probed if isinstance(record, EmbeddingRecord)]
    pairs = [pair for record in records for pair in record.pairs]
    assert [one.standing for one in pairs] == ["breaking", "breaking"]
    assert all(one.equivalent == 0 < one.plain for one in pairs)
    assert all(one.changed_tokens.plain < one.changed_tokens.equivalent for one in pairs)
    (row,) = found.tables[0].rows
    assert row[1:3] == (2, 2)
    assert row[5].value == 1.0  # type: ignore[union-attr]
    assert row[7] == pytest.approx(0.25)  # two functions cannot say more
    assert PROBE.measures(records[0]) == {"equivalent swaps nearer": True}
    again = [read(write_record(record), EmbeddingRecord) for record in records]
    assert again == records
    assert PROBE.tables(again, seed=0) == found.tables  # type: ignore[arg-type]


def test_a_model_that_embeds_the_looks_has_the_plain_swap_nearer(model: LlamaModel) -> None:
    found = run(Embeds(model, by_looks))
    (record,) = found.probed
    assert isinstance(record, EmbeddingRecord)
    (pair,) = record.pairs
    assert pair.plain == 0 < pair.equivalent
    assert "in 0 of 1" in found.summary
    # the sanity check, the original and two versions
    assert PROBE.estimate(Target(Document(SOURCE), "cap"), EmbeddingOptions(), model) == 3 + 3


def test_no_figures_where_the_same_text_moves_or_all_texts_are_one(model: LlamaModel) -> None:
    drift = iter(range(1, 100))
    with pytest.raises(CounterlensError, match="same way twice"):
        run(Embeds(model, lambda _: [1.0, next(drift)]))
    with pytest.raises(CounterlensError, match="unrelated texts"):
        run(Embeds(model, lambda _: [1.0, 2.0]))
    context = Context(Embeds(model, by_looks), best_sandbox)  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="no if-else"):
        PROBE.run(
            context,
            Target(Document("def cap(value, high):\n    return value < high\n"), "cap"),
            EmbeddingOptions(),
        )
    with pytest.raises(SourceError, match="no if-else"):  # the flip rests on it
        PROBE.run(context, Target(Document(SOURCE), "cap"), EmbeddingOptions(without=("total-order",)))


BOTH = SOURCE.replace(
    "    if value > high:\n",
    "    if high is None:\n        high = 3\n    else:\n        high = high + 0\n    if value > high:\n",
)


def by_length(text: str) -> list[float]:
    """Vectors of one direction and different lengths; the plain swap is 2 away, the equivalent one 1."""
    if "zebras" in text:
        return [0.0, 1.0]
    swapped = text.index("return value") < text.index("return high")
    return [3.0 + (1.0 if "<=" in text else 2.0 if swapped else 0.0), 0.0]


def test_the_protocol_measures_vectors_as_they_are_of_comparisons_in_plain_if_else(model: LlamaModel) -> None:
    found = run(Embeds(model, by_length), BOTH, BOTH.replace("value > ", "value >= "), protocol="operators")
    assert [record.protocol for record in found.probed] == ["operators"] * 2
    assert all(isinstance(record, EmbeddingRecord) for record in found.probed)
    first, second = (record.pairs for record in found.probed if isinstance(record, EmbeddingRecord))
    assert [(pair.form, pair.family, pair.plain, pair.equivalent) for pair in first] == [
        ("if-else", "comparison", 2.0, 1.0)
    ]
    assert [(pair.plain, pair.equivalent) for pair in second] == [(2.0, 2.0)]  # `>=` is negated to `<`
    assert found.left_out["not in the paper (if-else, identity)"] == 2
    (table,) = found.tables
    assert table.title == "Table 6: distance in embedding space (protocol operators)"
    (row,) = table.rows
    assert (row[1], row[2].value, row[3].value, row[5]) == (2, 2.0, 1.5, 0.5)  # type: ignore[union-attr]
    ours = run(Embeds(model, by_length), BOTH)
    assert all(pair.plain == 0 for record in ours.probed for pair in record.pairs)  # type: ignore[attr-defined]
    with pytest.raises(SourceError, match="of the kind in the paper"):
        PROBE.run(
            Context(Embeds(model, by_length), best_sandbox),  # type: ignore[arg-type]
            Target(Document(SOURCE.replace("value > high", "value in (5,)")), "cap"),
            EmbeddingOptions(protocol="operators"),
        )


def test_table_6_is_what_an_independent_script_makes_of_the_records(
    model: LlamaModel, tmp_path: Path
) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    sources = [BOTH.replace("value > ", f"value {sign} ") for sign in (">", ">=", "<")]
    found = run(Embeds(model, by_length), *sources, protocol="operators")
    rows = [{"model": "m"} | pair for record in found.probed for pair in plain(record)["pairs"]]
    for name, content in (("records", [{"model": "m"}]), ("embedding-pairs", rows)):
        parquet.write_table(arrow.Table.from_pylist(content), tmp_path / f"{name}.parquet")
    command = [sys.executable, "-I", str(SCRIPT), str(tmp_path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (expected,) = json.loads(printed)["m"]["Table 6"]
    (table,) = found.tables
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    assert expected["n"] == cells["n"] == len(rows) == 3
    for name in ("non-equivalent swap", "equivalent swap", "nearer", "p"):
        assert getattr(cells[name], "value", cells[name]) == pytest.approx(expected[name]), name
    assert 0 < expected["p"] < 1
