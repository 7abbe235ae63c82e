"""Runs in the forms of other harnesses: what their readers look for is there, and programs are whole."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from counterlens.cli.main import cli
from counterlens.errors import DataError
from counterlens.evaluation.harness.formats import HARNESSES, export_for
from counterlens.evaluation.harness.samples import harness_tasks
from counterlens.evaluation.manifest import canonical
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.metrics.effects import Effect
from counterlens.probes.pairs.record import CutPlace, PairRecord, PairsRecord, SourceEdit
from tests.evaluation.made_up import pair, pairs_record

MODEL = "remote:some/model"
HELPER = "def one():\n    return 1\n\n\n"
SOURCE = f"{HELPER}def add(a, b):\n    total = a + b\n    return total\n"
CUT = SOURCE.index("    return total")
RENAME = SourceEdit(SOURCE.index("total"), SOURCE.index("total") + 5, "summe")


def cut_pair(original: str, counterfactual: str, right: tuple[bool, bool]) -> PairRecord:
    """A pair of the source and one with another name, both cut before the return."""
    made = pair(*right)
    return replace(
        made,
        mutation="rename-random",
        edits=(RENAME,),
        cut=CutPlace(CUT, CUT),
        original=replace(made.original, completion=original, prompt=SOURCE[:CUT]),
        counterfactual=replace(
            made.counterfactual, completion=counterfactual, prompt=SOURCE[:CUT].replace("total", "summe")
        ),
        outcome=Effect(*right).outcome,
    )


PAIRS = (
    cut_pair("    return total\n", "    return total\n", (True, False)),
    cut_pair("    return total\n", "    return summe\n", (True, True)),
)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A HumanEval of one problem."""
    path = tmp_path / "HumanEval.jsonl"
    prompt, _, rest = SOURCE.partition("    total = a + b\n")
    row = {"task_id": "HumanEval/7", "prompt": prompt, "canonical_solution": f"    total = a + b\n{rest}"}
    row |= {"entry_point": "add", "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n"}
    path.write_text(json.dumps(row))
    return path


def a_run(
    data: str, *pairs: PairRecord, dataset_id: str = "humaneval", task: str = "completion"
) -> RunResults:
    """A run of one function with these pairs, and of one that was left out."""
    source = hashlib.sha256(SOURCE.encode()).hexdigest()
    item = Item(0, f"{MODEL}|{task}|HumanEval/7", MODEL, "HumanEval/7", "add", source, task)
    records = ((item, StoredRecord(pairs_record("HumanEval/7", *pairs), 2.0, "m")),)
    manifest = {
        "counterlens": "0.1",
        "model": {"asked_as": MODEL},
        "dataset": {"dataset": dataset_id, "title": "HumanEval"},
    }
    settings = RunSettings.of([task], data, models=(MODEL,))
    return RunResults(settings, 1, {"m": manifest}, records, begun="2026-03-01T10:00:00+00:00")


def test_originals_are_one_sample_and_counterfactuals_one_each() -> None:
    (task,) = harness_tasks(a_run("humaneval", *PAIRS))
    assert [one.id for one in task.samples] == [
        "HumanEval/7:original",
        "HumanEval/7:rename-random:0",
        "HumanEval/7:rename-random:1",
    ]
    assert [one.right for one in task.samples] == [True, False, True]
    assert [one.effect for one in task.samples] == [None, 1, 0]


def test_evalplus_gets_the_programs_that_were_judged_with_what_the_prompt_did_not_show(
    dataset: Path, tmp_path: Path
) -> None:
    written = export_for("evalplus", a_run(str(dataset), *PAIRS), tmp_path / "out")
    assert [path.name for path in written] == [
        "remote_some_model.original.jsonl",
        "remote_some_model.counterfactual.jsonl",
    ]
    (original,) = (json.loads(line) for line in written[0].read_text().splitlines())
    assert original == {"task_id": "HumanEval/7", "solution": SOURCE, "mutation": "", "passed": True}
    wrong, right = (json.loads(line) for line in written[1].read_text().splitlines())
    assert right["solution"] == SOURCE.replace("total", "summe")
    assert wrong["solution"] == SOURCE.replace("total =", "summe =")
    names: dict[str, Any] = {}
    exec(right["solution"], names)  # noqa: S102 - the programs of this file
    assert names["add"](1, 2) == 3


def test_evalplus_refuses_what_it_has_no_tests_for_and_data_that_changed(
    dataset: Path, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="no tests for repo:"):
        export_for("evalplus", a_run("repo:/code", *PAIRS, dataset_id="repo"), tmp_path)
    with pytest.raises(DataError, match="completions only"):
        export_for("evalplus", a_run(str(dataset), *PAIRS, task="repair"), tmp_path)
    changed = a_run(str(dataset), *PAIRS)
    ((item, stored),) = changed.records
    with pytest.raises(DataError, match="has changed"):
        export_for("evalplus", replace(changed, records=((replace(item, source="0"), stored),)), tmp_path)


