"""The cost of substituting operators, compared with their frequency."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from counterlens.errors import CounterlensError
from counterlens.metrics.bootstrap import Estimate
from counterlens.models.base import Completion, Prompt
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.operator.memorisation import (
    COLUMNS,
    MemorisationOptions,
    MemorisationProbe,
    MemorisationRecord,
    Substitution,
    complementary,
    direction,
)
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import read, write_record
from counterlens.probes.runner import run_targets
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

SOURCE = '''\
def sign(x):
    """
    >>> sign(2), sign(-2)
    ('plus', 'minus')
    """
    if x > 0:
        return "plus"
    else:
        return "minus"


def same(x):
    """
    >>> same(1)
    1
    """
    return x
'''


PROBE = MemorisationProbe()


def test_a_direction_counts_what_is_lost_minus_what_is_gained() -> None:
    found = [
        Substitution("a", "==", "!=", True, False),
        Substitution("a", "==", "!=", True, True),
        Substitution("b", "==", "!=", False, False),
        Substitution("b", "==", "!=", False, True),
        Substitution("c", "==", "!=", True, False),
        Substitution("c", "!=", "==", True, True),
    ]
    there = direction(found, "==", "!=")
    assert there.n == 5
    assert there.drop.value == pytest.approx((1 + 0 + 0 - 1 + 1) / 5)
    assert there.drop.n == 3
    back = direction(found, "!=", "==")
    assert (back.n, back.drop.value) == (1, 0.0)
    assert direction(found, "<", ">=").drop.value is None


def test_the_table_has_the_columns_of_the_paper_and_the_more_frequent_operator_first() -> None:
    found = [
        Substitution("a", "==", "!=", True, False),
        Substitution("b", "!=", "==", True, True),
        Substitution("b", "<", ">=", True, True),
    ]
    table = complementary(found, {"!=": 6, "==": 3, "<": 2}, what="correct completions")
    assert table.columns[:5] == COLUMNS[:5] == ("op A", "op B", "ratio", "Δ(A→B)", "Δ(B→A)")
    first, second = table.rows  # pairs that were never exchanged have no line
    assert first[:3] == ("!=", "==", 2.0)
    assert isinstance(first[3], Estimate)
    assert isinstance(first[4], Estimate)
    assert (first[3].value, first[4].value) == (0.0, 1.0)
    assert first[5:] == (1, 1, "6 : 3")
    assert second[:3] == ("<", ">=", None)
    assert "correct completions lost" in table.note


def test_flips_are_completed_judged_and_counted(model: LlamaModel, tmp_path: Path) -> None:
    (tmp_path / "corpus.py").write_text("a > b\na > c\na <= b\n")
    targets = [Target(Document(SOURCE), name) for name in ("sign", "same")]
    options = MemorisationOptions(corpus=str(tmp_path / "corpus.py"))
    run = run_targets(PROBE, Context(model, best_sandbox), targets, options)
    (record,) = run.probed
    found = json.loads(write_record(record))
    (one,) = found["substitutions"]
    assert (one["target"], one["before"], one["after"]) == ("sign", ">", "<=")
    assert found["frequency"] == {">": 2, "<=": 1}
    (table,) = run.tables
    (row,) = table.rows
    assert row[:3] == (">", "<=", 2.0)
    assert row[5:] == (1, 0, "2 : 1")
    assert isinstance(row[4], Estimate)
    assert row[4].value is None
    assert found["left_out"] == {}
    assert run.left_out == {"no if-else could be both flipped and judged": 1}
    assert "No pair of operators" in run.summary
    assert read(write_record(record), MemorisationRecord) == record


def test_it_says_what_is_missing(model: LlamaModel, tmp_path: Path) -> None:
    context, target = Context(model, best_sandbox), Target(Document(SOURCE), "same")
    with pytest.raises(CounterlensError, match="no corpus"):
        PROBE.run(context, target, MemorisationOptions())
    (tmp_path / "corpus.py").write_text("a > b\n")
    with pytest.raises(CounterlensError, match="no if-else"):
        PROBE.run(context, target, MemorisationOptions(corpus=str(tmp_path)))
    unknown = SOURCE.replace(">>>", "...").replace("if x > 0", "if x.size > print(x)")
    untested = Target(Document(unknown), "sign")
    with pytest.raises(CounterlensError, match="nothing can judge sign"):
        PROBE.run(context, untested, MemorisationOptions(corpus=str(tmp_path)))


def test_every_option_is_honoured(model: LlamaModel, tmp_path: Path) -> None:
    (tmp_path / "corpus.py").write_text("a > b\n")
    shown: list[Prompt] = []

    class Asked:
        info, offers = model.info, model.offers

        def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
            shown.extend(prompts)
            return [Completion("", "stop", 0) for _ in prompts]

    def asked(source: str = SOURCE, **options: Any) -> list[Prompt]:
        shown.clear()
        kept = MemorisationOptions(corpus=str(tmp_path), **options)
        PROBE.run(Context(Asked(), best_sandbox), Target(Document(source), "sign"), kept)  # type: ignore[arg-type]
        return list(shown)

    assert {prompt.max_tokens for prompt in asked()} == {256}
    assert {prompt.max_tokens for prompt in asked(max_tokens=7)} == {7}
    assert PROBE.estimate(Target(Document(SOURCE), "sign"), MemorisationOptions(), model) == len(asked()) == 2
    short = "    if x > 0: kind = 'plus'\n    else: kind = 'minus'\n"
    source = SOURCE.partition("    if")[0] + short + "    kind += ''\n    kind += ''\n    return kind\n"
    early, late = (asked(prefix_ratio=ratio, source=source)[0].text for ratio in (0.3, 0.9))
    assert late.startswith(early)
    assert late != early
    with pytest.raises(CounterlensError, match="no if-else"):
        asked(without=("total-order",))
    assert not shown
