"""The standard library's own source; `benchmarks/library_safety.py` runs the suites of all its modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from counterlens.mutations import apply_everywhere
from counterlens.mutations.base import TOTAL_ORDER
from counterlens.mutations.mutation import Site
from counterlens.python.mutations.language import MUTATIONS
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext
from counterlens.text import decode
from tests.standard_library import library_files

FILES = library_files({"test", "tests", "idle_test", "site-packages", "lib2to3", "pydoc_data"})
SAMPLE = FILES[3::40]
SUITES = ["bisect", "colorsys", "textwrap"]


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.stem)
def test_every_mutation_of_a_module_parses(path: Path) -> None:
    source = decode(path.read_bytes()).text
    module = Module(source)
    for name, mutation in MUTATIONS.items():
        mutated = apply_everywhere(module, name)
        compile(mutated, str(path), "exec", dont_inherit=True)
        found = any(isinstance(site, Site) for site in mutation.sites(PythonContext(module)))
        assert (mutated != source) is found


@pytest.mark.parametrize("name", SUITES)
def test_a_mutated_module_passes_its_own_suite(name: str) -> None:
    suite = pytest.importorskip(f"test.test_{name}", reason="CPython's own test suite is not installed")
    script = Path(__file__).parents[3] / "benchmarks" / "library_safety.py"
    # Newer suites of bisect compare objects that only define `<`, against a stated assumption.
    partial = hasattr(getattr(suite, "TestBisect", None), "test_lt_returns_non_bool")
    done = subprocess.run(
        [sys.executable, str(script), "--modules", name, *(["--without", TOTAL_ORDER] if partial else [])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert '"modules": 1' in done.stdout
