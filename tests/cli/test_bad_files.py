"""One bad file never stops a run: each is one reason, and its neighbours are scored, planned and judged."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from counterlens.cli.main import cli
from counterlens.errors import CounterlensError
from counterlens.models.registry import BACKENDS
from counterlens.mutations.engine import survey
from tests.evaluation.scripted_scores import at_random, backend

GOOD = b"def good(x):\n    return x + 1\n"
LEVELS = range(1, 2_000)
BAD: dict[str, bytes] = {
    "parens.py": b"def f():\n    return " + b"(" * 10_000 + b"1" + b")" * 10_000 + b"\n",
    "brackets.py": b"def f():\n    return " + b"[" * 10_000 + b"\n",
    "unary.py": b"def f(x):\n    return " + b"-" * 20_000 + b"x\n",
    "nots.py": b"def f(x):\n    return " + b"not " * 20_000 + b"x\n",
    "calls.py": b"def f(x):\n    return x" + b".a()" * 20_000 + b"\n",
    "sums.py": b"def f(x):\n    return x" + b" + 1" * 20_000 + b"\n",
    "lambdas.py": b"def f(x):\n    return " + b"lambda: " * 5_000 + b"x\n",
    "strings.py": b"def f(x):\n    return " + b"f'{" * 100 + b"x\n",
    "indented.py": b"def f(x):\n"
    + b"".join(b" " * i + b"if x:\n" for i in LEVELS)
    + b" " * 2_000
    + b"return 1\n",
    "elif.py": b"def f(x):\n    if x:\n        return 0\n" + b"    elif x:\n        return 1\n" * 6_000,
    "rot13.py": b"# coding: rot13\ndef f(x):\n    return x\n",
    "hex.py": b"# coding: hex\ndef f(x):\n    return x\n",
    "unknown.py": b"# coding: no-such\ndef f(x):\n    return x\n",
    "utf16.py": "def f(x):\n    return x\n".encode("utf-16"),
    "bytes.py": b"def f(x):\n    return '\xff\xfe'\n",
    "null.py": b"def f(x):\n    return x\x00\n",
    "nulls.py": b"\x00" * 1_000,
    "new\nline.py": GOOD,
    "esc\x1b]0;title\x07.py": GOOD,
}
NOT_TEXT = {"rot13.py", "hex.py", "utf16.py", "bytes.py", "null.py", "nulls.py"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in BAD.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / os.fsdecode(b"byte\xff.py")).write_bytes(GOOD)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "good.py").write_bytes(GOOD)
    (tmp_path / "test_good.py").write_text(
        "from good import good\n\ndef test_good():\n    assert good(1) == 2\n"
    )
    return tmp_path


def run(*arguments: str | Path) -> Result:
    """A command; its error is one that a user is told, and what it says moves no terminal."""
    found = CliRunner().invoke(cli, [str(one) for one in arguments])
    assert found.exception is None or isinstance(found.exception, CounterlensError | SystemExit), (
        arguments,
        found.exception,
    )
    assert not {*found.output} & {*map(chr, range(9)), "\x1b", "\x07", "\x9b"}
    return found


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_alone_is_read_or_refused_in_words(folder: Path, name: str) -> None:
    for command in ("mutate", "dependence"):
        run(command, folder / name)


def test_a_long_chain_of_branches_is_mutated() -> None:
    text = (
        "def f(x, y):\n    if x:\n        y = 1\n" + "    elif x:\n        y = 2\n" * 350 + "    return y\n"
    )
    found = survey(text, mutations=["independent-swap", "if-else-flip"])
    assert len(found.counterfactuals) == 350


def test_a_folder_with_bad_files_is_scored_but_for_these(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BACKENDS, "_added", {"rule:NAME": backend({"r": at_random})})
    found = json.loads(run("score", folder, "--model", "rule:r", "--json").output)
    skipped = {Path(one["path"]).name: one["reason"] for one in found["skipped"]}
    assert {*skipped} >= NOT_TEXT
    assert "good.py" not in skipped
    assert all(reason and "\n" not in reason for reason in skipped.values())


def test_a_function_beside_bad_files_is_planned_and_judged(folder: Path, tmp_path: Path) -> None:
    planned = run("bench", "--data", f"repo:{folder}", "--out", tmp_path / "out", "--plan").output
    assert "completion" in planned
    assert run("judge", folder / "good.py").output.startswith("passed")


def test_a_lone_surrogate_in_an_exception_is_a_verdict(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f():\n    raise ValueError('\\ud800' + chr(27) + '[2J')\n")
    (tmp_path / "t.py").write_text("from m import f\n\ndef test_f():\n    assert f() == 1\n")
    found = run("judge", tmp_path / "m.py", "--tests", tmp_path / "t.py", "--json")
    assert json.loads(found.output)["verdict"] == "failed", found.output
    assert run("judge", tmp_path / "m.py", "--tests", tmp_path / "t.py").output.startswith("failed")
