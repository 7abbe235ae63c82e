"""A repository's settings file: checked with its line, below the command line, and recorded."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from counterlens.cli.init import RepositoryFacts, starter
from counterlens.cli.main import main
from counterlens.errors import OptionError
from counterlens.evaluation import settings_file
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.settings_file import SettingsFile, known_entries, nearest
from counterlens.lsp.settings import read_settings
from counterlens.models.entries import ModelEntry, entry_text, user_file
from counterlens.models.files import EMBEDDED_MODEL

EXAMPLES = Path(__file__).parents[2] / "examples"


def written(folder: Path, text: str, name: str = "counterlens.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def read(folder: Path, text: str, name: str = "counterlens.toml") -> SettingsFile:
    found = settings_file.read(written(folder, text, name))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("limit = 3\n\nlimt = 4\n", ":3: there is no setting limt"),
        ("# limt\ntimeout = 'long'\n", ":2: timeout is 'long', but must be a number from 0.1 to 3600"),
        ("limit = 0\n", ":1: limit is 0, but must be an integer of at least 1"),
        ("limit = true\n", ":1: limit is True"),
        ("fail-under = 2\n", ":1: fail-under is 2, but must be a number from 0 to 1"),
        ("models = 3\n", ":1: models is 3, but must be a list, each a string"),
        ("tasks = ['completion',\n 'magic']\n", ":1: tasks is"),
        ("\nmutation = ['no-such']\n", ":2: there is no mutation 'no-such'"),
        ("prefix-ratio = '2'\n", ":1: a prefix ratio must be"),
        ("base-url = 'http://elsewhere'\n", ":1: there is no setting base-url"),
        ("limit = 3\nmodels = [\n", ":"),
        ("[options]\ntimeout = 3\n", ":1: there is no setting options"),
        ("limit = 3\n[models.a]\nbase-url = 'http://a'\nurl = 'x'\n", ":4: a model has no setting url"),
        ("limit = 3\n[models.a]\nmodel = 'x'\n", ":2: models.a has no base-url"),
        ("model = 3\n[models.a]\nbase-url = 'http://a'\n", ":1: model is 3, but must be a list"),
        ("model = ['a']\nmodels = ['b']\n", ": models and model are the same setting"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(OptionError, match=re.escape(f"{path}{said}")):
        settings_file.read(path)


def test_a_table_of_pyproject_is_read_with_its_own_lines(tmp_path: Path) -> None:
    other = '[project]\nname = "a"\nlimit = 9\n'
    assert settings_file.read(written(tmp_path, other, "pyproject.toml")) is None
    found = read(tmp_path, f"{other}[tool.counterlens]\nlimit = 4\n", "pyproject.toml")
    assert (found.run, found.given) == ({"limit": 4}, {})
    with pytest.raises(OptionError, match=r"pyproject\.toml:5: limit is 0"):
        read(tmp_path, f"{other}[tool.counterlens]\nlimit = 0\n", "pyproject.toml")


def test_models_have_names_beside_the_list_of_those_that_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    text = "model = ['near', 'smollm2-135m']\n[models.near]\nbase-url = 'http://127.0.0.1:1/v1'\n"
    found = read(tmp_path, text)
    near = ModelEntry("near", "http://127.0.0.1:1/v1", "near")
    assert (found.run, found.entries) == ({"models": ("near", "smollm2-135m")}, (near,))
    (tmp_path / "own").mkdir()
    own = tmp_path / "own"
    assert read(own, text.replace("['near', 'smollm2-135m']", "'near'")).run == {"models": ("near",)}
    assert read(own, "models = 'near'\n").run == {"models": ("near",)}
    (own / settings_file.NAME).unlink()
    of_pyproject = read(own, '[tool.counterlens.models.near]\nbase-url = "http://b"\n', "pyproject.toml")
    assert of_pyproject.entries == (ModelEntry("near", "http://b", "near"),)
    assert known_entries(found, "near", "far", EMBEDDED_MODEL) == (near,)
    assert known_entries(found, "far") == known_entries(None, "near") == ()
    mine = ModelEntry("near", "http://127.0.0.1:2/v1", "mine")
    user_file().parent.mkdir(parents=True)
    user_file().write_text(entry_text(mine))
    assert known_entries(found, "near") == (mine,)  # nobody's repository takes the place of the user's own


def test_the_editor_takes_a_name_that_the_user_chose_and_none_of_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    text = "model = ['near']\n[models.near]\nbase-url = 'http://127.0.0.1:1/v1'\n"
    file = read(tmp_path, text)
    settings, complaints = read_settings({"model": "near"}, file)
    assert not complaints
    assert settings.chosen_model[0] == "near"
    assert settings.chosen_model[1].entries == file.entries
    assert read_settings({}, file)[0].chosen_model[0] == EMBEDDED_MODEL
    user_file().parent.mkdir(parents=True)
    user_file().write_text("limit = 1\n")
    assert "there is no setting limit" in read_settings({"model": "near"}, file)[1][0]


def test_the_nearest_file_of_the_repository_counts(tmp_path: Path) -> None:
    inner = tmp_path / "repository" / "src" / "deep"
    inner.mkdir(parents=True)
    written(tmp_path, "limit = 1\n")
    found = nearest(inner)
    assert found is not None
    (tmp_path / "repository" / ".git").mkdir()
    assert nearest(inner) is None
    own = written(tmp_path / "repository", "paths = ['src/deep', 'docs']\n")
    found = nearest(inner)
    assert found is not None
    assert found.path == own
    assert found.paths_below(tmp_path / "repository") == ("src/deep", "docs")
    assert found.paths_below(tmp_path / "repository" / "src") == ("deep",)
    assert found.paths_below(inner) == ()


def test_what_init_writes_is_read_back_also_with_every_default(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "code", ignore=shutil.ignore_patterns("plugins"))
    facts = RepositoryFacts.of(tmp_path)
    assert facts.folders == ("code",)
    assert sum(facts.functions.values()) > 30
    text = starter(facts)
    assert read(tmp_path, text).run == {"paths": ("code",)}
    everything = re.sub(r"(?m)^# ([\w-]+ = .+)$", r"\1", text)
    found = read(tmp_path, everything)
    assert {"models", "tasks", "threads"} <= found.run.keys()
    assert {"timeout", "placebos", "prefix_ratio", "mutations"} <= found.given.keys()


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--plan", "--allow-weaker-sandbox"])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_the_command_line_comes_before_the_file_and_the_file_before_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("gcd.py", "parity.py", "sign.py"):
        shutil.copy(EXAMPLES / name, tmp_path)
    written(
        tmp_path,
        "models = ['m', 'n']\nlimit = 2\nprefix-ratio = 0.5\npaths = ['gcd.py', 'sign.py', 'parity.py']\n",
    )
    monkeypatch.chdir(tmp_path)
    code, out, _ = planned(capsys, "bench", "--out", "run")
    assert code == 0
    assert "models: m, n" in out
    assert "2 functions for each of 2 models" in out
    _, out, _ = planned(capsys, "bench", "--out", "run", "--limit", "1", "--model", "o")
    assert "models: o" in out
    assert "1 function for each" in out
    _, out, _ = planned(capsys, "bench", "--task", "name")  # takes no prefix ratio; a plan needs no folder
    assert "name: 2 functions" in out
    assert "its time is unknown" in out
    with pytest.raises(SystemExit):
        main(["--no-config", "bench", "--out", "run", "--plan"])
    assert "give the data" in capsys.readouterr().err
    written(tmp_path, "limits = 2\n")
    code, _, err = planned(capsys, "bench", "--out", "run")
    assert code == 2
    assert "counterlens.toml:1: there is no setting limits" in err


def test_the_manifest_names_the_file_and_a_comparison_of_runs_does_not_mind() -> None:
    used = settings_file_used()
    plain, filed = RunSettings.of(["completion"], "data"), RunSettings.of(["completion"], "data", **used)
    assert plain.differences(filed) == []
    assert RunSettings.from_json(filed.to_json()) == filed


def settings_file_used() -> dict[str, object]:
    from counterlens.evaluation.settings import SettingsUsed

    return {"settings_file": SettingsUsed("counterlens.toml", "0" * 64, ("limit",))}


@pytest.mark.parametrize(("value", "text"), [("20", "20"), ("'20'", "20"), ("'all'", "all")])
def test_layers_are_a_number_or_a_word(tmp_path: Path, value: str, text: str) -> None:
    file = read(tmp_path, f"gpu-layers = {value}\n")
    assert file.run == {"gpu_layers": text}
    settings, wrong = read_settings({"gpuLayers": "auto"}, file)
    assert (settings.chosen_model[1].gpu_layers, wrong) == (text, [])
    assert read_settings({"gpuLayers": "3"}, file)[0].gpu_layers == "3"


@pytest.mark.parametrize("value", ["-1", "true", "1.5", "'N'", "'many'", "''", "12345"])
def test_other_values_of_layers_are_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(OptionError, match="must be a number, all or auto"):
        read(tmp_path, f"gpu-layers = {value}\n")
    settings, wrong = read_settings({"gpuLayers": "many"})
    assert settings.gpu_layers == "auto"
    assert wrong == ["counterlens.gpuLayers is 'many', but must be a number, all or auto; using 'auto'"]


def test_the_editor_takes_what_it_has_the_default_of_and_no_model_from_elsewhere(tmp_path: Path) -> None:
    file = read(tmp_path, "models = ['near.gguf']\nthreads = 3\ntimeout = 4\nmax-tokens = 32\n")
    settings, wrong = read_settings({"model": "", "probe": {"timeout": 10}}, file)
    assert wrong == []
    assert (settings.model, settings.threads) == ("near.gguf", 3)
    assert settings.probe == {"timeout": 4.0, "max_tokens": 32}
    settings, _ = read_settings({"model": "mine.gguf", "threads": 1, "probe": {"timeout": 20}}, file)
    assert (settings.model, settings.threads, settings.probe["timeout"]) == ("mine.gguf", 1, 20)
    away = read(tmp_path, "models = ['remote:away']\n")
    assert read_settings({}, away)[0] == read_settings({})[0]
