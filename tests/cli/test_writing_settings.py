"""Any sequence of commands that write settings files, and of edits by hand, leaves files that are read."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from counterlens.evaluation import settings_file
from counterlens.models.entries import user_entries, user_file, user_model
from tests.cli.test_cli import Cli, Ran
from tests.models.remote.conftest import serving
from tests.models.remote.test_requests import whole

NAMES = ("near", "far", "v1.5", "coder-7b")
DEFAULTS = (*NAMES, "smollm2-135m", "remote:coder")
REPOSITORY = ("counterlens.toml", "pyproject.toml")
BY_HAND = {
    "user": (
        'model = "smollm2-135m"  # mine\n',
        'model = ["smollm2-135m"]\n',
        'models = [\n  "smollm2-135m",  # mine\n  "near",\n]\n',
        "# mine\n\"model\" = 'smollm2-135m'\n",
        'models = { far = { base-url = "http://127.0.0.1:1/v1" } }  # mine\n',
        '[models.near]\nbase-url = "http://127.0.0.1:1/v1"\n# mine\n',
        'models.near.base-url = "http://127.0.0.1:1/v1"\n',
    ),
    "counterlens.toml": (
        'model = "smollm2-135m"\nlimit = 3  # mine\n',
        'models = ["smollm2-135m"]\nlimit = 3  # mine\n',
        'limit = 3\n\n# mine\n[models.far]\nbase-url = "http://127.0.0.1:1/v1"\n',
    ),
    "pyproject.toml": (
        '[project]\nname = "a"  # mine\n',
        '[tool.counterlens]\nmodels = ["smollm2-135m"]\n\n[tool.other]\nx = 1  # mine\n',
        '[project]\nname = "a"\n\n[tool]\ncounterlens = { limit = 3 }  # mine\n',
        "tool.counterlens.limit = 3  # mine\n[tool.other]\nx = 1\n",
    ),
}


class Commands(RuleBasedStateMachine):
    """Runs commands on the user's file and those of a repository, and keeps what each file must say."""

    cli: Cli
    url: str
    begin: Callable[[Path], None]

    @initialize()
    def start(self) -> None:
        self.folder = TemporaryDirectory()
        root = Path(self.folder.name)
        (root / "code" / ".git").mkdir(parents=True)
        type(self).begin(root)
        self.default = ""
        self.entries: dict[str, set[str]] = {name: set() for name in ("user", *REPOSITORY)}
        self.settings = {name: without_models(name) for name in ("user", *REPOSITORY)}
        self.commented: dict[str, bool] = {}
        self.inline: dict[str, bool] = {}

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    @staticmethod
    def path(name: str) -> Path:
        return user_file() if name == "user" else Path(name)

    def run(self, *arguments: str) -> Ran:
        return type(self).cli(*arguments)

    @rule(file=st.sampled_from(tuple(BY_HAND)), which=st.integers(0, 9))
    def edit_by_hand(self, file: str, which: int) -> None:
        text = BY_HAND[file][which % len(BY_HAND[file])]
        path = self.path(file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        own = plain(file)
        models = own.get("models")
        self.entries[file] = set(models) if isinstance(models, dict) else set()
        self.settings[file] = without_models(file)
        self.commented[file] = "# mine" in text
        self.inline[file] = "counterlens = {" in text
        if file == "user":
            named = own.get("model", models if isinstance(models, list) else "")
            self.default = named[0] if isinstance(named, list) else named

    @rule(name=st.sampled_from(DEFAULTS))
    def use(self, name: str) -> None:
        ran = self.run("models", "use", name)
        file = "counterlens.toml" if Path("counterlens.toml").exists() else "pyproject.toml"
        here = name not in NAMES or name in self.entries["user"] | self.entries[file]
        assert (ran.code == 0) == here, ran.err
        self.default = name if here else self.default

    @rule(name=st.sampled_from(NAMES), file=st.sampled_from(tuple(BY_HAND)), dear=st.booleans())
    def add(self, name: str, file: str, dear: bool) -> None:
        further = ("--price", "0.1", "2", "--parameters", '{"top_k": 1, "a": {"b": [1]}}') if dear else ()
        to = () if file == "user" else ("--to", file)
        ran = self.run("models", "add", name, "--base-url", self.url, "-m", "coder", *further, *to)
        if self.inline.get(file) and ran.code == 2 and name not in self.entries[file]:
            assert "Change the file in an editor" in ran.err  # a table in one line takes no further table
            return
        assert (ran.code == 0) == (name not in self.entries[file]), ran.err
        self.entries[file].add(name)

    @rule(name=st.sampled_from(NAMES))
    def allow(self, name: str) -> None:
        self.run("models", "allow", name)

    @invariant()
    def files_are_read(self) -> None:
        if not hasattr(self, "folder"):
            return
        assert user_model() == self.default
        assert {entry.name for entry in user_entries()} == self.entries["user"]
        for name in REPOSITORY:
            if Path(name).exists():
                file = settings_file.read(Path(name))
                assert {entry.name for entry in (file.entries if file else ())} == self.entries[name]
        for name in ("user", *REPOSITORY):
            assert without_models(name) == self.settings[name]
            assert not self.commented.get(name) or "# mine" in self.path(name).read_text()


def plain(name: str) -> dict[str, Any]:
    """The settings in a file as they are written."""
    path = Commands.path(name)
    document = tomllib.loads(path.read_text()) if path.exists() else {}
    if name != "pyproject.toml":
        return document
    table = document.get("tool", {}).get("counterlens", {})
    assert isinstance(table, dict)
    return table


def without_models(name: str) -> dict[str, Any]:
    """What commands must not change: the other settings, and the names of models in a repository's file."""
    own = plain(name)
    others = {key: value for key, value in own.items() if key not in ("models", "model")}
    listed = [own[key] for key in ("model", "models") if isinstance(own.get(key), str | list)]
    return others if name == "user" else {**others, "model": listed}


def test_any_sequence_of_commands_leaves_files_that_are_read(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(root: Path) -> None:
        monkeypatch.chdir(root / "code")
        monkeypatch.setenv("XDG_CONFIG_HOME", str(root / "configuration"))

    for name in ("COUNTERLENS_API_KEY", "COUNTERLENS_BASE_URL", "COUNTERLENS_MODEL"):
        monkeypatch.delenv(name, raising=False)
    here = Path.cwd()
    with serving(whole(" a + b\n"), models=["coder"]) as server:
        machine = type("Here", (Commands,), {"cli": Cli(capfd), "url": server.url, "begin": begin})
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=25,
                stateful_step_count=8,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
    monkeypatch.chdir(here)


def test_what_a_user_wrote_beside_a_setting_stays(cli: Cli) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('# first\nmodel = [\n  "a",\n]  # mine\n\n[models.fast] # quick\nbase-url = "u"\n')
    assert cli("models", "use", "smollm2-135m").code == 0
    text = user_file().read_text()
    assert text == '# first\nmodel = "smollm2-135m"  # mine\n\n[models.fast] # quick\nbase-url = "u"\n'


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    return Cli(capfd)