def test_lm_eval_gets_results_and_samples_as_its_own_reader_looks_for_them(tmp_path: Path) -> None:
    written = export_for("lm-eval", a_run("humaneval", *PAIRS), tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "remote_some_model/results_2026-03-01T10-00-00.json",
        "remote_some_model/samples_counterlens_completion_original_2026-03-01T10-00-00.jsonl",
        "remote_some_model/samples_counterlens_completion_counterfactual_2026-03-01T10-00-00.jsonl",
    ]
    results = json.loads(written[0].read_text())
    figures = results["results"]["counterlens_completion_counterfactual"]
    assert (figures["pass@1,none"], figures["mutation_effect,none"]) == (0.5, 0.5)
    assert 0 < figures["pass@1_stderr,none"] < 0.5
    # What make_table and the viewers index by task.
    for key in ("versions", "n-shot", "higher_is_better", "configs", "n-samples", "group_subtasks"):
        assert results[key].keys() == results["results"].keys()
    first, second = (json.loads(line) for line in written[2].read_text().splitlines())
    assert (first["doc_id"], first["pass@1"], first["mutation_effect"]) == (0, 0.0, 1)
    assert second["resps"] == [["    return summe\n"]]
    assert first["arguments"]["gen_args_0"]["arg_0"] == PAIRS[0].counterfactual.prompt
    assert len({first["doc_hash"], second["doc_hash"]}) == 2
    assert first["prompt_hash"] == second["prompt_hash"]


def test_inspect_gets_a_log_of_its_version_2(tmp_path: Path) -> None:
    unjudged = pair(None, None)
    (path,) = export_for("inspect", a_run("humaneval", *PAIRS, unjudged), tmp_path)
    assert path.name.startswith("2026-03-01T10-00-00+00-00_counterlens-completion-remote_some_model_")
    log = json.loads(path.read_text())
    assert (log["version"], log["status"]) == (2, "success")
    assert log["eval"]["model"] == f"counterlens/{MODEL}"
    assert datetime.fromisoformat(log["stats"]["completed_at"]) > datetime.fromisoformat(
        log["eval"]["created"]
    )
    assert {name: score["metrics"] for name, score in by_name(log["results"]["scores"]).items()} == {
        "original": {"accuracy": metric("accuracy", 1.0), "stderr": log_error(log, "original")},
        "counterfactual": {"accuracy": metric("accuracy", 0.5), "stderr": log_error(log, "counterfactual")},
        "mutation_effect": {"mean": metric("mean", 0.5), "stderr": log_error(log, "mutation_effect")},
    }
    samples = log["samples"]
    assert len({sample["id"] for sample in samples}) == len(samples) == log["eval"]["dataset"]["samples"]
    lost = samples[1]
    assert {name: score["value"] for name, score in lost["scores"].items()} == {
        "counterfactual": "I",
        "mutation_effect": 1,
    }
    assert [message["role"] for message in lost["messages"]] == ["user", "assistant"]
    assert lost["output"]["completion"] == "    return total\n"
    assert samples[-1]["scores"] == {}  # it was not judged, and counts nowhere


def by_name(scores: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {score["name"]: score for score in scores}


def metric(name: str, value: float) -> dict[str, Any]:
    return {"name": name, "value": value, "params": {}}


def log_error(log: dict[str, Any], name: str) -> dict[str, Any]:
    """The standard error of a score, which is that of its interval."""
    score = by_name(log["results"]["scores"])[name]
    low, high = score["metadata"]["interval"]
    return metric("stderr", pytest.approx((high - low) / 3.92, rel=1e-3))


def test_inspect_itself_reads_the_log(tmp_path: Path) -> None:
    log = pytest.importorskip("inspect_ai.log", reason="the extra inspect is not installed")
    (path,) = export_for("inspect", a_run("humaneval", *PAIRS), tmp_path)
    found = log.read_eval_log(str(path))
    assert found.status == "success"
    assert [sample.scores["counterfactual"].value for sample in found.samples[1:]] == ["I", "C"]


def test_a_run_without_completions_of_pairs_is_refused(tmp_path: Path) -> None:
    found = a_run("humaneval", *PAIRS)
    ((item, stored),) = found.records
    assert isinstance(stored.record, PairsRecord)
    empty = replace(stored, record=replace(stored.record, pairs=()))
    for harness in HARNESSES:
        with pytest.raises(DataError, match="no completions"):
            export_for(harness, replace(found, records=((item, empty),)), tmp_path)


def test_the_command_writes_below_the_run_and_names_the_files(tmp_path: Path) -> None:
    found = a_run("humaneval", *PAIRS)
    folder = tmp_path / "run"
    with Store.create(folder) as store:
        store.begin(found.settings, [item for item, _ in found.records])
        digest, document = canonical(dict(found.manifests["m"]))
        store.keep_manifest(digest, document)
        for item, one in found.records:
            store.append(item, replace(one, manifest=digest))
    result = CliRunner().invoke(cli, ["export", str(folder), "--format", "inspect"], catch_exceptions=False)
    assert result.exit_code == 0
    assert Path(result.output.strip()).parent == folder / "inspect"
    assert json.loads(Path(result.output.strip()).read_text())["eval"]["task"] == "counterlens/completion"
