"""One question gets one record, byte for byte, on every face: terminal, editor, assistants, evaluation."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_lsp
from jsonschema.validators import validator_for
from lsprotocol import types
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult
from pytest_lsp import LanguageClient

from counterlens.evaluation.results import RunResults
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.probes.options import specs
from counterlens.probes.probe import Need
from counterlens.probes.record import plain, read, schema
from counterlens.probes.registry import PROBES
from tests.collapsed import collapsed, figures
from tests.conftest import embedded_file, short_model
from tests.lsp.conftest import CONFIG, configure, initialize, open_file, watch
from tests.lsp.test_tasks import ask

EXAMPLES = Path(__file__).parents[1] / "examples"
NOT_HERE = {Need.CORPUS, Need.BUG, Need.BENCHMARK}
"""What a function of a repository lacks."""
TASKS = [name for name, probe in PROBES.items() if not NOT_HERE & probe.needs]
OPTIONS = {"timeout": 30.0, "max_tokens": 8}
FLAGS = [part for name, value in OPTIONS.items() for part in (f"--{name.replace('_', '-')}", str(value))]
ALLOWED = ["--allow-weaker-sandbox", "--trust"]

TRAINED = ["name", "output"]
"""Tasks in which only a trained model's text has an answer, and only an answer gives figures."""
POSITIVE = '''\
def positive(number: int) -> bool:
    """Whether a number is above zero.

    >>> positive(3)
    True
    >>> positive(-1)
    False
    """
    return number > 0
'''


@dataclass(frozen=True)
class Asked:
    """A model, the function that it is asked about on every face (in a file of its name), and the tasks."""

    model: str
    function: str
    tasks: list[str]

    @property
    def file(self) -> str:
        return f"{self.function}.py"

    @property
    def target(self) -> str:
        return f"{self.file}::{self.function}"


@pytest.fixture(scope="module")
def asked() -> tuple[Asked, Asked]:
    """All tasks: a short model where any will do, and a trained one for a function with few changes."""
    embedded_file()
    short = Asked(str(short_model()), "larger", [task for task in TASKS if task not in TRAINED])
    return short, Asked(EMBEDDED_MODEL, "positive", TRAINED)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file for each function, as a repository and as a workspace."""
    place = tmp_path_factory.mktemp("faces")
    shutil.copy(EXAMPLES / "larger.py", place)
    (place / "positive.py").write_text(POSITIVE, encoding="utf-8")
    return place


def command(folder: Path, *arguments: str) -> str:
    """The output of the command line in a folder."""
    full = [sys.executable, "-m", "counterlens", *arguments, *ALLOWED]
    done = subprocess.run(full, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def taken(task: str) -> dict[str, float]:
    """The options of all faces, as far as a probe takes them."""
    return {name: value for name, value in OPTIONS.items() if name in specs(PROBES[task].options)}


def line(record: dict[str, Any]) -> str:
    """A record as canonical JSON."""
    return msgspec.json.encode(record, order="sorted").decode()


@pytest.fixture(scope="module")
def benched(
    folder: Path, asked: tuple[Asked, Asked], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The record of each probe in the store of a run."""
    found = {}
    for each in asked:
        out = tmp_path_factory.mktemp("run") / "run"
        named = [part for task in each.tasks for part in ("--task", task)]
        chosen = ["--data", "repo:.", "--paths", each.file, "--model", each.model, "--out", str(out)]
        command(folder, "bench", *chosen, *FLAGS, *named)
        found |= {item.task: line(plain(stored.record)) for item, stored in RunResults.read(out).records}
    return found


def test_the_terminal_gives_the_record_of_a_run(
    folder: Path, asked: tuple[Asked, Asked], benched: dict[str, str]
) -> None:
    short, trained = asked
    everything = probed(folder, short, "all")
    assert set(TASKS) <= set(everything)
    printed = {task: everything[task] for task in short.tasks}
    for task in trained.tasks:
        printed |= probed(folder, trained, task)
    published = schema({name: probe.record for name, probe in PROBES.items()})
    validator = validator_for(published)(published)
    for each, task in each_task(asked):
        assert line(printed[task]) == benched[task]
        assert printed[task]["target"] == each.target
        validator.evolve(schema=published["properties"][task]).validate(printed[task])


def probed(folder: Path, asked: Asked, task: str) -> dict[str, dict[str, Any]]:
    """The records that `counterlens probe` prints for one task, or for all, by task."""
    chosen = ["--model", asked.model, "--task", task, "--json"]
    document = json.loads(command(folder, "probe", asked.target, *chosen, *FLAGS))
    results = document["results"] if task == "all" else [document]
    return {record["probe"]: record for result in results for record in result["records"]}


def each_task(asked: tuple[Asked, Asked]) -> list[tuple[Asked, str]]:
    return [(each, task) for each in asked for task in each.tasks]


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
    # No error rates of this model are known.
    assert seen == set(TASKS) - {"recognition"}


async def test_an_assistant_gets_the_record_of_a_run(
    folder: Path, asked: tuple[Asked, Asked], benched: dict[str, str]
) -> None:
    for each in asked:
        arguments = ["-m", "counterlens", "mcp", "--root", str(folder), "--model", each.model, *ALLOWED]
        # By default, a server would not get the variables that name the cache of the tests.
        started = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ})
        async with Client(started) as client:
            for task in each.tasks:
                of = {"path": each.file, "function": each.function, "task": task, "options": taken(task)}
                found = await client.call_tool("counterlens_probe_function", of)
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
    parameters = initialize()
    parameters.workspace_folders = [types.WorkspaceFolder(uri=folder.as_uri(), name="faces")]
    await lsp_client.initialize_session(parameters)
    yield
    await lsp_client.shutdown_session()


async def test_the_editor_gets_the_record_of_a_run(
    editor: LanguageClient, folder: Path, asked: tuple[Asked, Asked], benched: dict[str, str]
) -> None:
    for each in asked:
        configure(
            editor,
            model=each.model,
            probe={"timeout": OPTIONS["timeout"], "maxTokens": OPTIONS["max_tokens"]},
            sandbox={"allowWeaker": True},
        )
        path = folder / each.file
        uri = open_file(editor, path, path.read_text(encoding="utf-8"))
        answer = await ask(editor, "counterlens.probeTasks", uri, function=each.function, tasks=each.tasks)
        assert answer.ok, answer.error
        assert [ended.task for ended in answer.tasks] == each.tasks
        for ended in answer.tasks:
            (record,) = ended.records
            assert line(json.loads(json.dumps(record, default=vars))) == benched[ended.task]
