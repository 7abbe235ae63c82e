"""Names of models in tables: short, and different for different models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.evaluation.results import RunResults, model_labels
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.reports.run_formats import write_evaluation
from tests.evaluation.made_up import pair, pairs_record
from tests.evaluation.test_damage import MANIFEST

PATH = "/home/somebody/models/tiny.gguf"


@pytest.mark.parametrize(
    ("specs", "labels"),
    [
        ([PATH], ["tiny.gguf"]),
        (["models/tiny.gguf", "~/big.gguf"], ["tiny.gguf", "big.gguf"]),
        (["/a/x/m.gguf", "/a/y/m.gguf", "/b/z.gguf"], ["x/m.gguf", "y/m.gguf", "z.gguf"]),
        (["/a/x/m.gguf", "m.gguf"], ["x/m.gguf", "m.gguf"]),
        (["/m.gguf", "m.gguf"], ["//m.gguf", "m.gguf"]),
        (
            ["/a/coder-0.5b-instruct-q4_k_m.gguf", "hf:o/r/Coder-1.5B-Instruct-Q4_K_M.gguf", "x-f16.gguf"],
            ["coder-0.5b", "Coder-1.5B", "x"],
        ),
        (["/a/c-q4_0.gguf", "/a/c-q8_0.gguf"], ["c-q4_0.gguf", "c-q8_0.gguf"]),
        (["/a/c-q4_0.gguf", "/b/c-q4_0.gguf", "c"], ["a/c-q4_0.gguf", "b/c-q4_0.gguf", "c"]),
        (["onnx:/models/a/tiny", "onnx:owner/repo"], ["onnx:tiny", "onnx:owner/repo"]),
        (
            ["remote:org/coder", "hf:o/r/f.gguf", "smollm2-135m"],
            ["remote:org/coder", "hf:o/r/f.gguf", "smollm2-135m"],
        ),
    ],
)
def test_a_path_is_shown_as_its_file(specs: list[str], labels: list[str]) -> None:
    assert list(model_labels(specs).values()) == labels


@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "m.gguf"]), min_size=1, max_size=4).map("/".join), unique=True
    )
)
def test_labels_differ(specs: list[str]) -> None:
    assert len({*model_labels(specs).values()}) == len(specs)


def test_reports_have_the_short_name_and_the_manifest_the_path(tmp_path: Path) -> None:
    item = Item(0, f"{PATH}|completion|p", PATH, "p", "f", "00", "completion")
    manifest = {**MANIFEST, "model": {**MANIFEST["model"], "asked_as": PATH}}
    with Store.create(tmp_path) as store:
        store.begin(RunSettings.of(["completion"], "humaneval", models=(PATH,)), [item])
        store.keep_manifest("d", json.dumps(manifest))
        store.append(item, StoredRecord(pairs_record("p", pair(True, False)), 1.0, "d"))
    found = RunResults.read(tmp_path)
    for form in ("text", "markdown", "latex", "csv"):
        text = write_evaluation("markdown" if form == "text" else form, found)
        assert "tiny.gguf" in text, form
        assert "/home/somebody" not in text, form
    assert PATH in write_evaluation("json", found)
