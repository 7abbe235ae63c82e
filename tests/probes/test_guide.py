"""The probe and the templates that docs/adding-a-probe.md builds work as the page says."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from counterlens.models.base import Api, Capability
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.options import make
from counterlens.probes.probe import Context, Probe, Target
from counterlens.probes.prompts.templates import fill
from counterlens.probes.record import read, write_record
from counterlens.probes.runner import run_targets
from counterlens.probes.subjects import targets_in
from counterlens.reports.export.json import probe_document
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.probes.comprehension.test_closed import Weighing
from tests.probes.execution.asking import Scripted

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "adding-a-probe.md").read_text(encoding="utf-8")
PLUGINS = REPOSITORY / "examples" / "plugins"
TASK, EXAMPLE = PLUGINS / "same-result-task" / "same_result.py", PLUGINS / "own-name-probe" / "own_name.py"


def imported(path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> Probe[Any, Any]:
    """A probe of the guide, imported from its package."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)  # where its annotations are looked up
    spec.loader.exec_module(module)
    made = getattr(module, kind)()
    assert isinstance(made, Probe)
    return made


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Probe[Any, Any]:
    return imported(EXAMPLE, "OwnNameProbe", monkeypatch)


def test_the_code_of_the_guide_is_that_of_the_packages() -> None:
    codes = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert codes == [TASK.read_text(encoding="utf-8"), EXAMPLE.read_text(encoding="utf-8")]
    assert len(codes[0].splitlines()) <= 42  # the page says that a prompted task takes about 40 lines


HALVES = '''\
def halves(number: int) -> int:
    """Count how often a number can be halved.

    >>> halves(8)
    3
    >>> halves(12)
    2
    >>> halves(20)
    2
    >>> halves(6)
    1
    """
    times = 0
    while number % 2 == 0:
        number //= 2
        times += 1
    return times
'''


def alike(question: str) -> bool:
    """Whether the two calls of a question return the same, by running the program in it."""
    names: dict[str, Any] = {}
    exec(question[: question.index("# Do ")], names)  # noqa: S102 - a program of this test
    return (
        len({names["halves"](int(number)) for number in re.findall(r"halves\((\d+)\)", question)[-2:]}) == 1
    )


@pytest.mark.parametrize("by_text", [False, True])
def test_the_task_of_the_guide_tells_a_model_that_knows_from_one_that_says_yes(
    monkeypatch: pytest.MonkeyPatch,
    by_text: bool,
) -> None:
    task = imported(TASK, "SameResultTask", monkeypatch)

    def shown(model: Any) -> dict[str, Any]:
        targets = targets_in(Document(HALVES))
        run = run_targets(task, Context(model, best_sandbox), targets, make(task.options, {}))
        (record,) = run.probed
        assert read(write_record(record), task.record) == record
        assert [answer.truth for answer in record.answers].count("yes") == 1  # type: ignore[attr-defined]
        tables = {table.title: dict(zip(table.columns, table.rows[0], strict=True)) for table in run.tables}
        return tables | {"summary": run.summary, "excess": task.excess(record)}

    if by_text:
        knowing: Any = Scripted(lambda question: "Yes." if alike(question) else "No, they do not.")
        saying: Any = Scripted(lambda _: "yes")
        assert "by probabilities" not in shown(knowing)
    else:
        knowing = Weighing(lambda question, answer: -0.1 if ("yes" in answer) == alike(question) else -3.0)
        saying = Weighing(lambda _, answer: -0.1 if "yes" in answer else -3.0)
        assert shown(knowing)["by probabilities"]["AUROC"].value == 1
        assert shown(saying)["by probabilities"]["AUROC"].value == 0.5
    assert (shown(knowing)["answers"]["n"], shown(knowing)["answers"]["right"].value) == (6, 1)
    assert shown(knowing)["excess"] == 0.5
    assert shown(saying)["answers"]["right"].count == 1
    assert shown(saying)["summary"].endswith("The model answered 1 of 6 questions right.")


def test_the_probe_of_the_guide_works(model: LlamaModel, probe: Probe[Any, Any]) -> None:
    document = Document("def larger(a, b):\n    return a if a > b else b\n")
    target, options = Target(document, "larger"), make(probe.options, {})
    assert probe.missing_of(model) is None
    assert probe.estimate(target, options, model) == 2
    run = run_targets(probe, Context(model), [target], options)
    told = probe_document(run)
    assert told["records"][0]["target"] == "larger"
    assert told["records"][0]["own"] < 0
    assert told["tables"][1]["rows"][0][1]["n"] == 1
    (record,) = run.probed
    assert read(write_record(record), probe.record) == record
    assert probe.tables([record, record], seed=0)[1].rows[0][0] == 2
    assert set(probe.measures(record)) == {"own name likelier"}


def test_the_templates_of_the_guide_work(
    model: LlamaModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    completion, chat = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    folder = tmp_path / "guide_probe" / "templates"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "what.completion.txt").write_text(completion)
    (folder / "what.chat.txt").write_text(chat)
    (folder / "what.smollm2.chat.txt").write_text("Say it.\n---\nOnly for one model: $source\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    continues = replace(model.info, capabilities=model.info.capabilities - {Capability.INSTRUCT})
    plain = fill(continues, "guide_probe", "what", 9, ("\n",), source="def f(): pass\n")
    assert plain.text.endswith("def f(): pass\n\n# What it does, in one sentence: It")
    assert plain.reply is None
    asked = replace(model.info, name="SmolLM2", api=Api.CHAT)
    special = fill(asked, "guide_probe", "what", 9, (), source="1")
    assert special.text == "Only for one model: 1"
    general = fill(replace(asked, name="Another"), "guide_probe", "what", 9, (), source="1")
    assert general.text == "1"
    assert general.reply is not None
    assert general.reply.instruction.startswith("Answer with one sentence")
