"""Correctness maps, on completions whose true chance is known, and through their file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterlens.calibration.correctness import CorrectnessResult, fit_correctness
from counterlens.calibration.outcomes import JudgedCompletion, Outcomes, WrittenStatement
from counterlens.confidence import correctness as store
from counterlens.confidence.correctness import (
    RightShare,
    Summary,
    load_correctness,
    save_correctness,
    summaries,
)
from counterlens.errors import CounterlensError
from counterlens.models.base import Capability, ModelInfo
from counterlens.reports.build.calibration import correctness_report
from counterlens.reports.document import Paragraph, TableBlock
from counterlens.reports.export.calibration import correctness_json

INFO = ModelInfo("m", "A Model", "sha256-of-a-model", "local", frozenset({Capability.COMPLETE}))


def completions(strength: float, functions: int = 150, seed: int = 0) -> Outcomes:
    """Three completions each; a statement's chance is logistic in its mean log-probability."""
    rng = np.random.default_rng(seed)
    rows = []
    for function in range(functions):
        for sample in range(3):
            statements = []
            for _ in range(4):
                logprobs = -rng.exponential(rng.choice([0.1, 0.4, 1.2]), 8)
                chance = 1 / (1 + np.exp(-strength * (logprobs.mean() + 0.5)))
                kind = str(rng.choice(["assignment", "return_statement"]))
                statements.append(WrittenStatement(kind, "x", logprobs, bool(rng.random() < chance)))
            rows.append(
                JudgedCompletion(
                    f"f{function}",
                    sample,
                    sum(part.right for part in statements) >= 3,
                    np.concatenate([part.logprobs for part in statements]),
                    tuple(statements),
                    "reference",
                )
            )
    return Outcomes(tuple(rows), {"no test mentions it": 2})


def fitted(strength: float) -> CorrectnessResult:
    return fit_correctness(completions(strength), INFO, data="simulated", language="python")


def test_summaries_of_a_piece() -> None:
    values = summaries([-1.0, -2.0, 0.0])
    assert values[Summary.MEAN] == pytest.approx(-1)
    assert values[Summary.TOTAL] == pytest.approx(-3)
    assert values[Summary.LEAST] == pytest.approx(-2)
    assert values[Summary.LENGTH] == pytest.approx(np.log(3))


def test_a_confidence_that_tells_is_found_and_its_chances_are_right() -> None:
    maps = fitted(4).maps
    assert maps.statement.holds
    assert maps.completion.holds
    assert maps.statement.auroc.low is not None
    assert maps.statement.auroc.low > 0.7
    assert maps.statement.ece.value < 0.05
    whole = [-0.5] * 32
    sure, unsure = (maps.statement.chance([mean] * 8, whole=whole) for mean in (-0.05, -1.5))
    assert sure == pytest.approx(1 / (1 + np.exp(-4 * 0.45)), abs=0.06)
    assert unsure == pytest.approx(1 / (1 + np.exp(4)), abs=0.06)
    share = maps.statement.share([-0.05] * 8, whole=whole)
    assert share is not None
    assert share.right / share.n == pytest.approx(sure, abs=0.1)
    assert sum(each.n for each in maps.statement.shares) == maps.statement.n == 150 * 3 * 4
    assert sum(n for n, _ in maps.statement.by_kind.values()) == maps.statement.n


def test_a_longer_completion_than_any_measured_has_no_share() -> None:
    maps = fitted(4).maps
    assert maps.statement.longest == 32
    assert maps.statement.share([-0.05] * 8, whole=[-0.5] * 33) is None
    assert maps.completion.share([-0.5] * 33) is None


def test_a_bin_with_few_pieces_is_widened() -> None:
    counts = [(0, 0), (30, 3), (27, 22), (6, 1), (11, 8), (0, 0)]
    shares = tuple(
        RightShare(i / 6, (i + 1) / 6, n, right, (i + 0.5) / 6) for i, (n, right) in enumerate(counts)
    )
    chance = replace(fitted(4).maps.completion, weights={}, offset=0.0, shares=shares)

    def shown(wanted: float) -> tuple[int, int] | None:
        share = replace(chance, offset=float(np.log(wanted / (1 - wanted)))).share([-0.1])
        return share and (share.right, share.n)

    assert [shown(wanted) for wanted in (0.25, 0.45, 0.6)] == [(3, 30), (22, 27), (31, 44)]
    assert shown(0.05) == (3, 30)
    assert shown(0.95) == (31, 44)


def test_a_statement_is_judged_with_the_completion_around_it() -> None:
    """Whether a statement is right depends only on the rest of its completion, as for most that fail."""
    rng = np.random.default_rng(1)
    rows = []
    for function in range(120):
        mean = float(rng.choice([0.1, 0.6]))
        parts = [-rng.exponential(mean, 8) for _ in range(4)]
        passed = bool(rng.random() < (0.85 if mean < 0.5 else 0.15))
        parts[0] = np.full(8, -0.3)
        statements = tuple(WrittenStatement("assignment", "x", each, passed) for each in parts)
        whole = np.concatenate(parts)
        rows.append(JudgedCompletion(f"f{function}", 0, passed, whole, statements, "reference"))
    statement = fit_correctness(
        Outcomes(tuple(rows), {}), INFO, data="simulated", language="python"
    ).maps.statement
    assert statement.skill.low is not None
    assert statement.skill.low > 0.2
    same = [-0.3] * 8
    assert statement.chance(same, whole=[-0.1] * 32) > 0.6 > 0.4 > statement.chance(same, whole=[-0.6] * 32)


def test_one_that_does_not_tell_does_not_hold() -> None:
    maps = fitted(0).maps
    assert not maps.statement.holds
    assert maps.statement.skill.value < 0.02
    assert maps.statement.auroc.value == pytest.approx(0.5, abs=0.05)


def test_too_few_functions_or_one_verdict_are_refused() -> None:
    with pytest.raises(CounterlensError, match="19 functions with 57 completions") as refused:
        fit_correctness(completions(4, functions=19), INFO, data="simulated", language="python")
    assert "no test mentions it (2)" in str(refused.value.hint)


def test_maps_are_stored_by_model_and_survive_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    maps = fitted(4).maps
    assert load_correctness(INFO.identity) is None
    path = save_correctness(maps)
    assert load_correctness(INFO.identity) == maps
    assert load_correctness("another") is None
    path.write_text(path.read_text()[:-40])
    assert load_correctness(INFO.identity) is None


def test_maps_that_come_with_the_package_are_readable() -> None:
    for identity, maps in store._built_in().items():
        assert maps.model == identity
        assert maps.version == store.VERSION
        assert 0 <= maps.statement.chance([-0.1, -0.2], "return_statement", [-0.1] * 9) <= 1


def test_the_report_says_whether_it_holds() -> None:
    result = fitted(0)
    report = correctness_report(result, None)
    figures = next(block for block in report.blocks if isinstance(block, TableBlock))
    assert ("tells right from wrong", "no", "no") in figures.rows
    said = [block.text for block in report.blocks if isinstance(block, Paragraph)]
    assert "Left out: 2, no test mentions it." in said
    assert "The result is not stored." in said
    assert correctness_json(result, None)["maps"]["statement"]["n"] == 1800
