"""The boundary: nothing of a repository runs before its user has said so, and nothing outside is read."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from lsprotocol import types

from counterlens.cli.main import cli
from counterlens.cli.sources import files_of
from counterlens.datasets.repository import python_files
from counterlens.errors import SourceError
from counterlens.judging.projects import confine, interpreter_for
from counterlens.lsp import consent
from counterlens.mcp.workspace import ToolWorkspace
from counterlens.models.registry import Options
from counterlens.probes.operator.memorisation import _source_files
from counterlens.python.judging.discovery import files_with_tests
from counterlens.python.judging.layout import layout_of
from counterlens.python.judging.suite import Suite
from counterlens.sandbox import registry
from counterlens.trust import TrustError, is_trusted, remember, repository_of, require_trust, trusted_folders


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user of our own, who has trusted nothing."""
    monkeypatch.delenv("COUNTERLENS_TRUST")
    folder = tmp_path / "config"
    monkeypatch.setattr("platformdirs.user_config_dir", lambda name: str(folder / name))
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("")
    (folder / "m.py").write_text("def f(x):\n    return x + 1\n")
    (folder / "test_m.py").write_text("from m import f\n\ndef test_f():\n    assert f(1) == 2\n")
    return folder


def judged(repository: Path, *options: str) -> Result:
    given = ["judge", str(repository / "m.py"), "--tests", str(repository / "test_m.py"), *options]
    return CliRunner().invoke(cli, given)


@pytest.mark.parametrize("shared", ["home", "above", "temporary", "dotfiles"])
def test_a_file_in_a_shared_folder_is_trusted_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: str
) -> None:
    folder = tmp_path / "shared"
    for part in ("user", "cloned/.git"):
        (folder / part).mkdir(parents=True)
    if shared == "dotfiles":
        (folder / ".git").mkdir()
    if shared == "temporary":
        monkeypatch.setattr("tempfile.gettempdir", lambda: str(folder))
    else:
        home = folder / "user" if shared == "above" else folder
        monkeypatch.setattr(Path, "home", lambda: home)
    for name in ("mine.py", "other.py", "cloned/theirs.py"):
        (folder / name).write_text("")
    remember(folder / "mine.py")
    assert trusted_folders() == [folder / "mine.py"]
    require_trust([folder / "mine.py"], "it")
    for name in ("other.py", "cloned/theirs.py", "cloned"):
        with pytest.raises(TrustError, match="is not trusted"):
            require_trust([folder / name], "it")
    remember(folder)  # who names the folder means it
    require_trust([folder / "cloned" / "theirs.py"], "it")


RUNS = [
    ["judge", "m.py"],
    ["judge", "m.py", "--tests", "test_m.py"],
    ["judge", "m.py", "--against", "m.py"],
    ["probe", "m.py::f"],
    ["probe", "m.py::f", "--task", "repair"],
    ["probe", "m.py::f", "--task", "execution"],
    ["bench", "--data", "repo:.", "--out", "out"],
    ["bench", "--data", "repo:.", "--out", "out", "--plan"],
    ["changed"],
    ["check", "m.py", "--tests"],
    ["mutate", "m.py", "--settle"],
    ["data", "check", "repo:.", "--run"],
]


