"""A full or closed output, a narrow encoding and a missing home end a command kindly."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = f"{shlex.quote(sys.executable)} -P -m counterlens"
SIGN = shlex.quote(str(Path(__file__).parents[2] / "examples" / "sign.py"))


def shell(line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a line of the shell."""
    environment = {**os.environ, **variables}
    return subprocess.run(
        ["/bin/sh", "-c", line], capture_output=True, text=True, env=environment, check=False
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [
        "--version",
        "--help",
        "models",
        f"mutate {SIGN}",
        f"mutate {SIGN} --json",
        f"dependence {SIGN}::sign --json",
    ],
)
def test_a_full_output_is_an_error_in_words(arguments: str) -> None:
    done = shell(f"{COMMAND} {arguments} > /dev/full")
    assert done.returncode == 1
    assert done.stderr == "error: standard output cannot be written: No space left on device\n"


def test_closed_streams() -> None:
    closed = shell(f"{COMMAND} models >&-")
    assert closed.returncode == 1
    assert closed.stderr.startswith("error: standard output is closed\n")
    others = shell(f"{COMMAND} --version <&- 2>&-")
    assert others.returncode == 0
    assert others.stdout.startswith("counterlens")


def test_what_an_encoding_lacks_is_escaped_and_json_stays_json(tmp_path: Path) -> None:
    source = tmp_path / "umlaut.py"
    source.write_text('def f(x):\n    if x == "ä▃😀":\n        return 1\n    return 2\n', encoding="utf-8")
    done = shell(f"{COMMAND} mutate {shlex.quote(str(source))} --json", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "ä▃😀" in json.dumps(json.loads(done.stdout), ensure_ascii=False)
    text = shell(f"{COMMAND} mutate {shlex.quote(str(source))}", PYTHONIOENCODING="ascii")
    assert text.returncode == 0, text.stderr
    assert "Traceback" not in text.stderr


def test_a_missing_home_is_not_made(tmp_path: Path) -> None:
    home = tmp_path / "missing"
    variables = dict.fromkeys(("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"), "")
    done = shell(f"{COMMAND} judge {SIGN} --trust", HOME=str(home), **variables)
    assert "Traceback" not in done.stderr
    assert not home.exists()
