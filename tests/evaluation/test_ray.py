"""The Ray engine on a real cluster of several nodes: nodes are killed, runs are stopped, nothing differs."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest

import counterlens
from counterlens.errors import CounterlensError
from counterlens.evaluation.engines.ray.cluster import RayCluster
from counterlens.evaluation.engines.ray.inside import Circumstances
from counterlens.evaluation.results import RunResults
from tests.conftest import short_model
from tests.current_folder.hostile import HostileFolder
from tests.evaluation import running
from tests.evaluation.running import FUNCTIONS, answered, reports, resume, run, wait_for, wait_for_an_answer
from tests.test_plugins import install

cluster_utils = pytest.importorskip("ray.cluster_utils", reason="ray is not installed")

pytestmark = pytest.mark.timeout(600)
LOST_SOON = {"health_check_period_ms": 1000}  # five checks have to fail; by default, that takes 15 s
TRUE_VERSION = f'__version__ = "{counterlens.__version__}"'
HELD = """
    import os
    from pathlib import Path
    from threading import Event
    from counterlens.errors import Cancelled
    from counterlens.models.llama.model import LlamaModel
    from counterlens.models.registry import Backend

    class Held(LlamaModel):
        calls = 0

        def complete(self, prompts, *, cancel=None, progress=None):
            self.calls += 1
            file = Path(os.environ.get("HELD_BY", "nothing"))
            while file.exists() and self.calls > int(file.read_text()):
                file.with_suffix(".met").touch()
                if (cancel or Event()).wait(0.05):
                    raise Cancelled
            return super().complete(prompts, cancel=cancel, progress=progress)

    def opened(spec, options):
        return Held(Path(os.environ["HELD_FILE"]), spec=spec, threads=options.threads)

    HELD = Backend("held", "a real one that a file holds", lambda spec: spec == "held", opened)
"""


@dataclass(frozen=True)
class Nodes:
    """A cluster: a head that works too, a worker, and a node with another version."""

    cluster: Any
    worker: Any
    holds: Path

    @property
    def where(self) -> list[str]:
        """The options that send a run there."""
        return ["--engine", "ray", "--address", self.cluster.address]

    def hold(self, **answers: int) -> None:
        """Hold the models of nodes, by the names of these, after a number of answers; no others."""
        for file in self.holds.iterdir():
            file.unlink()
        for node, count in answers.items():
            (self.holds / node).write_text(str(count))

    def release(self, node: str) -> None:
        """Let the models of a node go on."""
        (self.holds / node).unlink()

    def is_met(self, node: str) -> bool:
        """Whether a request has come to a model of a node that is held."""
        return (self.holds / f"{node}.met").exists()


@dataclass(frozen=True)
class Finished:
    """The reports on a finished run, and the keys of its requests."""

    reports: list[str]
    asked: Set[bytes]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Gives commands and nodes a real model that a file holds: without it, a run would end at any time."""
    site = tmp_path_factory.mktemp("held")
    install(site, "held-model", "[counterlens.models]\nheld = held_model:HELD\n", held_model=HELD)
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        patch.setenv("HELD_FILE", str(short_model()))
        yield path


