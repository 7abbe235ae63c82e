"""`counterlens mutants`: formats, exit codes, the choice of functions, and the order."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from counterlens.cli.options import ChosenModel
from tests.cli.test_cli import Cli
from tests.doubt.conftest import WordModel

SHOP = '''"""A shop."""


def total(prices: list[int]) -> int:
    """The sum.

    >>> total([1])
    1
    """
    result = 0
    for price in prices:
        result = result + price
    if len(prices) > 2:
        result = result * 2
    return result


def fee(price: int) -> int:
    return price + 1
'''
TESTS = "from shop import fee, total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
STRONG = TESTS + "    assert total([1, 2, 3]) == 12 and total([3] * 4) == 24 and total([]) == 0\n"
FIELDS = ["path", "function", "line", "end_line", "mutation", "description", "call", "original", "mutant"]


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setattr(ChosenModel, "opened", lambda _self: WordModel({}))
    return Cli(capfd)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.py"
    path.write_text(SHOP)
    (tmp_path / "test_shop.py").write_text(TESTS)
    return path


def test_a_survivor_comes_with_its_test_and_the_exit_code_says_that_there_is_one(
    cli: Cli, shop: Path
) -> None:
    ran = cli("mutants", f"{shop}::total", "--no-model")
    assert ran.code == 1
    first = ran.out.splitlines()[0]
    assert first.startswith(f"{shop}:14: a mutant passes the tests: ")
    assert "    from shop import total\n\n\n    def test_total_line_14():\n        assert total([" in ran.out
    assert "mutants of 1 function" in ran.err
    (shop.parent / "test_shop.py").write_text(STRONG)
    clean = cli("mutants", f"{shop}::total", "--no-model")
    assert (clean.code, clean.out) == (0, "")
    assert cli("mutants").code == 2
    assert cli("mutants", shop, "--json", "--format", "sarif").code == 2
    assert cli("mutants", shop, "--no-model", "--model", "words").code == 2
    assert "no function nothing" in cli("mutants", f"{shop}::nothing").err


def test_the_forms_for_programs_have_the_place_and_the_test(cli: Cli, shop: Path) -> None:
    found = cli("mutants", shop, "--json").json
    row = found["survivors"][0]
    assert list(row) == [*FIELDS, "gain", "patch", "test", "message"]
    assert "\n-        result = result * 2\n+" in row["patch"]
    assert (row["path"], row["function"], row["line"]) == (shop.as_posix(), "total", 14)
    assert {each["function"]: each["reason"] for each in found["functions"]} == {
        "total": "",
        "fee": "no test reaches it",
    }
    (run,) = json.loads(cli("mutants", shop, "--format", "sarif").out)["runs"]
    result = run["results"][0]
    assert (result["ruleId"], result["properties"]["test"]) == (row["mutation"], row["test"])
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 14, "endLine": 14}
    annotated = cli("mutants", shop, "--format", "github").out
    assert annotated.startswith(f"::warning file={shop},line=14,endLine=14,title=Counterlens%3A ")
    assert "%0Afrom shop import total%0A" in annotated


def test_only_what_changed_and_no_excluded_tests(cli: Cli, shop: Path) -> None:
    def git(*arguments: str) -> None:
        command = ["git", "-C", str(shop.parent), *arguments]
        subprocess.run(command, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "t")
    shop.write_text(SHOP.replace("price + 1", "price + 2"))
    found = cli("mutants", shop.parent, "--since", "HEAD", "--no-model", "--json").json
    assert [each["function"] for each in found["functions"]] == ["fee"]
    options = ("--excluded-tests", "test_shop.py", "--shown", "1", "--no-model", "--json")
    found = cli("mutants", f"{shop}::total", *options).json
    (total,) = found["functions"]
    assert total["tests"] == 1  # the example
    assert len(found["survivors"]) == 1
