"""The dataset that docs/adding-a-dataset.md builds works as the page says."""

from __future__ import annotations

import json
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from counterlens.datasets.base import Dataset, Loader
from counterlens.datasets.checking import Finding, Runner, check
from counterlens.datasets.registry import LOADERS
from counterlens.errors import DataError
from counterlens.sandbox.registry import best_sandbox

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "adding-a-dataset.md").read_text(encoding="utf-8")
EXAMPLE = REPOSITORY / "examples" / "plugins" / "exercises-dataset" / "exercises.py"


def block(language: str) -> str:
    """The one block of code in a language on the page."""
    (code,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(code)


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> Loader:
    """The loader of the guide, imported from its package."""
    spec = spec_from_file_location("exercises", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "exercises", module)
    spec.loader.exec_module(module)
    made = module.Exercises()
    assert isinstance(made, Loader)
    return made


def test_the_code_of_the_guide_is_that_of_the_package() -> None:
    assert block("python") == EXAMPLE.read_text(encoding="utf-8")
    assert block("toml").strip() in EXAMPLE.with_name("pyproject.toml").read_text(encoding="utf-8")


def test_the_data_of_the_guide_is_recognised_read_and_judged(loader: Loader, tmp_path: Path) -> None:
    path = tmp_path / "exercises.jsonl"
    right = block("json")
    wrong = json.dumps(
        {**json.loads(right), "name": "wrong", "solution": "def largest(numbers):\n    return 3\n"}
    )
    path.write_text(right + wrong + "\n")
    assert loader.recognises(path) > max(known.recognises(path) for known in LOADERS.values())
    dataset = Dataset(loader, path)
    assert [problem.id for problem in dataset] == ["exercises/largest", "exercises/wrong"]
    assert {problem.function for problem in dataset} == {"largest"}
    assert dataset.provenance.licence == "CC-BY-4.0"
    checked = check(dataset, run=Runner(best_sandbox()).check)
    assert [problem.finding for problem in checked.problems] == [Finding.PASSES, Finding.FAILS]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"solution": 3}, "line 2: `solution` is a number, not a string"),
        ({"checks": "assert True"}, "line 2: `checks` is a string, not a list of strings"),
        ({"checks": ["assert True"]}, "line 2: no check calls a function of the solution"),
    ],
)
def test_a_malformed_exercise_is_named_with_its_line(
    loader: Loader, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    path = tmp_path / "exercises.jsonl"
    path.write_text(block("json") + json.dumps({**json.loads(block("json")), **change}) + "\n")
    with pytest.raises(DataError, match=said):
        list(loader.problems(path))
