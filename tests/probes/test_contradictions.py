"""Options that contradict each other, the model or the data are refused in every front end, at once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from counterlens.cli.main import main
from counterlens.errors import CounterlensError, OptionError, SourceError
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.settings import RunSettings
from counterlens.mcp import server
from counterlens.mcp.workspace import ToolWorkspace
from counterlens.models.base import Api, Capability, Completion, Model, ModelInfo
from counterlens.models.entries import ModelEntry
from counterlens.models.registry import Options
from counterlens.probes.options import make, specs
from counterlens.probes.probe import Context, Target
from counterlens.probes.protocols import PROTOCOLS, require_api
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import require_suited, run_targets
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

PYTHON = Target(Document('def f(a):\n    """Give a."""\n    return a\n'), "f")
JAVA = Target(Document("class A { int f(int a) { return a + 1; } }", language="java"), "A.f")
BARE = Target(Document("def f(a):\n    return a\n"), "f")
NOWHERE = "http://127.0.0.1:9/v1"


class Silent(Model):
    """A model that must not be asked anything."""

    info = ModelInfo("m", "m", "0", "there", frozenset(Capability))

    def __init__(self, api: Api) -> None:
        self.info = replace(self.info, api=api)  # type: ignore[misc]

    def complete(self, *_: object, **__: object) -> list[Completion]:
        raise AssertionError("it was asked")


def having(protocol: str) -> list[str]:
    """The tasks that a protocol is for."""
    return [
        name
        for name, probe in PROBES.items()
        if (spec := specs(probe.options).get("protocol")) and protocol in spec.choices
    ]


REFUSED = [
    (task, protocol.id, api)
    for protocol in PROTOCOLS.values()
    for task in having(protocol.id)
    for api in Api
    if api not in protocol.apis
]


def test_the_protocols_that_need_certain_prompt_formats() -> None:
    assert {(protocol, api) for _, protocol, api in REFUSED} == {
        ("empica", Api.COMPLETIONS),
        ("empica", Api.FILL),
        ("cacp", Api.FILL),
    }
    assert {task for task, protocol, _ in REFUSED if protocol == "empica"} == {
        *("dependence", "summary", "name", "output"),
    }


@pytest.mark.parametrize(("task", "protocol", "api"), REFUSED)
def test_a_prompt_format_that_contradicts_the_protocol_is_refused(
    tmp_path: Path, task: str, protocol: str, api: Api
) -> None:
    probe, said = PROBES[task], f"--protocol {protocol} is not for the prompt format {api}"
    with pytest.raises(OptionError, match=said) as refused:
        run_targets(
            probe, Context(Silent(api), best_sandbox), [PYTHON], make(probe.options, {"protocol": protocol})
        )
    assert "--api chat" in (refused.value.hint or "") or "--api completions" in (refused.value.hint or "")
    given = {"protocol": protocol} | ({"corpus": "nowhere"} if task == "memorisation" else {})
    settings = RunSettings.of([task], "nowhere", given, api=api.value, models=("remote:m",))
    with pytest.raises(OptionError, match=said):
        make_plan(settings, best_sandbox())
    (tmp_path / "a.py").write_text(PYTHON.document.text)
    workspace = ToolWorkspace(tmp_path, "remote:m", Options(base_url=NOWHERE, api=api.value), True, True)
    try:
        with pytest.raises(OptionError, match=said):
            server.probe(workspace, "a.py", "f", task, {"protocol": protocol}, Event(), lambda *_: None)
    finally:
        workspace.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_prompt_formats_of_a_protocol_are_accepted(protocol: str) -> None:
    for api in PROTOCOLS[protocol].apis:
        require_api(protocol, api)
    for api in Api:
        require_api("", api)


def test_a_named_model_has_the_prompt_format_of_its_entry() -> None:
    entry = ModelEntry("team", NOWHERE, "m", api="chat")
    settings = RunSettings.of(["name"], "nowhere", {"protocol": "empica"}, models=("team",), entries=(entry,))
    with pytest.raises(CounterlensError, match="nowhere"):
        make_plan(settings, best_sandbox())  # only the data is missing
    with pytest.raises(OptionError, match="prompt format completions"):
        make_plan(replace(settings, models=("team", "remote:m")), best_sandbox())


@pytest.mark.parametrize(
    ("task", "target", "given", "said"),
    [
        ("execution", JAVA, {"unroll": True}, "--unroll is not for Java"),
        ("completion", JAVA, {"protocol": "cacp"}, "--protocol cacp supports Python only"),
        ("completion", JAVA, {"reach": 3}, "--reach 3 supports Python only"),
        ("repair", JAVA, {"reach": 3}, "--reach 3 supports Python only"),
        ("dependent-execution", BARE, {}, "no description to implement"),
        ("specification", BARE, {}, "no description to implement"),
        ("dependent-execution", BARE, {"protocol": "codemind"}, "no description to implement"),
        ("specification", BARE, {"protocol": "codemind"}, "no description to implement"),
    ],
)
def test_an_option_or_a_task_that_suits_none_of_the_functions_is_refused(
    task: str, target: Target, given: dict[str, object], said: str
) -> None:
    probe = PROBES[task]
    options = make(probe.options, given)
    with pytest.raises((OptionError, SourceError), match=said):
        run_targets(probe, Context(Silent(Api.COMPLETIONS), best_sandbox), [target] * 2, options)
    if target is BARE:
        require_suited(probe, [BARE, PYTHON], options)


def test_the_protocol_leaves_out_unrolled_versions_in_java_one_by_one() -> None:
    probe = PROBES["execution"]
    require_suited(probe, [JAVA], make(probe.options, {"protocol": "codemind"}))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A dataset whose functions have no descriptions."""
    path = tmp_path / "cruxeval.jsonl"
    code = "def f(xs):\n    return xs[::-1]"
    rows = [
        {"id": f"sample_{i}", "code": code, "input": f"[{i}, 2]", "output": f"[2, {i}]"} for i in range(3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("task", ["dependent-execution", "specification"])
@pytest.mark.parametrize("command", ["probe", "bench"])
def test_a_dataset_without_descriptions_is_refused_for_tasks_that_need_them(
    data: Path, capsys: pytest.CaptureFixture[str], command: str, task: str
) -> None:
    out = ["--out", str(data.parent / "run")] if command == "bench" else []
    asked = ["-m", "remote:m", "--base-url", NOWHERE, "--allow-weaker-sandbox"]
    with pytest.raises(SystemExit) as ended:
        main([command, "--data", f"cruxeval:{data}", "--task", task, *asked, *out])
    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert f"the task {task} is for none of the 3 functions: it has no description to implement" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--task", "name", "--protocol", "empica"],
            "--protocol empica is not for the prompt format completions",
        ),
        (["--protocol", "cacp", "--api", "fill"], "--protocol cacp is not for the prompt format fill"),
    ],
)
@pytest.mark.parametrize("command", ["probe", "bench"])
def test_the_command_line_refuses_contradictions(
    data: Path, capsys: pytest.CaptureFixture[str], command: str, arguments: list[str], said: str
) -> None:
    out = ["--out", str(data.parent / "run")] if command == "bench" else []
    asked = ["-m", "remote:m", "--base-url", NOWHERE, "--allow-weaker-sandbox"]
    with pytest.raises(SystemExit) as ended:
        main([command, "--data", f"cruxeval:{data}", *arguments, *asked, *out])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
