"""Plug-ins: real entry points of a package that lies on the path, good ones and broken ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from counterlens import plugins
from counterlens.datasets import LOADERS, Loader
from counterlens.plugins import PluginFailure, Registry, load, projects_with_plugins
from counterlens.probes.probe import Probe
from counterlens.probes.registry import PROBES

GROUP = "counterlens.tests"


def install(folder: Path, name: str, entry_points: str, **modules: str) -> None:
    """Make a folder hold a package, as an installer would leave it there."""
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(dedent(entry_points))
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(dedent(text))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, and no failures from elsewhere."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plugins, "failures", [])
    yield tmp_path
    for module in [name for name in sys.modules if name.startswith("plugged")]:
        del sys.modules[module]


def test_plugins_are_loaded_in_order_and_failures_are_kept(site: Path) -> None:
    install(
        site,
        "plugged-things",
        f"""
        [{GROUP}]
        two = plugged_good:TWO
        one = plugged_good:ONE
        broken = plugged_broken:THING
        missing = plugged_good:NOTHING
        exits = plugged_exits
        """,
        plugged_good="ONE, TWO = 1, 2",
        plugged_broken="import a_package_that_is_not_there",
        plugged_exits="raise SystemExit('no licence')",
    )
    assert list(load(GROUP)) == [("one", 1), ("two", 2)]
    assert [(failure.group, failure.name, failure.distribution) for failure in plugins.failures] == [
        (GROUP, name, "plugged-things") for name in ("broken", "exits", "missing")
    ]
    errors = [failure.error for failure in plugins.failures]
    assert errors[0] == "ModuleNotFoundError: No module named 'a_package_that_is_not_there'"
    assert errors[1] == "SystemExit: no licence"
    assert "NOTHING" in errors[2]


def test_a_group_without_plugins_is_empty() -> None:
    assert list(load("counterlens.nothing")) == []
    registry = Registry("counterlens.nothing", ["a", "b"], name=str.upper, kind=str)
    assert dict(registry) == {"A": "a", "B": "b"}
    assert registry.added == {}


def test_a_registry_adds_entries_and_classes_of_them(site: Path) -> None:
    install(
        site,
        "plugged-words",
        f"""
        [{GROUP}]
        a-number = plugged_words:NUMBER
        an-own-name = plugged_words:OWN
        instance = plugged_words:WORD
        of-a-class = plugged_words:Word
        twice = plugged_words:WORD
        """,
        plugged_words="""
        WORD, OWN, NUMBER = "new", "own", 5
        class Word(str):
            def __new__(cls):
                return super().__new__(cls, "made")
        """,
    )
    registry = Registry(GROUP, ["own"], name=str.upper, kind=str)
    assert registry["OWN"] == "own"
    assert plugins.failures == []  # nothing is imported for an entry of our own
    assert list(registry.items()) == [("OWN", "own"), ("NEW", "new"), ("MADE", "made")]
    assert list(registry.added) == ["NEW", "MADE"]
    assert plugins.failures == [
        PluginFailure(GROUP, "a-number", "plugged-words", "TypeError: int is no str"),
        PluginFailure(GROUP, "an-own-name", "plugged-words", "ValueError: there is another 'OWN'"),
        PluginFailure(GROUP, "twice", "plugged-words", "ValueError: there is another 'NEW'"),
    ]
    assert len(registry) == 3
    with pytest.raises(KeyError):
        registry["NOTHING"]
    assert len(plugins.failures) == 3  # loaded once


def test_a_plugin_may_look_at_the_registry_that_loads_it(site: Path) -> None:
    install(
        site,
        "plugged-curious",
        f"[{GROUP}]\ncurious = plugged_curious:SEEN\n",
        plugged_curious="""
        import sys
        SEEN = "saw " + ", ".join(sys.modules["tests.test_plugins"].CURIOUS)
        """,
    )
    assert list(CURIOUS) == ["own", "saw own"]


CURIOUS = Registry(GROUP, ["own"], name=str, kind=str)

MODEL = """
from counterlens.models import Capability, Completion, Model, ModelInfo
from counterlens.models.registry import Backend

class Parrot(Model):
    info = ModelInfo("parrot:1", "Parrot", "parrot-1", "local", frozenset({Capability.COMPLETE}))

    def complete(self, prompts, *, cancel=None, progress=None):
        return [Completion(prompt.text[-3:], "length", 1) for prompt in prompts]

