"""Trends: runs in the order of time, connected only where nothing but the code differs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from counterlens.cli.main import cli
from counterlens.errors import DataError
from counterlens.evaluation.manifest import canonical
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.evaluation.trend import trend
from tests.evaluation.made_up import pair, pairs_record

MODEL = "smollm2-135m"
SETTINGS = RunSettings.of(["completion"], "repo:/code", models=(MODEL,))
FUNCTIONS = 12


def circumstances(**others: Any) -> dict[str, Any]:
    """The manifest of a run, as far as a trend looks at it."""
    return {
        "counterlens": "0.1",
        "python": "3.11.2",
        "judged_by": {"tests": {"code": "a" * 64}},
        "model": {
            "asked_as": MODEL,
            "name": "SmolLM2",
            "identity": "1" * 64,
            "where": "local",
            "details": {},
        },
        "dataset": {"title": "code", "version": "c0ffee", "sha256": "0" * 64, "licence": "", "records": 12},
    } | others


def a_run(lost: int, begun: str | None = None, *, done: int = FUNCTIONS, **others: Any) -> RunResults:
    """A run of twelve functions, of which some lose their right verdict and two are never right."""
    records = []
    for number in range(done):
        verdicts = (False, False) if number >= FUNCTIONS - 2 else (True, number >= lost)
        item = Item(number, f"{MODEL}|completion|p{number}", MODEL, f"p{number}", "f", "00", "completion")
        records.append((item, StoredRecord(pairs_record(f"p{number}", pair(*verdicts)), manifest="m")))
    return RunResults(SETTINGS, FUNCTIONS, {"m": circumstances(**others)}, tuple(records), begun=begun)


def code(sha256: str, version: str) -> Mapping[str, Any]:
    return {**circumstances()["dataset"], "sha256": sha256, "version": version}


def test_runs_are_connected_where_only_the_code_differs_and_say_how_far_they_moved() -> None:
    late = a_run(6, "2026-03-02T10:00:00+00:00", dataset=code("2" * 64, "beef"))
    early = a_run(1, "2026-03-01T10:00:00+00:00")
    found = trend([("late", late), ("early", early)])
    assert [run.name for run in found.runs] == ["early", "late"]
    assert found.ordered
    (line,) = found.lines
    first, second = line.points
    assert (first.summary.average.value, second.summary.average.value) == (0.1, 0.6)
    assert first.effect is None
    assert second.connected
    assert not second.apart
    assert second.effect is not None
    assert second.effect.value == pytest.approx(0.5)
    assert second.effect.low is not None
    assert 0 < second.effect.low < 0.5 < (second.effect.high or 0)
    assert second.right is not None
    assert second.right.value == 0
    assert (second.informative, second.summary.pairs) == (10, 12)


@pytest.mark.parametrize(
    ("differing", "why"),
    [
        ({"python": "3.12.1"}, "python: 3.11.2, now 3.12.1"),
        ({"judged_by": {"tests": {"code": "b" * 64}}}, "judged_by.tests.code"),
        ({"model": circumstances()["model"] | {"identity": "2" * 64}}, "model.identity"),
        ({"options": {"completion": {"ways": 5}}}, "options: None, now {'ways': 5}"),
    ],
)
def test_runs_under_other_circumstances_stand_unconnected_with_the_reason(
    differing: Mapping[str, Any], why: str
) -> None:
    (line,) = trend([("a", a_run(1)), ("b", a_run(6, **differing))]).lines
    assert line.points[1].apart == (why,)
    assert line.points[1].effect is None
    assert line.points[1].summary.average.value == 0.6  # shown all the same


def test_a_circumstance_may_be_allowed_to_differ() -> None:
    other = a_run(6, judged_by={"tests": {"code": "b" * 64}})
    (line,) = trend([("a", a_run(1)), ("b", other)], ["judged_by.tests"]).lines
    assert line.points[1].connected
    (line,) = trend([("a", a_run(1)), ("b", other)], ["judged_by.test"]).lines  # another part
    assert not line.points[1].connected


def test_an_unfinished_run_and_another_dataset_are_not_connected() -> None:
    (line,) = trend([("a", a_run(1)), ("b", a_run(1, done=8))]).lines
    assert line.points[1].apart == ("one of them is not finished",)
    data = replace(SETTINGS, data="humaneval")
    runs = [
        replace(a_run(1, dataset=code(digit * 64, "1.0")), settings=data) for digit in "12"
    ]  # a dataset is no code that changes
    (line,) = trend([("a", runs[0]), ("b", runs[1])]).lines
    assert line.points[1].apart == ("dataset.sha256",)


def test_runs_that_do_not_say_when_stand_as_they_were_named() -> None:
    found = trend([("b", a_run(1, "2026-03-02T10:00:00+00:00")), ("a", a_run(2))])
    assert [run.name for run in found.runs] == ["b", "a"]
    assert not found.ordered


def test_one_run_or_runs_without_pairs_are_no_trend() -> None:
    with pytest.raises(DataError, match="at least two"):
        trend([("a", a_run(1))])
    with pytest.raises(DataError, match="judged pairs"):
        trend([("a", a_run(1, done=0)), ("b", a_run(1, done=0))])


def stored(folder: Path, found: RunResults) -> str:
    """A run's folder, as `bench` leaves it."""
    with Store.create(folder) as store:
        store.begin(found.settings, [item for item, _ in found.records])
        digest, document = canonical(dict(found.manifests["m"]))
        store.keep_manifest(digest, document)
        for item, one in found.records:
            store.append(item, replace(one, manifest=digest))
    return str(folder)


def test_the_command_writes_every_form(tmp_path: Path) -> None:
    folders = [
        stored(tmp_path / "a", a_run(1)),
        stored(tmp_path / "b", a_run(6, dataset=code("2" * 64, "beef"))),
        stored(tmp_path / "c", a_run(2, python="3.12.1")),
    ]

    def written(form: str) -> str:
        result = CliRunner().invoke(cli, ["trend", *folders, "--format", form], catch_exceptions=False)
        assert result.exit_code == 0
        return result.output

    text = " ".join(written("text").split())  # its lines are as wide as a page
    assert "is not connected with" in text
    assert "python: 3.11.2, now 3.12.1" in text
    page = written("html")
    picture = page.partition("<svg")[2].partition("</svg>")[0]
    assert picture.count("stroke-dasharray") == 1  # between the second and the third
    assert picture.count('stroke-width="2"') == 1  # the line from the first to the second
    assert "| +50 " in written("markdown")
    document = json.loads(written("json"))
    assert document["ordered"]
    points = document["lines"][0]["points"]
    assert [one["connected"] for one in points] == [False, True, False]
    assert points[1]["effect_moved"]["value"] == pytest.approx(0.5)
