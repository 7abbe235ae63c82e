"""Packages that are copied into the sandbox, as sources or compiled."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from counterlens import python
from counterlens.judging.base import LIMITS, Setting
from counterlens.python.execution.running import output_of
from counterlens.python.judging.layout import layout_of
from counterlens.python.judging.recording import Recorder
from counterlens.sandbox.process import ProcessSandbox
from counterlens.sandbox.shipping import IMPORTED, package_files, quick_files
from counterlens.syntax.document import Document

PYTHON = Path(str(python.__file__)).parent
OURS = importlib.util.MAGIC_NUMBER


def package(folder: Path) -> Path:
    made = folder / "shipped"
    for name, text in {
        "__init__.py": "",
        "one.py": "from .inner.two import two\nprint(two() / 0)\n",
        "inner/__init__.py": "",
        "inner/two.py": "def two():\n    return 2\n",
        "unused/three.py": "",
    }.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    return made


def test_compiled_it_is_imported_without_its_sources(tmp_path: Path) -> None:
    files = quick_files(package(tmp_path), OURS, ("unused/",))
    assert sorted(files) == [
        *("shipped/__init__.pyc", "shipped/inner/__init__.pyc", "shipped/inner/two.pyc", "shipped/one.pyc")
    ]
    for name, content in files.items():
        (tmp_path / "there" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "there" / name).write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", "import shipped.one"],
        cwd=tmp_path / "there",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ZeroDivisionError" in done.stderr
    assert 'File "shipped/one.py", line 2' in done.stderr


def test_another_interpreter_gets_the_sources(tmp_path: Path) -> None:
    folder = package(tmp_path)
    assert quick_files(folder, b"\0\0\r\n") == package_files(folder)


@pytest.mark.parametrize(
    ("folder", "module"),
    [
        (PYTHON / "judging" / "sandboxed", "sandboxed.recorder.calls"),
        (PYTHON / "execution" / "observers.py", "observers"),
    ],
)
def test_what_a_waiting_interpreter_imports_no_program_could_replace(
    tmp_path: Path, folder: Path, module: str
) -> None:
    for name, content in quick_files(folder, OURS, ("runner", "pytest_", "run")).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    before = f"import sys, counterlens.sandbox.zygote, {module}; print(*sys.modules)"
    command = [sys.executable, "-c", before]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(IMPORTED) - {"importlib.util"} <= set(done.stdout.split())


def test_a_program_imports_its_own_modules_of_the_names_that_are_imported_ahead(tmp_path: Path) -> None:
    for name in ("sandboxed", "observers"):
        (tmp_path / f"{name}.py").write_text(f"NAME = {name!r}\n")
    document = Document(
        "import observers, sandboxed\n\n\ndef both():\n    return sandboxed.NAME + observers.NAME\n",
        tmp_path / "names.py",
    )
    setting = Setting(ProcessSandbox(), Path(sys.executable), LIMITS, vetted=True)
    recorder = Recorder(setting, layout_of(tmp_path / "names.py", document.text), "both", readable=True)
    (call,) = recorder.record(document.text, [{"a": [], "k": {}}], seconds=5).observations
    assert call.result == "sandboxedobservers"
    assert output_of(document, "both()", setting).value == "sandboxedobservers"