BACKEND = Backend("parrot:NAME", "says the end again", lambda spec: spec.startswith("parrot:"),
                  lambda spec, options: Parrot())
"""
MUTATION = """
from counterlens.mutations import Concept
from counterlens.python.mutations.mutation import PythonMutation

class Nothing(PythonMutation):
    id, concept, source, EXAMPLES = "nothing-at-all", Concept.NAMING, "-", ()

    def sites(self, context):
        yield from ()
"""
DATASET = """
from counterlens.datasets.base import Loader

class Empty(Loader):
    id, title, source, licence = "plugged-empty", "Empty", "-", "CC0-1.0"

    def recognises(self, path):
        return 0

    def problems(self, path):
        yield from ()
"""

LANGUAGE = """
from counterlens.languages.language import Language

TOY = Language(id="toy", title="Toy", suffixes=(".toy",), grammar="tree_sitter_python:language",
               functions="counterlens.python.syntax.concepts:python_definitions",
               judge="plugged_judges:TOY")
"""


def python(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a new interpreter that has the plug-ins on its path."""
    path = os.pathsep.join([str(site), *sys.path])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_models_mutations_and_datasets_take_plugins_and_the_doctor_names_the_broken_one(
    tmp_path: Path,
) -> None:
    install(
        tmp_path,
        "plugged-all",
        """
        [counterlens.models]
        parrot = plugged_model:BACKEND
        [counterlens.mutations]
        nothing = plugged_mutation:Nothing
        broken = plugged_broken:MUTATION
        taken = plugged_taken:MUTATION
        unclaimed = plugged_unclaimed:MUTATION
        [counterlens.datasets]
        empty = plugged_dataset:Empty
        [counterlens.languages]
        toy = plugged_language:TOY
        """,
        plugged_model=MODEL,
        plugged_mutation=MUTATION,
        plugged_dataset=DATASET,
        plugged_language=LANGUAGE,
        plugged_broken="1 / 0",
        plugged_taken=MUTATION.replace("nothing-at-all", "rename-random").replace("Nothing", "MUTATION"),
        plugged_unclaimed=MUTATION.replace("PythonMutation", "Mutation")
        .replace("nothing-at-all", "of-no-language")
        .replace("python.mutations.mutation", "mutations")
        .replace("Nothing", "MUTATION"),
    )
    asked = """
        from counterlens.models import Prompt, load
        with load("parrot:a/b") as model:  # the slash makes it no path
            print(model.complete([Prompt("x = 1")])[0].text)
        from counterlens.mutations import mutated, survey
        surveyed = survey("def f(): pass", mutations=["nothing-at-all"])
        known = [mutated(language).mutations for language in ("python", "java")]
        print(*("nothing-at-all" in each for each in known), len(surveyed.counterfactuals))
        from counterlens.datasets import LOADERS
        print(LOADERS["plugged-empty"].title)
        import plugged_model, plugged_mutation, plugged_dataset
    """
    used = python(tmp_path, "-c", dedent(asked))
    assert used.stdout.splitlines() == ["= 1", "True False 0", "Empty"], used.stderr
    # The other way round, too: a plug-in that is imported first imports what would load it.
    imported = python(tmp_path, "-c", "import plugged_model as m, plugged_mutation\nprint(m.BACKEND.form)")
    assert imported.stdout == "parrot:NAME\n", imported.stderr

    doctor = python(tmp_path, "-m", "counterlens", "doctor", "--json")
    findings = {finding["name"]: finding for finding in json.loads(doctor.stdout)["findings"]}
    assert findings["plug-in broken"] == {
        "name": "plug-in broken",
        "ok": False,
        "detail": "plugged-all (counterlens.mutations) cannot be loaded: ZeroDivisionError: division by zero",
    }
    for name, error in (
        ("taken", "ValueError: there is another 'rename-random'"),
        ("unclaimed", "TypeError: MUTATION is of the class of no language's mutations"),
    ):
        refused = f"plugged-all (counterlens.mutations) cannot be loaded: {error}"
        assert findings[f"plug-in {name}"]["detail"] == refused
    assert findings["plug-in parrot:NAME"]["detail"] == "adds a model"
    assert findings["plug-in nothing-at-all"]["detail"] == "adds a mutation"
    assert findings["plug-in plugged-empty"]["detail"] == "adds a dataset"
    toy = [finding for finding in json.loads(doctor.stdout)["findings"] if finding["name"] == "plug-in toy"]
    assert [(finding["ok"], finding["detail"]) for finding in toy] == [
        (None, "adds a language"),
        (
            False,
            "plugged_judges (counterlens.languages) cannot be loaded: its judge: ModuleNotFoundError: "
            "No module named 'plugged_judges'",
        ),
    ]
    assert doctor.returncode == 1


