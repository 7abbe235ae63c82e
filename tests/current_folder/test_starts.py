"""No entry point, and no process that one starts, runs code of the folder that it is called in."""

from __future__ import annotations

import shlex
import sqlite3
import subprocess
import sys
import sysconfig
from pathlib import Path
from threading import Event

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult
from pytest_lsp import make_test_lsp_client

from counterlens.lsp.bench_process import BenchProcess
from counterlens.lsp.runs import list_run
from counterlens.models import load
from counterlens.models.base import Model
from counterlens.sandbox.base import Job
from counterlens.sandbox.process import ProcessSandbox
from counterlens.sandbox.registry import best_sandbox
from tests.conftest import short_model
from tests.current_folder.hostile import SHOP, HostileFolder, short
from tests.lsp.conftest import initialize, open_file, scored, watch

CONSOLE = Path(sysconfig.get_path("scripts")) / "counterlens"
BENCH = ["--data", "problems.jsonl", "--max-tokens", "4", "--out", "run"]


@pytest.fixture
def folder(tmp_path: Path) -> HostileFolder:
    return HostileFolder(tmp_path)


def test_a_process_without_the_protection_leaves_marks(folder: HostileFolder) -> None:
    folder.call([sys.executable, "-m", "counterlens", "--version"])
    assert "__main__" in folder.take_marks()  # the folder's counterlens.py
    folder.call([sys.executable, "-c", "import numpy"])
    assert "numpy" in folder.take_marks()
    folder.call(["sh", "-c", "git status; python3"])
    assert folder.take_marks() == {"git", "python3"}


def test_every_module_of_our_processes_has_a_hostile_namesake(folder: HostileFolder) -> None:
    modules = (
        "counterlens.cli.main, counterlens.lsp.server, counterlens.mcp.server, counterlens.sandbox.zygote, "
        "counterlens.models.llama.worker, counterlens.models.llama.native, counterlens.models.onnx.worker, "
        "llama_cpp, jinja2, onnxruntime, tokenizers"
    )
    show = f"""import sys, {modules}
with_spec = [name for name, module in sys.modules.items() if getattr(module, "__spec__", None)]
print(*{{name.partition(".")[0] for name in with_spec}})"""
    done = subprocess.run([sys.executable, "-P", "-c", show], capture_output=True, text=True, check=True)
    names = {*done.stdout.split()}
    assert len(names) > 200
    assert names - {path.stem for path in folder.path.glob("*.py")} == set()


@pytest.mark.parametrize(
    "start", [[str(CONSOLE)], [sys.executable, "-P", "-m", "counterlens"]], ids=["console", "-P"]
)
def test_the_command_line_scores(folder: HostileFolder, start: list[str]) -> None:
    done = folder.call([*start, "score", "target.py", *short()])
    assert done.returncode == 0, done.stderr.decode()
    assert folder.take_marks() == set()


def test_without_the_option_only_what_python_runs_before_us_is_open(folder: HostileFolder) -> None:
    (folder.path / "counterlens.py").unlink()
    folder.call([sys.executable, "-m", "no_module"])
    before = folder.take_marks()
    done = folder.call([sys.executable, "-m", "counterlens", "score", "target.py", *short()])
    assert done.returncode == 0, done.stderr.decode()
    assert folder.take_marks() <= before


async def test_the_language_server_scores_a_file_of_the_folder(folder: HostileFolder) -> None:
    client = make_test_lsp_client()
    watch(client)
    await client.start_io(str(CONSOLE), "serve", "--stdio", cwd=folder.path, env=folder.environment())
    try:
        await client.initialize_session(initialize(trusted=False))
        await scored(client, open_file(client, folder.path / "target.py", SHOP))
    finally:
        await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]
    assert folder.take_marks() == set()


async def test_a_tool_of_an_assistant_scores(folder: HostileFolder) -> None:
    started = StdioServerParameters(
        command=str(CONSOLE), args=["mcp", *short()], env=folder.environment(), cwd=folder.path
    )
    async with Client(started) as client:
        result = await client.call_tool("counterlens_confidence", {"path": "target.py", "function": "total"})
        assert isinstance(result, CallToolResult)
        assert not result.is_error, result
    assert folder.take_marks() == set()


def test_the_editor_benches_and_the_listed_command_resumes(
    folder: HostileFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Event()
    for name, value in folder.environment().items():
        monkeypatch.setenv(name, value)
    process = BenchProcess([*BENCH, *short()], folder.path, lambda _: None, lambda _: ended.set())
    assert ended.wait(280)
    process.stop()
    run = folder.path / "run"
    assert list_run(run).done == list_run(run).total == 1, process.error_output
    with sqlite3.connect(run / "run.sqlite") as database:
        database.execute("DELETE FROM records")
    done = folder.call(shlex.split(list_run(run).resume))
    assert done.returncode == 0, done.stderr.decode()
    assert list_run(run).done == 1
    assert folder.take_marks() == set()


def test_no_variable_of_the_folder_reaches_a_process(
    folder: HostileFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    from tests.models.onnx.exporting import export

    exported = export(tmp_path / "exported", causal=True).spec
    monkeypatch.delenv("COUNTERLENS_TRUST")
    for name, value in folder.variables().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder.path)
    for spec in (str(short_model()), exported):
        with load(spec) as model:
            assert isinstance(model, Model)
            assert len(model.score("x = 1\n").end)
    job = Job({"main.py": b"import json; print(json.dumps(1))"}, "main.py", Path(sys.executable))
    for sandbox in (best_sandbox(), ProcessSandbox(), ProcessSandbox(warm=False)):
        assert sandbox.run(job).output == b"1\n"
    assert folder.take_marks() == set()
