"""Small projects on disk, and judges for their functions."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
import textwrap
import venv
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import Judge, Setting, lasting
from counterlens.judging.registry import find_judge
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.folders import emptied

LIMITS = lasting(30.0)


@pytest.fixture
def project(common_folder: Path) -> Callable[[Mapping[str, str]], Path]:
    """Writes files into an empty folder, the same one for all tests, and returns it."""
    emptied(common_folder)
    return lambda files: write_project(common_folder, files)


def write_project(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files, by their paths in a folder, and return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(content).lstrip("\n"))
    return folder


@pytest.fixture
def judge_of() -> Callable[..., Judge]:
    """Finds the judge of a function in a file or a text."""

    def find(
        source: Path | str,
        qualname: str,
        *,
        python: Path | None = None,
        limits: Limits = LIMITS,
        vetted: bool = True,
    ) -> Judge:
        document = Document(textwrap.dedent(source)) if isinstance(source, str) else Document.read(source)
        chosen = python or Path(sys.executable)
        judge = find_judge(
            document,
            find_function(document, qualname),
            Setting(best_sandbox(), chosen, limits, vetted=vetted),
        )
        assert judge is not None
        return judge

    return find


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter without pytest."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    return folder / "bin" / "python"


@pytest.fixture(scope="session")
def python_with_pytest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with only pytest, with cached bytecode as after a first use."""
    folder = tmp_path_factory.mktemp("with-pytest")
    venv.create(folder, with_pip=False, symlinks=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        for file in importlib.metadata.files(name) or ():
            if file.suffix != ".pyc" and ".." not in file.parts:
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.locate(), packages / file)
    python = folder / "bin" / "python"
    subprocess.run(
        [python, "-m", "pytest", "--version"], env={"PATH": "/usr/bin:/bin"}, cwd=folder, check=True
    )
    return python