def test_a_built_in_entry_with_a_place_is_imported_when_it_is_looked_up() -> None:
    places = {"STRING": "string:ascii_lowercase", "COLLECTIONS": "a_package_that_is_not_there:NAME"}
    registry = Registry("counterlens.nothing", places=places, name=str.upper, kind=str)
    assert list(registry) == list(places)
    assert "COLLECTIONS" in list(registry)  # its name is known without an import
    assert registry["STRING"] == "abcdefghijklmnopqrstuvwxyz"
    with pytest.raises(ModuleNotFoundError):
        registry["COLLECTIONS"]


@pytest.mark.parametrize("registry", [PROBES, LOADERS], ids=["probes", "datasets"])
def test_an_entry_has_the_name_under_which_it_is_found(registry: Registry[Probe[Any, Any] | Loader]) -> None:
    assert [entry.id for entry in registry.values()] == list(registry)


IGNORED = "the plug-ins of plugged-here are ignored"
UNUSED = "the plug-ins of plugged-there, in {}, are not used, as the package is not installed"


@pytest.mark.parametrize("named", [True, False], ids=["PYTHONPATH", "current folder"])
def test_a_plugin_of_the_current_folder_does_not_run_and_is_named(tmp_path: Path, *, named: bool) -> None:
    install(
        tmp_path,
        "plugged-here",
        "[counterlens.models]\nparrot = plugged_here:BACKEND\n",
        plugged_here="from pathlib import Path\nPath('ran').touch()",
    )
    done = _in_folder(tmp_path, "models", path=str(tmp_path) if named else "", trust="")
    assert f"note: {IGNORED}" in done.stderr
    assert not (tmp_path / "ran").exists()
    if named:
        done = _in_folder(tmp_path, "models", path=str(tmp_path), trust="1")
        assert IGNORED not in done.stderr
        assert (tmp_path / "ran").exists()


def test_an_error_names_the_plugins_that_are_not_installed(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text("def f(x):\n    return x\n")
    _declare(tmp_path / "mine")
    failed = _in_folder(tmp_path, "mutate", "f.py", "--mutation", "mine")
    assert failed.returncode == 2
    assert f"note: {UNUSED.format('./mine')}: " in failed.stderr
    assert failed.stderr.rstrip().endswith("-m pip install ./mine")
    done = _in_folder(tmp_path, "mutate", "f.py")
    assert done.returncode == 0, done.stderr
    assert "plug-ins" not in done.stderr
    inside = _in_folder(tmp_path / "mine", "mutate", "none.py")
    assert f"note: {UNUSED.format('.')}: " in inside.stderr


@pytest.mark.parametrize(
    "text",
    [
        b"\xff counterlens.",
        b"# counterlens.\n[",
        b'project = "counterlens."',
        b'[project]\nname = 5\n[project.entry-points."counterlens.probes"]\na = "b:C"',
        b'[project]\nname = "pytest"\n[project.entry-points."counterlens.probes"]\na = "b:C"',
        b'[project]\nname = "../x"\nentry-points = "counterlens."',
        b"[project]\nname = 'x'\nentry-points = " + b"[" * 2000 + b"'counterlens.'" + b"]" * 2000,
    ],
)
def test_a_project_without_plugins_to_install_is_none(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "pyproject.toml").write_bytes(text)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "pyproject.toml")
    _declare(tmp_path / "mine")
    assert projects_with_plugins(tmp_path) == {tmp_path / "mine": "plugged-there"}


def _declare(folder: Path) -> None:
    folder.mkdir()
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "plugged-there"\n'
        '[project.entry-points."counterlens.mutations"]\nmine = "mine:MINE"\n'
    )


def _in_folder(
    folder: Path, *arguments: str, path: str = "", trust: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder."""
    kept = {name: value for name, value in os.environ.items() if name != "COUNTERLENS_TRUST"}
    return subprocess.run(
        [sys.executable, "-m", "counterlens", *arguments],
        cwd=folder,
        env=kept | {"PYTHONPATH": path, "COUNTERLENS_TRUST": trust},
        capture_output=True,
        text=True,
        check=False,
    )
