"""The packages of `examples/plugins`, installed by pip into a fresh environment: every face has them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult
from pytest_lsp import make_test_lsp_client

from tests.lsp.conftest import initialize, open_file, watch
from tests.lsp.test_tasks import ask

REPOSITORY = Path(__file__).parents[1]
PLUGINS = REPOSITORY / "examples" / "plugins"
PROBE, MODEL, FUNCTION = "own-name", "toy", "twice"
# The toy model prefers what it has read: `nnnnn` to `twice`, which is there once, and that to `xxxxx`.
SOURCE = "def twice(nnnnn):\n    return nnnnn + nnnnn if nnnnn else twice(0)\n"
TARGET = f"{FUNCTION}.py::{FUNCTION}"
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir")
OFFLINE = ("--no-index", "--no-deps", "--no-build-isolation")
PROBLEM = {
    "task_id": "made-up/0",
    "prompt": "def double(n):\n",
    "canonical_solution": "    return n + n\n",
    "test": "def check(f):\n    assert f(2) == 4\n",
    "entry_point": "double",
}


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment with the examples installed.

    Attributes:
        python: Its interpreter.
        folder: Where commands run; there is a file with a function.
        beside: A folder of further packages.
    """

    python: Path
    folder: Path
    beside: Path | None = None

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of its programs."""
        own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return own | {"COLUMNS": "200"} | ({"PYTHONPATH": str(self.beside)} if self.beside else {})

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run its interpreter, and check the exit code."""
        done = subprocess.run(
            [self.python, *arguments],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    def counterlens(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run the command line."""
        return self.run("-m", "counterlens", *arguments, code=code)

    def probe(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Ask the model of one plug-in what the probe of the other wants to know."""
        return self.counterlens("probe", TARGET, "--task", PROBE, "--model", MODEL, *arguments, code=code)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A fresh environment that has what developing needs, and both examples; nothing is downloaded."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / f"{FUNCTION}.py").write_text(SOURCE)
    # Developing needs pip, too, which takes long to be put into a fresh environment.
    create = [sys.executable, "-m", "venv", "--without-pip", str(folder / "environment")]
    subprocess.run(create, check=True)
    environment = Environment(folder / "environment" / "bin" / "python", folder)
    site = environment.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
    visible = (sysconfig.get_path("purelib"), REPOSITORY / "server")
    (Path(site) / "development.pth").write_text("".join(f"{path}\n" for path in visible))
    examples = [PLUGINS / "own-name-probe", PLUGINS / "toy-model", PLUGINS / "starlark-language"]
    environment.run(*PIP, *OFFLINE, *map(str, examples))
    for module in ("own_name.py", "toy_model.py", "starlark_language/language.py"):
        assert (Path(site) / module).is_file()
    return environment


@pytest.fixture(scope="module")
def broken(installed: Environment, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The same, beside a package whose module raises when it is imported."""
    package, beside = tmp_path_factory.mktemp("broken-plugin"), tmp_path_factory.mktemp("beside")
    (package / "broken_plugin.py").write_text("raise RuntimeError('no licence found')\n")
    (package / "pyproject.toml").write_text(
        dedent("""
            [build-system]
            requires = ["hatchling"]
            build-backend = "hatchling.build"
            [project]
            name = "broken-plugin"
            version = "1.0"
            [project.entry-points."counterlens.probes"]
            broken-probe = "broken_plugin:PROBE"
            [project.entry-points."counterlens.models"]
            broken-model = "broken_plugin:BACKEND"
            [tool.hatch.build.targets.wheel]
            include = ["broken_plugin.py"]
        """)
    )
    installed.run(*PIP, *OFFLINE, "--target", str(beside), str(package))
    return Environment(installed.python, installed.folder, beside)


def test_the_command_line_lists_the_probe_its_option_and_the_model(installed: Environment) -> None:
    shown = " ".join(installed.counterlens("probe", "--help-all").stdout.split())
    choices = shown.partition("--task [")[2].partition("]")[0].split("|")
    assert choices[0] == "completion"
    assert choices[-2:] == [PROBE, "all"]
    assert "--letter TEXT Letter that the meaningless name is made of. Tasks: own-name. [default: x]" in shown
    listed = installed.counterlens("models").stdout.splitlines()
    assert ["toy", "a", "toy", "that", "answers", "at", "once", "ready"] in [line.split() for line in listed]


def test_one_registration_is_a_language(installed: Environment) -> None:
    rules = installed.folder / "rules.bzl"
    rules.write_text(
        "def pick(a, b):\n    c = 1\n    if a < b:\n        return a + c\n    else:\n        return b\n"
        'load(":defs.bzl", "one", "two")\n'
    )
    scored = json.loads(installed.counterlens("score", str(rules), "--model", MODEL, "--json").stdout)
    assert scored["language"] == "starlark"
    mutated = json.loads(installed.counterlens("mutate", f"{rules}::pick", "--json").stdout)
    assert {one["mutation"] for one in mutated} == {"if-else-flip", "operand-swap", "rename-random"}
    (loaded,) = json.loads(
        installed.counterlens("mutate", str(rules), "--mutation", "load-reorder", "--json").stdout
    )
    assert 'load(":defs.bzl", "two", "one")' in loaded["source"]
    refused = installed.counterlens("dependence", f"{rules}::pick", code=1).stderr
    assert "the dependences of Starlark cannot be computed" in refused
    assert "Those of Python and Java can" in refused


def test_its_programs_are_judged_by_the_tests_beside_them_and_by_their_original(
    installed: Environment, tmp_path: Path
) -> None:
    right, wrong, tests = (tmp_path / name for name in ("pick.star", "wrong.star", "pick_test.star"))
    right.write_text("def pick(a, b):\n    if a < b:\n        return a\n    return b\n")
    wrong.write_text(right.read_text().replace("a < b", "a > b"))
    tests.write_text("def test_pick():\n    assert_eq(pick(1, 2), 1)\n    assert_eq(pick(3, 2), 2)\n")
    assert installed.counterlens("judge", str(right)).stdout.startswith("passed")
    failed = installed.counterlens("judge", str(wrong), "--tests", str(tests), code=1).stdout
    assert failed.startswith("failed")
    assert "2 is not 1" in failed
    tests.write_text("def test_pick():\n    assert_eq(pick(2, 2), 2)\n")
    judged = ("judge", str(wrong), "--tests", str(tests), "--against", str(right))
    assert installed.counterlens(*judged).stdout.startswith("passed, contested")
    right.write_text("class Pick:\n    pass\n")
    unread = installed.counterlens("judge", str(right), "--tests", str(tests), code=1).stdout
    assert "Starlark has no ClassDef" in unread


def test_the_probe_asks_the_model(installed: Environment) -> None:
    text = installed.probe().stdout
    assert "own-name: does it expect the name that the function has?" in text
    assert "asked of Toy (local)" in text
    assert "The own name was likelier for 1 of 1 functions." in text
    document = json.loads(installed.probe("--json").stdout)
    assert document["model"]["id"] == MODEL
    assert document["options"] == {"seed": 0, "letter": "x"}
    assert document["tables"][1]["rows"][0][1]["n"] == 1
    (record,) = document["records"]
    assert (record["probe"], record["target"], record["function"]) == (PROBE, TARGET, FUNCTION)
    assert record["meaningless"] < record["own"] < 0  # xxxxx is not in the body


def test_its_option_is_honoured_and_checked(installed: Environment) -> None:
    document = json.loads(installed.probe("--letter", "n", "--json").stdout)
    assert document["options"]["letter"] == "n"
    (record,) = document["records"]
    assert record["own"] < record["meaningless"] < 0  # nnnnn is, more than once
    assert "--letter is one letter, not 'nn'" in installed.probe("--letter", "nn", code=2).stderr
    refused = installed.probe("--mutation", "if-else-flip", code=2).stderr
    assert "--mutation is not an option of own-name" in refused
    refused = installed.counterlens("probe", TARGET, "--model", MODEL, "--letter", "n", code=2).stderr
    assert "--letter is not an option of completion" in refused
    assert "Choose one of own-name" in refused


def test_a_run_over_data_ends_and_is_reported(installed: Environment) -> None:
    (installed.folder / "data.jsonl").write_text(f"{json.dumps(PROBLEM)}\n")
    asked = ("--data", "data.jsonl", "--task", PROBE, "--model", MODEL, "--letter", "n")
    installed.counterlens("bench", *asked, "--out", "run")
    lines = installed.counterlens("report", "run").stdout.splitlines()
    assert ["toy", "1", "0"] in [line.split() for line in lines]  # probed, left out
    names, together = lines.index("names"), lines.index("together")
    assert lines[names + 1].split() == ["model", "function", "own", "meaningless"]
    assert lines[names + 2].split()[:2] == ["toy", "made-up/0"]
    assert lines[together + 2].split()[:2] == ["toy", "1"]
    whole = json.loads(installed.counterlens("report", "run", "--format", "json").stdout)
    assert '"letter": "n"' in json.dumps(whole)


async def test_assistants_see_and_use_it(installed: Environment) -> None:
    arguments = ["-m", "counterlens", "mcp", "--trust", "--root", str(installed.folder), "--model", MODEL]
    started = StdioServerParameters(command=str(installed.python), args=arguments, env=installed.variables)
    async with Client(started) as client:
        (tool,) = (
            tool for tool in (await client.list_tools()).tools if tool.name == "counterlens_probe_function"
        )
        options, _nothing = tool.input_schema["properties"]["options"]["anyOf"]
        assert options["properties"]["letter"] == {
            "type": "string",
            "description": "Letter that the meaningless name is made of. Tasks: own-name.",
        }
        tasks = await client.call_tool("counterlens_tasks", {})
        assert isinstance(tasks, CallToolResult)
        assert tasks.structured_content is not None
        assert tasks.structured_content["model"] == MODEL
        assert tasks.structured_content["tasks"][PROBE] == "does it expect the name that the function has?"
        asked = {"path": f"{FUNCTION}.py", "function": FUNCTION, "task": PROBE, "options": {"letter": "n"}}
        probed = await client.call_tool("counterlens_probe_function", asked)
        assert isinstance(probed, CallToolResult)
        assert probed.structured_content is not None
        (record,) = probed.structured_content["records"]
        assert record["own"] < record["meaningless"] < 0
        asked["options"] = {"letter": "nn"}
        refused = await client.call_tool("counterlens_probe_function", asked)
        assert isinstance(refused, CallToolResult)
        assert refused.is_error


async def test_the_editor_lists_and_runs_it(installed: Environment, tmp_path: Path) -> None:
    client = make_test_lsp_client()
    watch(client)
    await client.start_io(str(installed.python), "-m", "counterlens", "serve", "--stdio")
    try:
        await client.initialize_session(initialize(settings={"model": MODEL}))
        uri = open_file(client, tmp_path / f"{FUNCTION}.py", SOURCE)
        listing = await ask(client, "counterlens.tasks", uri, function=FUNCTION)
        assert (listing.ok, listing.model) == (True, "Toy")
        (task,) = (task for task in listing.tasks if task.id == PROBE)
        assert (task.title, task.available) == ("does it expect the name that the function has?", True)
        answer = await ask(client, "counterlens.probeTasks", uri, function=FUNCTION, tasks=[PROBE])
        assert answer.ok, answer.error
        (record,) = answer.tasks[0].records
        assert record.meaningless < record.own < 0
        assert "The own name was likelier for" in answer.tasks[0].summary
    finally:
        await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]


def test_a_plugin_that_cannot_be_imported_breaks_nothing_and_the_doctor_names_it(
    broken: Environment,
) -> None:
    help_text = broken.counterlens("probe", "--help-all").stdout
    assert f"|{PROBE}|all]" in help_text
    assert "broken" not in help_text
    models = json.loads(broken.counterlens("models", "list", "--json").stdout)
    assert models[-1]["id"] == MODEL
    document = json.loads(broken.counterlens("doctor", "--json", code=1).stdout)
    findings = {finding["name"]: finding for finding in document["findings"]}
    for name, group in (("broken-probe", "counterlens.probes"), ("broken-model", "counterlens.models")):
        assert findings[f"plug-in {name}"] == {
            "name": f"plug-in {name}",
            "ok": False,
            "detail": f"broken-plugin ({group}) cannot be loaded: RuntimeError: no licence found",
        }
    assert findings[f"plug-in {PROBE}"]["detail"] == "adds a probe"
    assert findings[f"plug-in {MODEL}"]["detail"] == "adds a model"
