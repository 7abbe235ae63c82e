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

from counterlens.models.base import Api
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.options import make
from counterlens.probes.probe import Context, Probe, Target
from counterlens.probes.prompts.templates import fill
from counterlens.probes.record import read, write_record
from counterlens.probes.runner import run_targets
from counterlens.reports.export.json import probe_document
from counterlens.syntax.document import Document

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "adding-a-probe.md").read_text(encoding="utf-8")
EXAMPLE = REPOSITORY / "examples" / "plugins" / "own-name-probe" / "own_name.py"


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Probe[Any, Any]:
    """The probe of the guide, imported from its package."""
    spec = spec_from_file_location("own_name", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "own_name", module)  # where its annotations are looked up
    spec.loader.exec_module(module)
    made = module.OwnNameProbe()
    assert isinstance(made, Probe)
    return made


def test_the_code_of_the_guide_is_that_of_the_package() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code == EXAMPLE.read_text(encoding="utf-8")


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
    plain = fill(model.info, "guide_probe", "what", 9, ("\n",), source="def f(): pass\n")
    assert plain.text.endswith("def f(): pass\n\n# What it does, in one sentence: It")
    assert plain.reply is None
    asked = replace(model.info, name="SmolLM2", api=Api.CHAT)
    special = fill(asked, "guide_probe", "what", 9, (), source="1")
    assert special.text == "Only for one model: 1"
    general = fill(replace(asked, name="Another"), "guide_probe", "what", 9, (), source="1")
    assert general.text == "1"
    assert general.reply is not None
    assert general.reply.instruction.startswith("Answer with one sentence")
