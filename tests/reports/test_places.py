"""The top of a report on a repository: the answer as a picture, and where a model fails."""

from __future__ import annotations

import base64
import gzip
import json
import re

import pytest

from counterlens.evaluation.results import RunResults
from counterlens.metrics.effects import Effect, Proportion
from counterlens.metrics.summary import Observation, by_concept, by_file, by_function
from counterlens.probes.pairs.record import judged_pairs
from counterlens.reports.build.overview import drawn, place_tables
from counterlens.reports.document import HeadingLink, Shaded
from counterlens.reports.run_formats import write_evaluation
from tests.reports.runs import MODELS, hostile_run


def seen(place: str, lost: int, kept: int, concept: str = "naming") -> list[Observation]:
    """Pairs of a function, some of them lost."""
    file, _, name = place.partition("::")
    return [
        Observation(Effect(True, i >= lost), f"m{i % 2}", concept, name or file, place)
        for i in range(lost + kept)
    ]


PAIRS = [
    *seen("a.py::f", 1, 5),
    *seen("a.py::g", 4, 0, "data flow"),
    *seen("b.py::h", 2, 4),
    *seen("c.py::i", 0, 2),
]


def test_places_come_worst_first_with_what_they_held() -> None:
    assert [(one.name, one.lost, one.held.count, one.held.n) for one in by_file(PAIRS)] == [
        ("a.py", 5, 5, 10),
        ("b.py", 2, 4, 6),
        ("c.py", 0, 2, 2),
    ]
    assert [one.name for one in by_function(PAIRS)] == ["a.py::g", "b.py::h", "a.py::f", "c.py::i"]
    assert by_function(PAIRS)[0].mutations == ("m0", "m1")
    concepts = by_concept(PAIRS)
    assert (concepts["a.py"]["data flow"].value, concepts["a.py"]["naming"].n) == (0, 6)
    assert by_file(seen("HumanEval/0", 1, 1)) == []
    half = Proportion(0.25, 0.1, 0.5, 1, 4).complement
    assert (half.value, half.low, half.high, half.count) == (0.75, 0.5, 0.9, 3)


def test_a_cell_is_shaded_where_it_tells_something_and_noise_comes_last() -> None:
    worst, heat, files, functions = place_tables(PAIRS, "", {"b.py::h": "record-7"}, {"a.py::g": "unstable"})
    assert [row[0] for row in worst.rows] == [HeadingLink("b.py::h", "record-7"), "a.py::f", "a.py::g"]
    assert [row[-1] for row in worst.rows] == ["", "", "unstable"]
    assert heat.columns == ("file", "data flow", "naming")
    assert heat.rows[0] == ("a.py", Shaded("0% (4)"), Shaded("83% (6)", 5 / 6))
    assert [row[0] for row in heat.rows] == ["a.py", "b.py"]  # c.py has too few of anything
    assert "1 file with fewer" in heat.note
    assert "higher is better" in heat.note
    assert [row[0] for row in files.rows] == ["a.py", "b.py", "c.py"]
    assert len(functions.rows) == 4
    assert list(place_tables(seen("a.py::f", 0, 5), "", {}, {})) == []


def test_the_picture_is_to_scale_and_whole_whatever_a_model_is_called() -> None:
    text = drawn(
        [
            ("<b>&", Proportion(0.5, 0.25, 1.0, 1, 2), True),
            ("none", Proportion(None, None, None, 0, 0), False),
        ]
    )
    assert "&lt;b&gt;&amp;" in text
    (circle,) = re.findall(r'<circle cx="(\d+)"', text)
    scale = [int(x) for x in re.findall(r'<line x1="(\d+)" x2="\1"', text)]
    assert int(circle) == scale[2]
    (ends,) = re.findall(r'<line x1="(\d+)" x2="(\d+)" [^>]*stroke-width="4"', text)
    assert [int(x) for x in ends] == [scale[1], scale[4]]
    assert "no right verdict" in text


@pytest.fixture(scope="module")
def run() -> RunResults:
    return hostile_run()


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_every_form_says_where_it_fails(run: RunResults, form: str) -> None:
    text = " ".join(write_evaluation(form, run).split())
    for model in MODELS:
        assert re.search(f"unctions with the most lost verdicts, {model}", text)
        assert re.search(f"y file, {model}", text)


def test_a_small_page_holds_every_pair(run: RunResults) -> None:
    page = write_evaluation("html", run)
    assert len(page) < 750_000
    found = re.search(r'<script type="application/json" id="packed">"(.*?)"</script>', page)
    assert found
    packed = json.loads(gzip.decompress(base64.b64decode(found[1])))
    numbers = [int(number) for number in re.findall(r' data-packed="(\d+)"', page)]
    assert numbers == [*range(len(packed))]
    pairs = sum(len(judged_pairs(stored.record)) for _, stored in run.records)
    assert sum("the model wrote" in one for one in packed) == pairs
    assert not any("<script" in one for one in packed)
    targets = set(re.findall(r'href="#(head-record-\d+)"', page))
    assert targets
    assert all(f'id="{one}"' in page for one in targets)