@pytest.mark.parametrize("given", RUNS, ids=" ".join)
def test_what_runs_programs_of_a_repository_says_so_first(
    given: list[str], repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> None:
        raise AssertionError("a program was run, or a model was opened")

    registry.choose()  # which tries what it claims with a program of ours
    monkeypatch.chdir(repository)
    monkeypatch.setattr("counterlens.sandbox.process.ProcessSandbox.run", run)
    monkeypatch.setattr("counterlens.cli.options.ChosenModel.opened", run)
    found = CliRunner().invoke(cli, given)
    assert isinstance(found.exception, TrustError), found.exception
    assert str(repository) in found.exception.message
    assert "its tests" in found.exception.message
    assert "--trust" in (found.exception.hint or "")


def test_what_reads_needs_no_trust(repository: Path) -> None:
    assert CliRunner().invoke(cli, ["mutate", str(repository / "m.py")]).exit_code == 0
    assert CliRunner().invoke(cli, ["dependence", f"{repository / 'm.py'}::f"]).exit_code == 0


def test_trust_is_said_once_for_each_repository(repository: Path, config: Path, tmp_path: Path) -> None:
    assert "passed" in judged(repository, "--trust").output
    assert "passed" in judged(repository).output
    assert json.loads((config / "counterlens" / "trusted-folders.json").read_text()) == [str(repository)]
    other = tmp_path / "other"
    other.mkdir()
    (other / "test_m.py").write_text("")
    found = CliRunner().invoke(cli, ["judge", str(repository / "m.py"), "--tests", str(other / "test_m.py")])
    assert isinstance(found.exception, TrustError)


def test_the_environment_says_it_for_a_while(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERLENS_TRUST", "1")
    assert "passed" in judged(repository).output
    assert trusted_folders() == []


@pytest.mark.parametrize("answer", ["y", "n"])
def test_a_terminal_asks(answer: str, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("counterlens.cli.options.at_terminal", lambda: True)
    monkeypatch.setattr("click.confirm", lambda text, **_: asked.append(text) or answer == "y")
    found = judged(repository)
    assert len(asked) == 1
    assert ("passed" in found.output) is (answer == "y") is is_trusted(repository)


def test_what_an_editor_decided_beats_the_list(repository: Path) -> None:
    remember(repository)
    require_trust([repository], "tests")
    with pytest.raises(TrustError, match="restricted"):
        require_trust([repository], "tests", decided=False, refusal="restricted")
    require_trust([Path("/")], "tests", decided=True)


@pytest.mark.parametrize("text", ["", "[", "{}", "[1, null]", '["relative"]', "[" * 100_000])
def test_a_damaged_list_trusts_nothing(text: str, config: Path, repository: Path) -> None:
    (config / "counterlens").mkdir(parents=True)
    (config / "counterlens" / "trusted-folders.json").write_text(text)
    assert trusted_folders() == []
    remember(repository)
    assert trusted_folders() == [repository]


def test_a_repository_is_trusted_as_a_whole_and_by_where_a_link_leads(
    repository: Path, tmp_path: Path
) -> None:
    (repository / "package").mkdir()
    assert repository_of(repository / "package" / "a.py") == repository
    (tmp_path / "link").symlink_to(repository)
    assert repository_of(tmp_path / "link" / "m.py") == repository
    assert repository_of(tmp_path / "alone.py") == tmp_path


def test_an_assistant_runs_nothing_that_is_not_trusted(repository: Path) -> None:
    with pytest.raises(TrustError):
        ToolWorkspace(repository, "m", Options()).sandbox()
    assert ToolWorkspace(repository, "m", Options(), trusted=True, allow_weaker_sandbox=True).sandbox()


def test_nothing_above_the_root_is_read_or_run(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (inner / "__init__.py").write_text("")
    (repository / "__init__.py").write_text("")
    (inner / "g.py").write_text("def g():\n    return 1\n")
    (repository / "test_g.py").write_text("from inner.g import g\n\ndef test_g():\n    assert g() == 1\n")
    python = repository / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/false")
    (repository / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    workspace = ToolWorkspace(inner, "m", Options())
    place = layout_of(inner / "g.py", "from ... import x")
    assert (place.root, place.project, place.module) == (inner, inner, "g")
    assert place.readable == (inner,)
    assert interpreter_for(inner / "g.py") != python
    assert files_with_tests(place) == []
    (inner / "out.py").symlink_to(repository / "m.py")
    for outside in (
        "../m.py",
        str(repository / "m.py"),
        "out.py",
        "~/x.py",
        "/etc/passwd",
        "a\0.py",
        "\ud800.py",
    ):
        with pytest.raises(SourceError) as refused:
            workspace.read(outside)
        assert str(repository) not in str(refused.value).replace(outside, "")


def test_links_out_of_a_folder_are_not_followed(repository: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("def secret():\n    return 1\n")
    (repository / "link.py").symlink_to(secret)
    (repository / "test_link.py").symlink_to(secret)
    (repository / "circle.py").symlink_to(repository / "circle.py")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "more.py").write_text("x = 1\n")
    (repository / "linked").symlink_to(tmp_path / "folder")
    ours = {"m.py", "test_m.py"}
    assert {path.name for path in files_of([repository])} == ours
    assert {Path(name).name for name in python_files(repository)} == ours
    assert {path.name for path in _source_files(str(repository), "python")} == ours
    confine(repository)
    assert layout_of(repository / "m.py").project == repository


def test_a_pipe_among_the_files_holds_nothing_up(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opened it would wait for a writer for ever."""
    monkeypatch.setenv("COUNTERLENS_TRUST", "1")
    (repository / "tests").mkdir()
    for name in ("endless.py", "test_endless.py", "tests/test_more.py"):
        os.mkfifo(repository / name)
    (repository / "h.py").write_text("def h(x):\n    return x\n")
    for read in (files_of([repository]), python_files(repository), _source_files(str(repository), "python")):
        assert sorted(Path(name).name for name in read) == ["h.py", "m.py", "test_m.py"]
    found = CliRunner().invoke(cli, ["judge", str(repository / "h.py")])
    assert "nothing can judge it" in found.output, found
    assert Suite(repository).sources


class Editor:
    """One that shows a question, and gives an answer.

    Attributes:
        trusted: What it said of its workspace, if anything.
        asked: The questions.
    """

    def __init__(self, trusted: bool | None, answer: str | None = None) -> None:
        self.trusted, self._answer = trusted, answer
        self.asked: list[str] = []

    async def window_show_message_request_async(
        self, params: types.ShowMessageRequestParams
    ) -> types.MessageActionItem | None:
        self.asked.append(params.message)
        return types.MessageActionItem(self._answer) if self._answer else None


async def test_an_editor_that_says_nothing_asks_once_and_runs_nothing_unasked(repository: Path) -> None:
    place = repository / "m.py"
    silent = Editor(None, "Trust It")
    assert not consent.is_workspace_trusted(silent, place)
    assert consent.may_be_trusted(silent, place)
    assert silent.asked == []
    for _ in range(2):
        await consent.require_trusted_workspace(silent, place)
    assert len(silent.asked) == 1
    assert str(repository) in silent.asked[0]
    assert consent.is_workspace_trusted(Editor(None), place)


@pytest.mark.parametrize(
    ("editor", "questions"), [(Editor(False, "Trust It"), 0), (Editor(None, "Not Now"), 1), (Editor(None), 1)]
)
async def test_an_editor_that_does_not_trust_runs_nothing(
    repository: Path, editor: Editor, questions: int
) -> None:
    with pytest.raises(TrustError, match="untrusted workspace"):
        await consent.require_trusted_workspace(editor, repository / "m.py")
    assert len(editor.asked) == questions
    assert not trusted_folders()
    assert not consent.is_workspace_trusted(editor, repository / "m.py")


def test_an_editor_that_trusts_is_not_asked_and_the_environment_speaks_for_a_silent_one(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert consent.is_workspace_trusted(Editor(True), repository)
    monkeypatch.setenv("COUNTERLENS_TRUST", "1")
    assert consent.is_workspace_trusted(Editor(None), repository)
    assert not consent.is_workspace_trusted(Editor(False), repository)


def test_only_one_module_of_the_server_looks_at_what_the_editor_said() -> None:
    folder = Path(consent.__file__).parent
    readers = {
        path.name
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "trusted" and isinstance(node.ctx, ast.Load)
    }
    assert readers == {"consent.py"}