@pytest.fixture(scope="module")
def nodes(held: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    holds = tmp_path_factory.mktemp("holds")
    package = Path(counterlens.__file__).parent
    older = tmp_path_factory.mktemp("older")
    shutil.copytree(package, older / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    version = older / package.name / "__init__.py"
    text = version.read_text()
    assert TRUE_VERSION in text
    version.write_text(text.replace(TRUE_VERSION, '__version__ = "0.0.1"'))
    cluster = cluster_utils.Cluster()
    try:
        cluster.add_node(
            num_cpus=1,
            include_dashboard=False,
            include_log_monitor=False,
            no_monitor=True,
            _system_config=LOST_SOON,
            env_vars={"HELD_BY": str(holds / "head")},
        )
        worker = cluster.add_node(num_cpus=1, env_vars={"HELD_BY": str(holds / "worker")})
        cluster.add_node(num_cpus=1, env_vars={"PYTHONPATH": os.pathsep.join([str(older), held])})
        yield Nodes(cluster, worker, holds)
    finally:
        cluster.shutdown()


def bench(place: Path, folder: Path, *more: str) -> list[str]:
    """The command of a run of a model that may be held."""
    return running.bench(place, folder, "--placebos", "0", *more, model="held")


@pytest.fixture(scope="module")
def uninterrupted(place: Path, held: str) -> Finished:  # noqa: ARG001
    """A finished run on this machine."""
    folder = place / "whole"
    done = run(bench(place, folder))
    assert done.returncode == 0, done.stderr
    assert f"All {FUNCTIONS} functions" in done.stdout
    return Finished(reports(folder), answered(folder).keys())


def models_of_nodes() -> set[int]:
    """The processes of models that were started from a node."""
    found = set()
    for process in psutil.process_iter():
        try:
            if "counterlens.models.llama.worker" in process.cmdline() and "RAY_JOB_ID" in process.environ():
                found.add(process.pid)
        except psutil.Error:
            continue
    return found


def none_left(seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while models_of_nodes() and time.monotonic() < deadline:
        time.sleep(0.1)
    return not models_of_nodes()


def started(command: list[str], folder: Path | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_node_is_killed_in_the_middle_and_nothing_is_lost_or_doubled(
    place: Path, uninterrupted: Finished, nodes: Nodes, tmp_path: Path
) -> None:
    folder, current = place / "nodes", HostileFolder(tmp_path)
    nodes.hold(worker=0, head=1)  # else the head may do everything before the worker has its model
    process = started(bench(place, folder, *nodes.where), current.path)
    try:
        wait_for(lambda: nodes.is_met("worker"), process)
        wait_for_an_answer(folder, process)
        nodes.cluster.remove_node(nodes.worker, allow_graceful=False)
        nodes.release("head")
        _, said = process.communicate()
    finally:
        process.kill()
    assert process.returncode == 0, said
    assert current.take_marks() == set()  # Ray would put it into the search path of its workers
    assert "is left out: counterlens is 0.0.1, here" in said
    assert "was lost; its requests are repeated" in said
    assert reports(folder) == uninterrupted.reports
    assert answered(folder).keys() == uninterrupted.asked
    assert len(RunResults.read(folder).records) == int(FUNCTIONS)
    assert none_left()


@pytest.mark.usefixtures("interruptible")
def test_a_run_is_stopped_on_a_cluster_and_goes_on_without_it(
    place: Path, uninterrupted: Finished, nodes: Nodes
) -> None:
    folder = place / "stopped"
    nodes.hold(head=1, worker=1)
    process = started(bench(place, folder, *nodes.where))
    try:
        wait_for_an_answer(folder, process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert none_left()
    before = answered(folder)
    resumed = run(resume(folder))
    assert resumed.returncode == 0, resumed.stderr
    assert before.items() <= answered(folder).items()
    assert reports(folder) == uninterrupted.reports


def test_a_model_that_no_node_has_is_said_with_the_node(place: Path, nodes: Nodes) -> None:
    done = run(running.bench(place, place / "none", *nodes.where, model="nowhere/such.gguf"))
    assert done.returncode == 1
    assert "on the node " in done.stderr
    assert "nowhere/such.gguf" in done.stderr
    assert "Traceback" not in done.stderr


def refused(address: str) -> str:
    with pytest.raises(CounterlensError) as error:
        RayCluster(address, lambda _: None)
    assert error.value.hint
    return str(error.value)


def test_an_address_without_a_cluster_is_refused_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert f"no Ray cluster answers at 127.0.0.1:{port}: Connection refused" in refused(f"127.0.0.1:{port}")
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        assert "is not a Ray cluster" in refused(f"127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
    assert "is not the address of a Ray cluster" in refused("ray://10.0.0.1:10001")
    assert "is not the address of a Ray cluster" in refused("somewhere")


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "counterlens[ray]" in refused("local")


def test_no_run_is_begun_where_there_is_no_cluster(
    tmp_path: Path,
    held: str,  # noqa: ARG001
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "one.py").write_text('def one():\n    """>>> one()\n    1\n    """\n    return 1\n')
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    done = run([*bench(tmp_path, tmp_path / "run"), "--engine", "ray", "--address", address])
    assert done.returncode == 1
    assert f"no Ray cluster answers at {address}" in done.stderr
    with pytest.raises(CounterlensError, match="there is no run"):
        RunResults.read(tmp_path / "run")


def test_options_of_a_cluster_need_the_engine(tmp_path: Path) -> None:
    done = run([*bench(tmp_path, tmp_path / "run"), "--replicas", "2"])
    assert done.returncode == 2
    assert "need --engine ray" in done.stderr


def test_a_node_has_to_fit() -> None:
    here = Circumstances((("counterlens", "1"), ("numpy", "2"), ("llama", None)), "a", frozenset({"reads"}))
    assert here.misfits(here) == []
    assert here.misfits(replace(here, versions=(("counterlens", "1"), ("numpy", None)))) == []
    other = Circumstances((("counterlens", "2"), ("llama", "3")), "a", frozenset())
    assert here.misfits(other) == [
        "counterlens is 2, here 1",
        "llama is 3, here not installed",
        "its sandbox does not isolate reads",
    ]
    assert here.misfits(replace(here, sandbox="b")) == ["its sandbox is b, here a"]
