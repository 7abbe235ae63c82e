"""The default model: the user's choice, else the code model that is here, else the embedded one."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from counterlens.errors import OptionError
from counterlens.evaluation.settings import RunSettings
from counterlens.models import code_models, load, registry
from counterlens.models.base import Api
from counterlens.models.code_models import code_model_here
from counterlens.models.default import RECOMMENDED, VARIABLE, default_model, recommended_model, use_by_default
from counterlens.models.entries import user_entries, user_file
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.models.registry import Options, runs_here
from tests.conftest import short_model


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (VARIABLE, "HF_HUB_CACHE", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def store(home: Path) -> None:
    """Put a file where the recommended model's is stored; only whether it is there is asked."""
    file = home / "cache" / "counterlens" / "code-models" / recommended_model().file
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF")
    assert code_model_here(recommended_model()) == file


def test_the_embedded_model_is_asked_where_there_is_no_other_and_says_so() -> None:
    assert default_model().spec == EMBEDDED_MODEL
    assert f"counterlens models fetch {RECOMMENDED} (0.5 GB)" in default_model().advice


def test_the_code_model_is_asked_where_it_is(home: Path) -> None:
    store(home)
    assert default_model().spec == RECOMMENDED
    assert default_model().advice == ""
    assert runs_here(RECOMMENDED)


def test_the_user_chooses(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store(home)
    use_by_default(EMBEDDED_MODEL)
    assert default_model().spec == EMBEDDED_MODEL
    assert default_model().advice == ""
    monkeypatch.setenv(VARIABLE, "remote:mine")
    assert default_model().spec == "remote:mine"


@pytest.mark.parametrize(
    "before",
    [
        "",
        'model = "old"\n',
        '# mine\n[models.fast]\nbase-url = "http://127.0.0.1:1/v1"\nmodel = "coder"\n',
        'model = "old [1]" # with a bracket\n\n[models.fast]\nbase-url = "http://127.0.0.1:1/v1"\n',
        '[models.fast]\nbase-url = "http://127.0.0.1:1/v1"\n',
    ],
)
def test_a_choice_leaves_the_rest_of_the_file_as_it_is(before: str) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text(before)
    entries = user_entries()
    use_by_default('a "quoted" [name].gguf')
    use_by_default("other.gguf")
    assert default_model().spec == "other.gguf"
    assert user_entries() == entries
    after = tomllib.loads(user_file().read_text())
    assert {**after, "model": None} == {**tomllib.loads(before), "model": None}
    assert ("# mine" in before) == ("# mine" in user_file().read_text())


@pytest.mark.parametrize("text", ["model = ['a', 'b']", "models = ['a']", "model = 'a'"])
def test_one_name_or_several_are_understood_alike(text: str) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text(text)
    assert default_model().spec == "a"


@pytest.mark.parametrize(
    ("text", "problem"),
    [("model = 3", "model is not a name"), ("model = 'a'\nmodels = ['b']", "are the same setting")],
)
def test_another_kind_of_value_is_refused(text: str, problem: str) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text(text)
    with pytest.raises(OptionError, match=problem):
        default_model()


def test_a_model_is_asked_in_its_own_prompt_format_unless_the_user_chooses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chats = replace(recommended_model(), api=Api.CHAT, sha256="")
    monkeypatch.setattr(registry, "code_model", lambda spec: chats if spec == RECOMMENDED else None)
    monkeypatch.setattr(code_models, "fetch_code_model", lambda *_: short_model(endless=True))
    for chosen, api in ((None, Api.CHAT), ("completions", Api.COMPLETIONS), ("chat", Api.CHAT)):
        with load(RECOMMENDED, Options(api=chosen)) as model:
            assert model.info.api is api
        settings = RunSettings(("completion",), "humaneval", (RECOMMENDED, "remote:m"), api=chosen)
        assert settings.served(RECOMMENDED)[0] == api
        assert settings.served("remote:m")[0] == (chosen or "completions")
