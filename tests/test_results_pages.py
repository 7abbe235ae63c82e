"""The tables of the results pages are those that the recomputing scripts find in the kept records."""

from __future__ import annotations

import ast
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "benchmarks" / "recompute"
RESULTS = ROOT / "docs" / "results"
RECORDS = [folder for folder in sorted((RESULTS / "records").glob("*")) if folder.is_dir()]


@pytest.fixture(scope="module")
def pages() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPTS / "pages.py"))


def test_every_cell_of_the_pages_is_recomputed_from_the_records() -> None:
    command = [sys.executable, str(SCRIPTS / "pages.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"differs from its records: {done.stdout}{done.stderr}"


def test_a_changed_cell_is_noticed(pages: dict[str, Any]) -> None:
    text = (RESULTS / "cacp.md").read_text(encoding="utf-8")
    place = next(each for each in pages["PLACE"].finditer(text) if re.search(r"\d+ %", each[0]))
    changed = text.replace(place[0], re.sub(r"\d+ %", "77 %", place[0], count=1))
    assert changed != text
    assert pages["filled"](changed) == text


def test_a_table_that_no_script_gives_is_refused_with_those_that_there_are(pages: dict[str, Any]) -> None:
    place = "<!-- records: runs | rans | codemind-ier-humaneval-0.5b -->\n<!-- end of records -->"
    with pytest.raises(SystemExit, match=r"page_runs\.py gives no table 'rans', but '.*runs'"):
        pages["filled"](place)


def test_a_page_that_is_not_there_is_refused_with_those_that_there_are() -> None:
    command = [sys.executable, str(SCRIPTS / "pages.py"), "--check", "codemnd"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search("there is no page codemnd; there are .*codemind", done.stderr)


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda script: script.stem)
def test_no_recomputing_script_imports_the_package(script: Path) -> None:
    tree = ast.parse(script.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)}
    assert not [name for name in names if name.startswith("counterlens")]


def test_the_kept_records_are_small_and_say_what_they_are_of() -> None:
    assert RECORDS
    assert sum(file.stat().st_size for file in (RESULTS / "records").rglob("*")) < 20 << 20
    for folder in RECORDS:
        for manifest in json.loads((folder / "manifests.json").read_text(encoding="utf-8")).values():
            assert manifest["dataset"]["sha256"]
            assert manifest["options"]
            assert not re.search(r'"(/|~)', json.dumps(manifest)), "a path of a machine"


def test_few_cases_are_told(pages: dict[str, Any]) -> None:
    share = {"value": 0.5, "low": 0.1, "high": 0.9, "count": 2, "n": 4}
    assert pages["cell"](share) == "50 % [10 %, 90 %], n = 4"
    assert pages["cell"]({**share, "n": 40}) == "50 % [10 %, 90 %]"
    assert pages["cell"]({**share, "value": None}) == "--"
    assert pages["cell"]({"value": -0.25, "low": -0.5, "high": 0.25, "n": 12}) == "-0.25 [-0.50, +0.25]"
    assert pages["cell"](None) == "--"


def test_a_conclusion_needs_an_interval_beside_zero_and_ten_functions() -> None:
    conclude = runpy.run_path(str(SCRIPTS / "intervals.py"))["conclude"]
    cell = {"value": 0.4, "low": 0.1, "high": 0.7, "n": 10}
    assert conclude(cell) == "holds"
    assert conclude({**cell, "value": -0.4, "low": -0.7, "high": -0.1}) == "does not hold"
    assert conclude({**cell, "low": -0.1}) == "cannot be told"
    assert conclude({**cell, "n": 9}) == "cannot be told"
    assert conclude({**cell, "low": None, "high": None}) == "cannot be told"
    assert conclude(None) == "cannot be told"


def test_a_conclusion_needs_an_exact_test_too() -> None:
    intervals = runpy.run_path(str(SCRIPTS / "intervals.py"))
    tested, conclude = intervals["tested"], intervals["conclude"]
    few = tested([(name, 1.0) for name in range(4)] + [(name, 0.0) for name in range(4, 24)])
    assert few["low"] > 0
    assert few["p"] == 0.125
    assert conclude(few) == "cannot be told"
    assert conclude(tested([(name, 1.0) for name in range(6)] + [(6, 0.0)] * 20)) == "cannot be told"
    assert conclude(tested([(name, float(name < 8)) for name in range(20)])) == "holds"


def test_a_wrong_test_that_is_ignored_harms_nothing() -> None:
    """With a misleading test, a pass means that the wrong output was given: 69 passes are lost, one value."""
    script = runpy.run_path(str(SCRIPTS / "pages.py"))
    page = script["recomputed"]("codemind", "codemind-sr-humaneval-0.5b")
    rows = {row[0]: row[2] for row in page["conclusions"][1]}
    assert rows["a wrong test harms"]["value"] == pytest.approx(1 / 117)


def test_a_stopped_run_is_named() -> None:
    sys.path.insert(0, str(SCRIPTS))
    try:
        sample = runpy.run_path(str(SCRIPTS / "page_runs.py"))["sample"]
    finally:
        sys.path.remove(str(SCRIPTS))
    assert sample([0, 1, 3, 4, 9], 12) == "as drawn"
    both_ends = [*range(9), *range(52, 60)]
    assert sample(both_ends, 60) == "stopped: 0 to 8, 52 to 59"
    assert sample(both_ends, 60, random=True) == "a random part"
    assert sample(range(12), 24) == "stopped: 0 to 11"
    assert sample([9, 20, 21, 22], 24) == "stopped: 9, 20 to 22"


def test_the_picture_shows_every_model_in_both_colour_schemes() -> None:
    picture = (RESULTS / "models.svg").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in picture
    assert all(shape in picture for shape in ("<circle", "<rect", 'transform="rotate(45'))
    assert "models.svg" in (RESULTS / "index.md").read_text(encoding="utf-8")


def test_places_without_records_say_so(pages: dict[str, Any]) -> None:
    assert pages["table"]("cacp", "conclusions", "no-such-run") == "Not measured yet.\n"


def test_the_product_has_the_error_rates_of_the_kept_records() -> None:
    rates = json.loads((ROOT / "server/counterlens/probes/recognition/rates.json").read_text())
    by_name = {known["name"].lower(): known["methods"] for known in rates.values()}
    page = runpy.run_path(str(SCRIPTS / "page_recognition.py"))
    found = page["areas"](page["lines_of"]([RESULTS / "records" / "recognition"]))
    assert len(found) > 1
    for model, cells in found.items():
        (methods,) = [
            known for name, known in by_name.items() if name.startswith(model.rpartition(" ")[0] or model)
        ]
        for name, rate in methods.items():
            assert [cells[name][end] for end in ("auc", "low", "high")] == pytest.approx(
                [rate[end] for end in ("auc", "low", "high")], abs=6e-4
            )
