"""One question gets one record, byte for byte, on every face: terminal, editor, assistants, evaluation."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import pytest_lsp
from lsprotocol import types
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult
from pytest_lsp import LanguageClient

from counterlens.evaluation.results import RunResults
from counterlens.models.registry import DEFAULT_MODEL
from counterlens.probes.options import specs
from counterlens.probes.probe import Need
from counterlens.probes.record import plain, read, schema
from counterlens.probes.registry import PROBES
from tests.collapsed import collapsed, figures
from tests.conftest import embedded_file
from tests.lsp.conftest import CONFIG, configure, initialize, open_file, watch
from tests.lsp.test_tasks import ask

pytestmark = pytest.mark.timeout(600)  # all probes with a trained model, on a machine that does other work

FUNCTION = "larger"
TASKS = [name for name, probe in PROBES.items() if not {Need.CORPUS, Need.BUG} & probe.needs]
OPTIONS = {"timeout": 30.0, "max_tokens": 12}
ALLOWED = ["--allow-weaker-sandbox", "--trust"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one file, as a repository and as a workspace."""
    embedded_file()
    place = tmp_path_factory.mktemp("faces")
    shutil.copy(Path(__file__).parents[1] / "examples" / f"{FUNCTION}.py", place)
    return place


def command(folder: Path, *arguments: str) -> str:
    """The output of the command line in a folder."""
    full = [sys.executable, "-m", "counterlens", *arguments, *ALLOWED]
    done = subprocess.run(full, cwd=folder, capture_output=True, text=True, check=False, timeout=580)
    assert done.returncode == 0, done.stderr
    return done.stdout


def taken(task: str) -> dict[str, float]:
    """The options of all faces, as far as a probe takes them."""
    return {name: value for name, value in OPTIONS.items() if name in specs(PROBES[task].options)}


FLAGS = [part for name, value in OPTIONS.items() for part in (f"--{name.replace('_', '-')}", str(value))]


def line(record: dict[str, Any]) -> str:
    """A record as canonical JSON."""
    return msgspec.json.encode(record, order="sorted").decode()


@pytest.fixture(scope="module")
def benched(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The record of each probe in the store of a run."""
    out = tmp_path_factory.mktemp("run") / "run"
    named = [part for task in TASKS for part in ("--task", task)]
    command(folder, "bench", "--data", "repo:.", "--out", str(out), *FLAGS, *named)
    return {item.task: line(plain(stored.record)) for item, stored in RunResults.read(out).records}


def test_the_terminal_gives_the_record_of_a_run(folder: Path, benched: dict[str, str]) -> None:
    target = f"{FUNCTION}.py::{FUNCTION}"
    document = json.loads(command(folder, "probe", target, "--task", "all", "--json", *FLAGS))
    printed = {record["probe"]: record for result in document["results"] for record in result["records"]}
    assert set(TASKS) <= set(printed)
    published = schema({name: probe.record for name, probe in PROBES.items()})
    for task in TASKS:
        assert line(printed[task]) == benched[task]
        assert printed[task]["target"] == target
        own = published["properties"][task]
        jsonschema.validate(printed[task], own | {"$defs": published["$defs"]})


@pytest.mark.parametrize("functions", [1, 2, 5, 12])
def test_no_interval_of_any_table_is_a_point(benched: dict[str, str], functions: int) -> None:
    """The same record of several functions is the worst case: nothing varies between them."""
    seen = set()
    for task, found in benched.items():
        record = read(found, PROBES[task].record)
        if not record.probed:
            continue
        alike = [replace(record, target=f"{record.target} {number}") for number in range(functions)]
        tables = [*PROBES[task].tables(alike, seed=0), *PROBES[task].side_by_side({"a": alike}, seed=0)]
        assert collapsed(tables) == []
        if figures(tables):
            seen.add(task)
    assert {"completion", "likelihood", "confidence", "operator"} <= seen


async def test_an_assistant_gets_the_record_of_a_run(folder: Path, benched: dict[str, str]) -> None:
    arguments = ["-m", "counterlens", "mcp", "--root", str(folder), *ALLOWED]
    # By default, a server would not get the variables that name the cache of the tests.
    started = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ})
    async with Client(started) as client:
        for task in TASKS:
            found = await client.call_tool(
                "counterlens_probe_function",
                {
                    "path": f"{FUNCTION}.py",
                    "function": FUNCTION,
                    "task": task,
                    "options": taken(task),
                },
            )
            assert isinstance(found, CallToolResult)
            if found.is_error:
                assert json.loads(benched[task])["outcome"] == "left out"
                continue
            assert found.structured_content is not None
            (record,) = found.structured_content["records"]
            assert line(record) == benched[task]


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    """An editor in which the folder is open."""
    watch(lsp_client)
    parameters = initialize({"model": DEFAULT_MODEL})
    parameters.workspace_folders = [types.WorkspaceFolder(uri=folder.as_uri(), name="faces")]
    await lsp_client.initialize_session(parameters)
    yield
    await lsp_client.shutdown_session()


async def test_the_editor_gets_the_record_of_a_run(
    editor: LanguageClient, folder: Path, benched: dict[str, str]
) -> None:
    configure(
        editor,
        model=DEFAULT_MODEL,
        probe={"timeout": OPTIONS["timeout"], "maxTokens": OPTIONS["max_tokens"]},
        sandbox={"allowWeaker": True},
    )
    path = folder / f"{FUNCTION}.py"
    uri = open_file(editor, path, path.read_text(encoding="utf-8"))
    answer = await ask(editor, "counterlens.probeTasks", uri, function=FUNCTION, tasks=TASKS)
    assert answer.ok, answer.error
    assert [ended.task for ended in answer.tasks] == TASKS
    for ended in answer.tasks:
        (record,) = ended.records
        assert line(json.loads(json.dumps(record, default=vars))) == benched[ended.task]
