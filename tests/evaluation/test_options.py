"""What a run is asked with reaches each of its functions, and is kept with what comes out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from counterlens.cli.probe import probe
from counterlens.errors import ModelError
from counterlens.evaluation.encoding import opened_encoder
from counterlens.evaluation.manifest import manifest
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.settings import Settings
from counterlens.evaluation.store import LEFT_OUT, PROBED
from counterlens.evaluation.work import perform, request_of
from counterlens.models.base import Capability, Completion, ModelInfo, Prompt
from counterlens.models.cache import AnswerStore
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.task import Target
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.conftest import embedded_file
from tests.evaluation.running import bench, run

SLOW = '''\
import time

def larger(a, b):
    """Return the larger one.

    >>> time.sleep(1) or larger(1, 2)
    2
    """
    if a > b:
        return a
    else:
        return b
'''


class Scripted:
    """A model whose answers are a function of the prompt."""

    info = ModelInfo("scripted", "scripted", "0", "local", frozenset({Capability.COMPLETE}))

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        return [Completion(self._answer(prompt.text), "stop", 1) for prompt in prompts]


def test_tests_that_need_longer_are_given_it(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    settings = Settings(
        ("completion",), f"repo:{tmp_path}", mutations=("if-else-flip",), timeout=0.5, max_tokens=4
    )
    plan = make_plan(settings, best_sandbox())
    (target,) = plan.targets["completion"].values()
    model: Any = Scripted(lambda _: "        return (\n")  # what does not parse takes no time to judge
    short = perform(settings, "completion", target, model, best_sandbox())
    assert short.outcome == LEFT_OUT
    assert short.reason == (
        "the tests of larger take longer than the 0.5 s that they have (--timeout of probe and bench gives "
        "them more, in the editor counterlens.probe.timeout)"
    )
    longer = perform(replace(settings, timeout=120), "completion", target, model, best_sandbox())
    assert (longer.outcome, longer.reason) == (PROBED, "")
    assert len(longer.body["pairs"]) == 1


@pytest.fixture
def sleepy(tmp_path: Path) -> str:
    """A dataset of a function that does not end in time."""
    problem = {
        "task_id": "HumanEval/0",
        "prompt": 'def f(x):\n    """Give it."""\n',
        "entry_point": "f",
        "canonical_solution": "    import time\n    time.sleep(60)\n    return x\n",
        "test": "def check(candidate):\n    assert candidate(1) == 1\n",
    }
    (tmp_path / "HumanEval.jsonl").write_text(json.dumps(problem) + "\n")
    return str(tmp_path / "HumanEval.jsonl")


def test_the_tests_of_a_dataset_have_as_long(sleepy: str) -> None:
    settings = Settings(("completion",), sleepy, timeout=0.5)
    (target,) = make_plan(settings, best_sandbox()).targets["completion"].values()
    model: Any = Scripted(str)
    assert "longer than the 0.5 s" in perform(settings, "completion", target, model, best_sandbox()).reason


def test_a_probe_of_a_dataset_has_as_long(sleepy: str) -> None:
    embedded_file()
    asked = ["--data", sleepy, "--timeout", "0.5", "--json", "--allow-weaker-sandbox"]
    done = CliRunner().invoke(probe, asked)
    assert "longer than the 0.5 s" in json.loads(done.stdout)["left_out"]["HumanEval/0"]


def test_another_timeout_is_another_run(place: Path, uninterrupted: tuple[Path, float]) -> None:
    refused = run(bench(place, uninterrupted[0], "--resume", "--timeout", "30"))
    assert refused.returncode == 1
    assert "begun with other options: --timeout was 10.0, now 30.0" in refused.stderr


def test_programs_with_bugs_are_asked_about() -> None:
    source = SLOW.replace("time.sleep(1) or ", "")
    target = Target(Document(source), "larger", id="f", buggy=source.replace("a > b", "a < b"))
    model: Any = Scripted(lambda text: "smaller" if "a < b" in text else "larger")
    found = perform(Settings(("name",), "data", code="buggy"), "name", target, model, best_sandbox())
    assert {pair["target"] for pair in found.body["pairs"]} == {"f", "f (with its bug)"}
    assert {pair["correct"] for pair in found.body["pairs"]} == {True, False}


def test_the_encoder_of_a_run_is_in_its_manifest(model: LlamaModel, place: Path, tmp_path: Path) -> None:
    settings = Settings(("summary",), f"repo:{place / 'code'}", paths=("gcd.py",), encoder="smollm2-135m")
    plan = make_plan(settings, best_sandbox())
    (target,) = plan.targets["summary"].values()
    store = AnswerStore(tmp_path / "answers.sqlite")
    with opened_encoder(settings, store) as encoder:
        asked = request_of(settings, target, model, best_sandbox(), encoder=encoder)
        kept = manifest(plan, "smollm2-135m", model.info, encoder)
    store.close()
    assert asked.encoder is encoder
    assert encoder is not None
    assert kept["encoder"] == {
        "id": model.info.id,
        "name": model.info.name,
        "identity": model.info.identity,
    }
    assert {name: kept["parameters"][name] for name in ("code", "encoder", "timeout")} == {
        "code": "given",
        "encoder": "smollm2-135m",
        "timeout": 10.0,
    }
    with opened_encoder(Settings(("summary",), "data")) as none:
        assert none is None
    with pytest.raises(ModelError, match="no-such"), opened_encoder(replace(settings, encoder="no-such")):
        pass


def test_options_that_an_older_run_did_not_keep_are_as_they_were() -> None:
    kept = Settings.from_json('{"tasks": ["completion"], "data": "humaneval", "seed": 3}')
    assert kept == Settings(("completion",), "humaneval", seed=3)
    assert (kept.timeout, kept.code, kept.encoder) == (10.0, "given", None)
