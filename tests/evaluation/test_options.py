"""The options of a run reach each of its functions, and are stored with the results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from counterlens.cli.probe import probe
from counterlens.errors import ModelError, OptionError
from counterlens.evaluation.manifest import differences, manifest
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.work import opened_encoder, perform
from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt
from counterlens.models.cache import AnswerStore
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.options import AskBy, PromptedOptions
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.probe import Target
from counterlens.probes.record import Outcome, plain
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.conftest import embedded_file
from tests.evaluation.running import bench, run

SLOW = '''\
import time

def larger(a, b):
    """Return the larger one.

    >>> time.sleep(0.8) or larger(1, 2)
    2
    """
    if a > b:
        return a
    else:
        return b
'''


class Scripted(Model):
    """A model whose answers are a function of the prompt."""

    info = ModelInfo("scripted", "scripted", "0", "local", frozenset({Capability.COMPLETE}))

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        return [Completion(self._answer(prompt.text), "stop", 1) for prompt in prompts]


def test_tests_that_need_longer_are_given_it(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    given = {"mutations": ("if-else-flip",), "timeout": 0.1, "max_tokens": 4}
    settings = RunSettings.of(["completion"], f"repo:{tmp_path}", given)
    plan = make_plan(settings, best_sandbox())
    (target,) = plan.targets["completion"].values()
    model: Any = Scripted(lambda _: "        return (\n")  # what does not parse takes no time to judge
    short = perform(settings, "completion", target, model, best_sandbox())
    assert short.outcome is Outcome.LEFT_OUT
    assert short.reason == (
        "the tests of larger take longer than 0.1 s (raise --timeout of probe or bench, or "
        "counterlens.probe.timeout in the editor)"
    )
    patient = RunSettings.of(["completion"], f"repo:{tmp_path}", given | {"timeout": 120})
    longer = perform(patient, "completion", target, model, best_sandbox())
    assert (longer.outcome, longer.reason) == (Outcome.PROBED, "")
    assert isinstance(longer, PairsRecord)
    assert len(longer.pairs) == 1


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
    settings = RunSettings.of(["completion"], sleepy, {"timeout": 0.5})
    (target,) = make_plan(settings, best_sandbox()).targets["completion"].values()
    model: Any = Scripted(str)
    assert "longer than 0.5 s" in perform(settings, "completion", target, model, best_sandbox()).reason


def test_a_probe_of_a_dataset_has_as_long(sleepy: str) -> None:
    embedded_file()
    asked = ["--data", sleepy, "--timeout", "0.5", "--json", "--allow-weaker-sandbox"]
    done = CliRunner().invoke(probe, asked)
    assert "longer than 0.5 s" in str(done.exception)  # it is the only function


@pytest.fixture(scope="module")
def finished(place: Path, toys: None) -> Path:  # noqa: ARG001
    """The folder of a finished run without options."""
    folder = place / "finished"
    assert run(bench(place, folder, model="toy", functions="1")).returncode == 0
    return folder


def test_another_timeout_is_another_run(place: Path, finished: Path) -> None:
    refused = run(bench(place, finished, "--resume", "--timeout", "30", model="toy", functions="1"))
    assert refused.returncode == 1
    assert "started with other options: --timeout was 10.0, now 30.0" in refused.stderr


def test_a_run_whose_time_was_too_short_resumes_with_more(place: Path, finished: Path) -> None:
    short = place / "short"
    assert run(bench(place, short, "--minutes", "0.00001", model="toy", functions="1")).returncode == 0
    assert RunResults.read(short).total == 1
    assert not RunResults.read(short).records
    more = run(bench(place, short, "--resume", "--minutes", "5", model="toy", functions="1"))
    assert more.returncode == 0, more.stderr
    assert len(RunResults.read(short).records) == 1
    refused = run(bench(place, finished, "--resume", "--minutes", "5", model="toy", functions="1"))
    assert "started with other options: --minutes was None, now 5.0" in refused.stderr


def test_where_an_option_applies_is_said_and_one_that_no_task_takes_is_refused() -> None:
    settings = RunSettings.of(
        ["confidence", "execution", "output"], "humaneval", {"max_tokens": 9, "seed": 1}
    )
    assert settings.applied() == {"max_tokens": ["execution", "output"]}
    with pytest.raises(OptionError, match="--max-tokens is not an option of confidence") as refused:
        RunSettings.of(["confidence"], "humaneval", {"max_tokens": 9})
    assert "completion" in (refused.value.hint or "")


def test_programs_with_bugs_are_asked_about() -> None:
    source = SLOW.replace("time.sleep(0.8) or ", "")
    target = Target(Document(source), "larger", id="f", buggy=source.replace("a > b", "a < b"))
    model: Any = Scripted(lambda text: "smaller" if "a < b" in text else "larger")
    settings = RunSettings.of(["name"], "data", {"code": "buggy"})
    found = plain(perform(settings, "name", target, model, best_sandbox()))
    assert {pair["target"] for pair in found["pairs"]} == {"f", "f (with its bug)"}
    assert {pair["correct"] for pair in found["pairs"]} == {True, False}


def test_the_encoder_of_a_run_is_in_its_manifest(embedded: LlamaModel, place: Path, tmp_path: Path) -> None:
    data = f"repo:{place / 'code'}"
    settings = RunSettings.of(["summary"], data, {"encoder": "smollm2-135m"}, paths=("gcd.py",))
    plan = make_plan(settings, best_sandbox())
    store = AnswerStore(tmp_path / "answers.sqlite")
    with opened_encoder(settings, store) as encoder:
        kept = manifest(plan, "smollm2-135m", embedded.info, encoder)
    store.close()
    assert encoder is not None
    assert kept["encoder"] == {
        "id": embedded.info.id,
        "name": embedded.info.name,
        "identity": embedded.info.identity,
    }
    assert {name: kept["options"]["summary"][name] for name in ("code", "encoder", "timeout")} == {
        "code": "given",
        "encoder": "smollm2-135m",
        "timeout": 10.0,
    }
    with opened_encoder(RunSettings.of(["summary"], "data")) as none:
        assert none is None
    other = RunSettings.of(["summary"], "data", {"encoder": "no-such"})
    with pytest.raises(ModelError, match="no-such"), opened_encoder(other):
        pass


def test_settings_are_read_as_they_were_kept() -> None:
    given = {"prefix_ratio": (0.4, 0.6), "mutations": ("if-else-flip",), "seed": 3}
    settings = RunSettings.of(
        ["completion", "name"], "humaneval", {"seed": 3, "mutations": ("if-else-flip",)}
    )
    assert RunSettings.from_json(settings.to_json()) == settings
    ranged = RunSettings.of(["completion"], "humaneval", given)
    kept = RunSettings.from_json(ranged.to_json())
    assert kept.options_of("completion") == ranged.options_of("completion")
    assert settings.differences(ranged)[0] == "tasks is ('completion', 'name'), not ('completion',)"
    assert "prefix_ratio is 0.75, not [0.4, 0.6]" in settings.differences(ranged)


def test_a_run_from_before_its_money_had_an_option_of_its_own_keeps_the_limit() -> None:
    settings = RunSettings.of(["completion"], "data", max_cost=5.0)
    begun = settings.to_json().replace('"max_cost"', '"budget"')
    assert RunSettings.from_json(begun).max_cost == 5.0


def test_a_run_from_before_chats_asks_as_it_began(embedded: LlamaModel, place: Path) -> None:
    settings = RunSettings.of(["equivalence"], f"repo:{place / 'code'}", paths=("gcd.py",))
    begun = json.loads(settings.to_json())
    assert begun["options"]["equivalence"].pop("ask_by") == "chat"
    earlier = replace(RunSettings.from_json(json.dumps(begun)), foreign=False)
    assert isinstance(options := earlier.options_of("equivalence"), PromptedOptions)
    assert options.ask_by is AskBy.TEXT
    kept = manifest(make_plan(earlier, best_sandbox()), "smollm2-135m", embedded.info, None)
    assert "ask_by" not in kept["options"]["equivalence"]  # so that its manifests are the same
    now = manifest(make_plan(settings, best_sandbox()), "smollm2-135m", embedded.info, None)
    assert differences(kept, now) == ["options.equivalence.ask_by: None, now chat"]


@pytest.mark.parametrize("chosen", [False, True])
def test_a_run_that_an_earlier_version_began_is_not_under_other_circumstances(
    embedded: LlamaModel, place: Path, chosen: bool
) -> None:
    data = f"repo:{place / 'code'}"
    settings = RunSettings.of(["equivalence"], data, paths=("gcd.py",), until_decided=chosen)
    kept = manifest(make_plan(settings, best_sandbox()), "smollm2-135m", embedded.info, None)
    parameters = dict(kept["parameters"])
    parameters.pop("until_decided", None)  # it did not know that
    assert differences({**kept, "parameters": parameters}, kept) == (
        ["parameters.until_decided: None, now True"] if chosen else []
    )
