"""The probe and the templates that docs/adding-a-probe.md builds work as the page says."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from counterlens.probes.task import Request, Target
from counterlens.reports.tables import task_json

from counterlens.models.base import Api
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.prompts.templates import filled
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-probe.md").read_text(encoding="utf-8")


def test_the_probe_of_the_guide_works(model: LlamaModel) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    space: dict[str, object] = {"__name__": "guide"}
    exec(code, space)  # noqa: S102
    kind = space["OwnNameTask"]
    assert isinstance(kind, type)
    document = Document("def larger(a, b):\n    return a if a > b else b\n")
    result = kind().run(Request(model, [Target(document, "larger")], best_sandbox))
    found = task_json(result)
    assert found["functions"][0]["target"] == "larger"
    assert found["functions"][0]["own"] < 0
    assert found["tables"][1]["rows"][0][1]["n"] == 1
    assert kind().tables([result.data, result.data], seed=0)[1].rows[0][0] == 2
    assert set(kind().measures(result.data)) == {"own name likelier"}


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
    plain = filled(model.info, "guide_probe", "what", 9, ("\n",), source="def f(): pass\n")
    assert plain.text.endswith("def f(): pass\n\n# What it does, in one sentence: It")
    assert plain.reply is None
    asked = replace(model.info, api=Api.CHAT)
    special = filled(asked, "guide_probe", "what", 9, (), source="1")
    assert special.text == "Only for one model: 1"
    general = filled(replace(asked, name="Another"), "guide_probe", "what", 9, (), source="1")
    assert general.text == "1"
    assert general.reply is not None
    assert general.reply.instruction.startswith("Answer with one sentence")
