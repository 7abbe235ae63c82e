"""What a waiting interpreter has done in advance has the same results as doing it for each program."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from counterlens.judging.base import Judge, Judgement

PREPARED = """
import sys
import json, unittest, traceback, asyncio, ctypes, decimal, fractions, uuid, typing, pytest
before = list(sys.path)
import counterlens.python.judging.sandboxed.pytest_warm
assert sys.path == before
assert not [name for name in sys.modules if "warm_up_cases" in name]
import _pytest.fixtures as fixtures, importlib.metadata as metadata
ahead = sys.modules["sandboxed.pytest_start"]
known = ahead._ahead
assert known.config is not None
kind = getattr(fixtures, "FixtureFunctionDefinition", None)
number = 0
for holder, names in known.fixtures.items():
    for name in dir(holder):
        value = vars(holder).get(name)
        is_fixture = type(value) is kind if kind else hasattr(value, "_pytestfixturefunction")
        assert not is_fixture or name in names, (holder, name)
        number += is_fixture
assert number > 10, number
assert sum(map(len, known.fixtures.values())) < 20 * len(known.fixtures)
plugins = [found for found in metadata.distributions()
           if any(entry.group == "pytest11" for entry in found.entry_points)]
ours = known.distributions
assert [found.metadata["Name"] for found in plugins] == [found.metadata["Name"] for found in ours]
assert [list(found.entry_points) for found in plugins] == [found.entry_points for found in ours]
real = list(metadata.distributions())
ahead.use_prepared()
assert len(list(metadata.distributions())) == len(real)
"""


def test_all_fixtures_and_plug_ins_are_known_in_advance() -> None:
    server = Path(__file__).parents[2] / "server"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PREPARED],
        env={"PYTHONPATH": str(server), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


TESTS = "from shop import total\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
SHOP = "def total(prices):\n    return sum(prices)\n"


def test_an_invalid_program_is_reported_with_its_line(
    project: Callable[[Mapping[str, str]], Path], judge_of: Callable[..., Judge]
) -> None:
    folder = project({"shop.py": SHOP, "test_shop.py": TESTS})
    shop = judge_of(folder / "shop.py", "total")
    assert shop.judge(SHOP).passed
    for _ in range(2):
        verdict = shop.judge("x = 1\n" * 2000 + "def total(prices:\n    return 3\n")
        assert verdict.judgement is Judgement.INVALID
        assert verdict.evidence.message.startswith("line 2001: ")
    assert shop.judge("def total(prices):\n    return 4\n").judgement is Judgement.FAILED
    assert shop.judge("x = '\0'\n").judgement is Judgement.INVALID
    assert shop.judge(SHOP).passed
