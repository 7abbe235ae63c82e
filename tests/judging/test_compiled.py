"""A project's files, compiled once for all programs that are judged there."""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import LIMITS, Judge, Setting
from counterlens.python.judging import compiled
from counterlens.python.judging.compiled import CompiledProject
from counterlens.python.judging.layout import layout_of
from counterlens.python.judging.sandboxed.kept_code import PLAIN, KeptCode, name_of, rewritten_by
from counterlens.sandbox.registry import best_sandbox
from tests.judging.conftest import write_project

JudgeOf = Callable[..., Judge]
Project = Callable[[Mapping[str, str]], Path]

FILES = {
    "pyproject.toml": "",
    "shop/__init__.py": "",
    "shop/rates.py": "RATE = 2\n",
    "shop/sums.py": "from shop.rates import RATE\n\n\ndef total(price):\n    return price * RATE\n",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef price():\n    return 3\n",
    "tests/test_sums.py": """
        from shop.sums import total

        def test_total(price):
            assert total(price) == 6
        """,
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder of its own for each test: compiled code is kept by folder."""
    return lambda files: write_project(tmp_path, files)


def rewrite(path: Path, old: str, new: str) -> None:
    """Change a file, a moment later than it was written, as an editor does."""
    path.write_text(path.read_text().replace(old, new))
    later = path.stat().st_mtime_ns + 1_000_000
    os.utime(path, ns=(later, later))


def of(folder: Path) -> CompiledProject:
    setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)
    return CompiledProject(layout_of(folder / "shop/sums.py"), setting)


def test_from_the_second_program_on_and_what_changes_on_disk_is_noticed(
    project: Project, judge_of: JudgeOf
) -> None:
    folder = project(FILES)
    kept = of(folder).folder
    assert not kept.exists()
    # Its tests have run twice, on the function and on one that only raises, when a judge is there.
    judge = judge_of(folder / "shop/sums.py", "total", vetted=False)
    original = (folder / "shop/sums.py").read_text()
    assert judge.judge(original).passed
    hostile = "\n".join(
        f"    try: open({str(kept)!r} + '/' + name, 'wb').close()\n    except OSError: pass"
        for name in ("x", name_of(str(folder / "tests/test_sums.py"), rewritten_by(pytest.__version__)))
    )
    assert not judge.judge(f"def total(price):\n{hostile}\n    return price\n").passed
    names = {path.name: path.stat().st_size for path in kept.iterdir()}
    rewritten = rewritten_by(pytest.__version__)
    assert names.keys() == {
        *(name_of(str(folder / name), PLAIN) for name in ("shop/__init__.py", "shop/rates.py")),
        *(name_of(str(folder / name), rewritten) for name in ("tests/conftest.py", "tests/test_sums.py")),
    }
    assert all(names.values())
    failed = judge.judge(original.replace("* RATE", "+ RATE"))
    assert "assert 5 == 6" in failed.evidence.message
    assert judge.judge(original).passed
    rewrite(folder / "shop/rates.py", "2", "3")
    assert not judge.judge(original).passed
    rewrite(folder / "tests/test_sums.py", "6", "9")
    assert judge.judge(original).passed


def test_what_is_no_name_is_not_kept(project: Project) -> None:
    kept = of(project(FILES))
    assert kept.usable
    code, name = base64.b64encode(b"code").decode(), f"{'0' * 32}-1-1"
    for text in (json.dumps(["../outside", code]), json.dumps([name, "%"]), json.dumps([name]), "{"):
        kept._keep(text)
    assert not any(kept.folder.iterdir())
    kept._keep(json.dumps([name, code]))
    kept._keep(json.dumps([name.replace("-1-", "-2-"), code]))
    assert [path.name for path in kept.folder.iterdir()] == [name.replace("-1-", "-2-")]


def test_damaged_code_is_compiled_as_usual(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text("x = 1\n")
    for content in (b"", b"nonsense", b"i\x01\x00\x00\x00"):
        (tmp_path / name_of(str(source), PLAIN)).write_bytes(content)
        assert KeptCode(str(tmp_path), str(tmp_path)).of(str(source)) is None


def test_a_large_package_is_compiled_from_the_nearest_module_on(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project({**FILES, "shop/far/away/__init__.py": "", "shop/far/away/large.py": "x = 1\n" * 20})
    monkeypatch.setattr(compiled, "_MOST_BYTES", 60)
    found = [path.relative_to(folder).as_posix() for path in of(folder)._modules([])]
    assert found == ["shop/rates.py", "shop/__init__.py"]
