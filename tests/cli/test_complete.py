"""`counterlens complete`: at a place, on both sides of a counterfactual, as JSON and as a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.models.default import VARIABLE
from tests.cli.test_cli import SIGN, Cli
from tests.conftest import short_model


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capfd)


@pytest.fixture(autouse=True)
def _long_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask a model whose answers have several tokens to explain."""
    monkeypatch.setenv(VARIABLE, str(short_model(endless=True)))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "sign.py"
    path.write_text(SIGN)
    return path


def test_a_completion_is_explained_line_by_line(cli: Cli, place: Path) -> None:
    ran = cli("complete", f"{place}:10", "--max-tokens", "24")
    assert ran.code == 0, ran.err
    for part in ("line 10", "mean probability", "least sure", "by concept"):
        assert part in ran.out
    page = place.with_suffix(".html")
    plain = cli("complete", f"{place}:10", "--max-tokens", "24", "--json", "--html", page).json
    assert "line 10" in page.read_text()
    (found,) = plain["completions"]
    assert (plain["function"], found["title"]) == ("sign", "line 10")
    assert found["tokens"]
    assert all(0 <= one["probability"] <= 1 for one in found["tokens"] if one["probability"] is not None)
    assert all(found["start"] <= node["start"] < node["end"] <= found["end"] for node in found["nodes"])


def test_both_sides_of_a_counterfactual_stand_beside_each_other(cli: Cli, place: Path) -> None:
    page = place.with_suffix(".html")
    ran = cli("complete", f"{place}:10", "--mutation", "if-else-flip", "--max-tokens", "24", "--html", page)
    assert ran.code == 0, ran.err
    for part in ("here it broke", "As written", "After if-else-flip"):
        assert part.lower() in page.read_text().lower()


@pytest.mark.parametrize(
    ("at", "code", "said"),
    [
        ("", 2, "is not FILE:LINE"),
        (":1", 1, "not in the body of a function"),
        (":99", 1, "there is no line 99"),
        (":10:99", 1, "has no column 99"),
    ],
)
def test_a_place_that_cannot_be_completed_is_refused(
    cli: Cli, place: Path, at: str, code: int, said: str
) -> None:
    ran = cli("complete", f"{place}{at}")
    assert ran.code == code
    assert said in ran.err


def test_other_files_and_mutations_are_refused(cli: Cli, place: Path) -> None:
    other = place.with_name("A.java")
    other.write_text("class A {\n    int f() {\n        return 1;\n    }\n}\n")
    assert "Python" in cli("complete", f"{other}:3").err
    assert "no mutation 'nonsense'" in cli("complete", f"{place}:10", "--mutation", "nonsense").err
    assert "there is no file" in cli("complete", f"{place}x:3").err
