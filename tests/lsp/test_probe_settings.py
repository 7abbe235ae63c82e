"""Settings of probes: how long programs may take, which programs are asked about, what compares summaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.evaluation import settings_file
from counterlens.lsp.probe_request import options_of
from counterlens.lsp.settings import EditorSettings, read_settings
from counterlens.probes.options import specs
from counterlens.probes.registry import PROBES
from tests.lsp.conftest import configure, open_file, until
from tests.lsp.test_tasks import SOURCE, ask

SLOW = SOURCE.replace("    if n < 0:", "    import time\n    time.sleep(0.15)\n    if n < 0:")
SENTENCE = "It tells the sign."
BODY = "    if n < 0:\n        return -1\n    return 1\n"


def play(client: LanguageClient, name: str, **settings: Any) -> None:
    """Choose a model of the editor: it writes a function's body, or a sentence to summarise one."""

    @client.feature("counterlens/complete")
    def _reply(params: Any) -> dict[str, str]:
        question = params.messages[-1].content
        return {"text": SENTENCE if "in one sentence" in question else BODY}

    configure(client, model=f"editor:{name}", **settings)


async def test_programs_have_as_long_as_the_setting_says(client: LanguageClient, tmp_path: Path) -> None:
    play(client, "slow", probe={"timeout": 0.1})
    uri = open_file(client, tmp_path / "slow.py", SLOW)
    refused = await ask(client, "counterlens.probe", uri, function="sign", mutations=["if-else-flip"])
    assert not refused.ok
    assert "longer than 0.1 s" in refused.error
    assert "counterlens.probe.timeout" in refused.error
    wanted = {"function": "sign", "tasks": ["completion"]}
    answer = await ask(client, "counterlens.probeTasks", uri, **wanted)
    assert "longer than 0.1 s" in answer.tasks[0].summary
    configure(client, model="editor:slow")
    answer = await ask(client, "counterlens.probeTasks", uri, **wanted)
    assert answer.tasks[0].state == "done", answer.markdown


async def test_the_programs_asked_about_can_be_the_models_own(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    play(client, "author")
    wanted = {"function": "sign", "tasks": ["summary"]}
    given = await ask(client, "counterlens.probeTasks", uri, **wanted)
    assert given.tasks[0].state == "done", given.markdown
    assert "as the model writes it" not in given.markdown
    configure(client, model="editor:author", probe={"code": "written"})
    written = await ask(client, "counterlens.probeTasks", uri, **wanted)
    assert written.tasks[0].state == "done", written.markdown
    assert written.markdown != given.markdown


async def test_summaries_are_compared_by_the_model_that_is_named(
    client: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(client, tmp_path / "sign.py", SOURCE)
    wanted = {"function": "sign", "tasks": ["likelihood", "summary"]}
    play(client, "compared", probe={"encoder": "smollm2-135m"})
    answer = await ask(client, "counterlens.probeTasks", uri, **wanted)
    assert answer.tasks[1].state == "done", answer.markdown
    assert "sentence embeddings (SmolLM2-135M-Instruct Q4_1, local)" in answer.markdown.replace("\\", ""), (
        answer.markdown
    )
    configure(client, model="editor:compared", probe={"encoder": str(tmp_path / "absent.gguf")})
    answer = await ask(client, "counterlens.probeTasks", uri, **wanted)
    states = {one.task: (one.state, one.summary) for one in answer.tasks}
    assert states["summary"][0] == "not run"
    assert "absent.gguf" in states["summary"][1]
    assert "gives no token probabilities" in states["likelihood"][1]  # of the model that is asked


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (
            {"probe": {"timeout": 0}},
            "counterlens.probe.timeout is 0, but must be a number from 0.1 to 3600; using 10.0",
        ),
        (
            {"probe": {"timeout": True}},
            "counterlens.probe.timeout is True, but must be a number from 0.1 to 3600",
        ),
        (
            {"probe": {"code": "buggy"}},
            "counterlens.probe.code is 'buggy', but must be one of given, written",
        ),
        ({"probe": {"encoder": 3}}, "counterlens.probe.encoder is 3, but must be a string"),
    ],
)
def test_a_bad_value_is_named_and_not_used(raw: dict[str, Any], complaint: str) -> None:
    settings, complaints = read_settings(raw)
    assert settings == read_settings({})[0]
    assert len(complaints) == 1
    assert complaints[0].startswith(complaint)


async def test_the_editor_is_told_of_a_bad_value(client: LanguageClient) -> None:
    configure(client, probe={"timeout": "long"})
    await until(lambda: any("counterlens.probe.timeout" in message.message for message in client.messages))
    assert client.messages[-1].type == types.MessageType.Warning


@pytest.mark.parametrize("raw", [{}, {"probe": {"maxTokens": None, "timeout": None}}])
def test_what_is_not_set_is_each_probes_own_default(raw: dict[str, Any]) -> None:
    settings, complaints = read_settings(raw)
    assert not complaints
    options = {probe.id: options_of(probe, settings) for probe in PROBES.values()}
    assert options == {probe.id: probe.options() for probe in PROBES.values()}
    tokens = {getattr(chosen, "max_tokens", None) for chosen in options.values()}
    assert {16, 64, 256} <= tokens  # of a name, a summary and a completion


def test_tokens_that_are_set_are_those_of_every_probe_that_takes_them() -> None:
    settings, complaints = read_settings({"probe": {"maxTokens": 48}})
    assert not complaints
    for probe in PROBES.values():
        if "max_tokens" in specs(probe.options):
            assert getattr(options_of(probe, settings), "max_tokens", None) == 48, probe.id


def test_what_a_masked_model_masks_is_a_setting_and_such_a_model_is_the_users_choice(tmp_path: Path) -> None:
    chosen, complaints = read_settings({"model": "onnx:/models/bert", "mask": "piece"})
    assert complaints == []
    assert chosen.chosen_model[0] == "onnx:/models/bert"
    assert chosen.chosen_model[1].mask == "piece"
    assert read_settings({"mask": "line"})[0].mask == "word"
    file = tmp_path / "counterlens.toml"
    file.write_text('models = ["onnx:owner/repo"]\nmask = "piece"\n')  # it comes with the code
    beside, _ = read_settings({}, settings_file.read(file))
    assert (beside.model, beside.mask) == (EditorSettings().model, "piece")
