"""Runs that are started in an editor: the plan first, then live progress, a pause, and the rest."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import platformdirs
import psutil
import pytest
import pytest_lsp
from pytest_lsp import LanguageClient

from counterlens.errors import ModelError
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings_file import SettingsFile, nearest
from counterlens.lsp.bench_process import bench_arguments, new_folder, tasks_of
from counterlens.lsp.settings import read_settings
from tests.lsp.conftest import CONFIG, initialize, own_model, until, watch
from tests.lsp.test_tasks import ask

EXAMPLES = Path(__file__).parents[2] / "examples"


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Functions with tests, under git."""
    for name in ("parity", "mean", "larger", "smaller"):
        (tmp_path / f"{name}.py").write_text((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
    git(tmp_path, "init", "-q")
    return tmp_path


def news_of(client: LanguageClient) -> list[Any]:
    news: list[Any] = []

    @client.feature("counterlens/runNews")
    def _news(params: Any) -> None:
        news.append(params)

    return news


def ended(news: list[Any]) -> Callable[[], bool]:
    return lambda: bool(news) and news[-1].state != "running"


async def test_a_run_is_planned_begun_paused_and_resumed(client: LanguageClient, repository: Path) -> None:
    (repository / "counterlens.toml").write_text('tasks = ["likelihood"]\n')
    news = news_of(client)
    rates = Path(platformdirs.user_cache_dir("counterlens")) / "run-rates.json"
    rates.unlink(missing_ok=True)  # those of other tests with this model
    plan = await ask(client, "counterlens.planRun", "", folder=str(repository))
    assert plan.ok, plan.error
    assert (plan.functions, plan.models, plan.settings) == (4, [own_model()], "counterlens.toml")
    assert [task.id for task in plan.tasks if task.chosen] == ["likelihood"]
    assert any("likelihood: 4 functions" in line for line in plan.lines)
    assert plan.seconds is None  # no run has shown it yet
    assert not (repository / "runs").exists()  # nothing is begun

    begun = await ask(client, "counterlens.startRun", "", folder=str(repository), seconds=plan.seconds)
    assert begun.ok, begun.error
    folder = Path(begun.folder)
    assert folder.parent == repository / "runs"
    assert "runs" not in git(repository, "status", "--porcelain")
    again = await ask(client, "counterlens.startRun", "", run=str(folder))
    assert not again.ok
    await until(lambda: any(one.total for one in news), 240)
    assert news[0].seconds == plan.seconds
    assert (await ask(client, "counterlens.stopRun", "", run=str(folder))).ok
    await until(ended(news), 240)
    assert news[-1].state == "paused", news[-1]
    left = len(RunResults.read(folder).records)
    assert left < 4

    assert (await ask(client, "counterlens.startRun", "", run=str(folder))).ok
    await until(lambda: news[-1].state == "done", 240)
    assert (news[-1].done, news[-1].total) == (4, 4)
    assert len(RunResults.read(folder).records) == 4
    assert not (await ask(client, "counterlens.stopRun", "", run=str(folder))).ok

    known = await ask(client, "counterlens.planRun", "", folder=str(repository))
    assert 0 < known.seconds < 600  # at the rate that it had


@pytest_lsp.fixture(config=CONFIG, loop_scope="session")
async def mortal_client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    """A client whose server may be killed."""
    watch(lsp_client)
    await lsp_client.initialize_session(initialize())
    yield


async def test_a_run_ends_with_the_server(mortal_client: LanguageClient, repository: Path) -> None:
    news_of(mortal_client)
    begun: SimpleNamespace = await ask(
        mortal_client, "counterlens.startRun", "", folder=str(repository), tasks=["likelihood"]
    )
    assert begun.ok, begun.error

    def running() -> list[psutil.Process]:
        found = []
        for process in psutil.Process().children(recursive=True):
            try:
                if begun.folder in process.cmdline():
                    found.append(process)
            except psutil.Error:
                continue
        return found

    await until(lambda: bool(running()), 240)
    (process,) = running()
    server = process.parent()
    assert server is not None
    assert "serve" in server.cmdline()
    server.kill()
    _gone, left = psutil.wait_procs([process], timeout=30)
    assert left == []


async def test_what_is_wrong_is_said_before_anything_is_begun(
    client: LanguageClient, repository: Path
) -> None:
    (repository / "counterlens.toml").write_text('tasks = "likelihood"\n')
    wrong = await ask(client, "counterlens.planRun", "", folder=str(repository))
    assert not wrong.ok
    assert "counterlens.toml:1" in wrong.error
    missing = await ask(client, "counterlens.planRun", "", folder=str(repository / "none"))
    assert "there is no folder" in missing.error
    empty = repository / "empty"
    empty.mkdir()
    (repository / "counterlens.toml").unlink()
    nothing = await ask(client, "counterlens.planRun", "", folder=str(empty))
    assert "has no Python files" in nothing.error


async def test_nothing_runs_where_the_workspace_is_not_trusted(
    untrusted_client: LanguageClient, repository: Path
) -> None:
    for command in ("planRun", "startRun"):
        answer = await ask(untrusted_client, f"counterlens.{command}", "", folder=str(repository))
        assert not answer.ok
        assert "trust" in answer.error


def arguments(raw: dict[str, Any], file: SettingsFile | None = None, *tasks: str) -> list[str]:
    settings, complaints = read_settings(raw, file)
    assert complaints == []
    return bench_arguments(settings, file, tasks_of(file, tasks))


def test_the_editors_settings_hold_where_they_are_not_the_default(tmp_path: Path) -> None:
    assert arguments({}) == ["--task", "completion", "--model", "smollm2-135m"]
    address = "http://127.0.0.1:1/v1"
    remote = {"model": "remote", "remote": {"baseUrl": address, "model": "m", "api": "chat"}}
    # What has no effect on the model would be refused.
    assert arguments(remote | {"threads": 2, "gpuLayers": "2", "mask": "piece"})[2:] == [
        *("--model", "remote:m", "--base-url", address, "--api", "chat")
    ]
    probe = {"probe": {"maxTokens": 33, "timeout": 10}, "threads": 2}
    assert arguments({"gpuLayers": "all"})[4:] == ["--gpu-layers", "all"]
    assert arguments(probe)[4:] == ["--threads", "2", "--max-tokens", "33"]
    assert "--max-tokens" not in arguments(probe, None, "likelihood")  # which does not take it

    (tmp_path / "counterlens.toml").write_text(
        'models = ["house.gguf"]\ntasks = ["likelihood"]\nthreads = 3\n'
    )
    file = nearest(tmp_path)
    assert arguments({}, file) == ["--task", "likelihood"]
    assert arguments({"model": "/my.gguf"}, file)[2:] == ["--model", "/my.gguf"]
    with pytest.raises(ModelError, match="whole repository"):
        arguments({"model": "editor:some"})


def test_runs_of_one_day_have_folders_of_their_own(tmp_path: Path) -> None:
    first = new_folder(tmp_path, "2026-11-23")
    first.mkdir()
    assert (first.name, new_folder(tmp_path, "2026-11-23").name) == ("2026-11-23", "2026-11-23-2")
    assert (tmp_path / "runs" / ".gitignore").read_text() == "*\n"
