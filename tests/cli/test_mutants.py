"""`counterlens mutants`: formats, exit codes, the choice of functions, and the order."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from counterlens.cli.options import ChosenModel
from counterlens.doubt.scope import DoubtScope
from counterlens.survivors import Search, Survival
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


@pytest.fixture
def searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search for the survivors of a function once: for tests of several forms of the same findings."""
    survivals: dict[tuple[Path | None, str], Survival] = {}
    survival = Search.survival

    def remembered(search: Search, scope: DoubtScope) -> Survival:
        place = scope.document.path, scope.function.qualname
        if place not in survivals:
            survivals[place] = survival(search, scope)
        return survivals[place]

    monkeypatch.setattr(Search, "survival", remembered)


def test_a_survivor_comes_with_its_test_and_the_exit_code_says_that_there_is_one(
    cli: Cli, shop: Path
) -> None:
    ran = cli("mutants", f"{shop}::total", "--no-model")
    assert ran.code == 1
    assert ran.out.startswith(f"{shop}:13: a mutant passes the tests: ")
    assert "    from shop import total\n\n\n    def test_total_line_13():\n        assert total([" in ran.out
    assert "mutants of 1 function" in ran.err
    (shop.parent / "test_shop.py").write_text(STRONG)
    clean = cli("mutants", f"{shop}::total", "--no-model")
    assert (clean.code, clean.out) == (0, "")
    assert cli("mutants").code == 2
    assert cli("mutants", shop, "--json", "--format", "sarif").code == 2
    assert cli("mutants", shop, "--no-model", "--model", "words").code == 2
    assert "no function nothing" in cli("mutants", f"{shop}::nothing").err


@pytest.mark.usefixtures("searched_once")
def test_the_forms_for_programs_have_the_place_and_the_test(cli: Cli, shop: Path) -> None:
    found = cli("mutants", shop, "--json", "--no-model").json
    row = found["survivors"][0]
    assert list(row) == [*FIELDS, "gain", "patch", "test", "message"]
    assert "\n-    if len(prices) > 2:\n+" in row["patch"]
    assert (row["path"], row["function"], row["line"]) == (shop.as_posix(), "total", 13)
    assert {each["function"]: each["reason"] for each in found["functions"]} == {
        "total": "",
        "fee": "no test reaches it",
    }
    (run,) = json.loads(cli("mutants", shop, "--no-model", "--format", "sarif").out)["runs"]
    result = run["results"][0]
    assert (result["ruleId"], result["properties"]["test"]) == (row["mutation"], row["test"])
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 13, "endLine": 13}
    annotated = cli("mutants", shop, "--no-model", "--format", "github").out
    assert annotated.startswith(f"::warning file={shop},line=13,endLine=13,title=Counterlens%3A ")
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


WEAK = '''def twice(value: int, more: int = 1) -> int:
    """
    >>> twice(0)
    0
    """
    return value * 2 * more
'''


@pytest.mark.usefixtures("searched_once")
def test_no_two_proposed_tests_and_no_two_results_have_one_name(cli: Cli, shop: Path) -> None:
    for name in ("odd.py", "even.py"):
        (shop.parent / name).write_text(WEAK)
    pasted = "from odd import twice\n\n\ndef test_twice_line_6():\n    assert twice(0) == 0\n"
    (shop.parent / "test_odd.py").write_text(pasted)
    targets = (shop.parent / "odd.py", shop.parent / "even.py")
    ran = cli("mutants", *targets, "--no-model", "--json").json
    rows = ran["survivors"]
    names = [re.findall(r"^def (\w+)", row["test"], re.MULTILINE)[0] for row in rows]
    assert [row["line"] for row in rows].count(6) >= 2
    assert len({*names, "test_twice_line_6"}) == len(names) + 1
    (run,) = json.loads(cli("mutants", *targets, "--no-model", "--format", "sarif").out)["runs"]
    prints = [json.dumps(result["partialFingerprints"]) for result in run["results"]]
    assert len(set(prints)) == len(prints) == len(rows)


CODES = """def is_retryable(code):
    if code == 429:
        return True
    return code >= 500


def label(code, strict=False):
    if code < 400 and not strict:
        text = "ok"
    else:
        text = "bad"
    return text
"""
CODES_TESTS = """from codes import is_retryable, label


def test_retry():
    assert is_retryable(429)
    assert not is_retryable(200)


def test_label():
    assert label(3) == "ok"
    assert label(900) == "bad"
"""


def test_boundaries_constants_and_results_are_mutated(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "codes.py").write_text(CODES)
    (tmp_path / "test_codes.py").write_text(CODES_TESTS)
    ran = cli("mutants", tmp_path / "codes.py", "--no-model", "--json", "--shown", 9).json
    changes = {row["description"]: row["mutation"] for row in ran["survivors"]}
    expected = {
        "replaced `code >= 500` by `code == 500`": "comparison",
        "replaced `return code >= 500` by `return None`": "result",
        "replaced `code < 400` by `code <= 400`": "comparison",
        "replaced `code < 400` by `code < 399`": "boundary",
    }
    assert expected.items() <= changes.items()
    for row in ran["survivors"]:
        start = CODES.splitlines()[row["line"] - 1]
        assert f"\n-{start}\n+" in row["patch"]
