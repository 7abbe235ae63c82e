"""The tests of a Java method are found in its project: JUnit 4 and 5, or a `main`; and what they need."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from counterlens.java.judging import project as libraries
from counterlens.java.judging.judge import JavaSuiteJudge, find
from counterlens.java.judging.project import JavaProject, JavaSource, declared_jars, junit
from counterlens.judging.base import LIMITS, Judgement, OriginalSays, Setting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

MAIN = "src/main/java/shop"
TEST = "src/test/java/shop"
PROJECT = {
    "pom.xml": "<project></project>",
    f"{MAIN}/Prices.java": """
        package shop;
        import java.util.*;
        public class Prices {
            public static int total(List<Integer> prices, int discount) {
                int sum = 0;
                for (int price : prices) sum += price;
                return Rounding.down(sum * (100 - discount), 100);
            }
            public static Price cheapest(List<Price> all) {
                Price best = all.get(0);
                for (Price each : all) if (each.cents < best.cents) best = each;
                return best;
            }
            public static int twice(int n) { return 2 * n; }
            public static int untested(int a, int b) { return Rounding.down(a > b ? a - b : b - a, 1); }
        }
    """,
    f"{MAIN}/Rounding.java": """
        package shop;
        class Rounding { static int down(int n, int by) { return n / by; } }
    """,
    f"{MAIN}/Price.java": """
        package shop;
        public class Price { public final int cents; public Price(int cents) { this.cents = cents; } }
    """,
    f"{MAIN}/Other.java": "package shop; class Other { this does not compile }",
    f"{TEST}/PricesTest.java": """
        package shop;
        import static org.junit.jupiter.api.Assertions.*;
        import java.util.List;
        import org.junit.jupiter.api.*;
        class PricesTest {
            @Test void addsUp() { assertEquals(3, Prices.total(List.of(1, 2), 0)); }
            @RepeatedTest(2) void discounts() { assertEquals(90, Prices.total(List.of(100), 10)); }
        }
    """,
    f"{TEST}/CheapestTest.java": """
        package shop;
        import static org.junit.Assert.*;
        import java.util.List;
        import org.junit.Test;
        public class CheapestTest {
            @Test public void cheapest() {
                assertEquals(1, Prices.cheapest(List.of(new Price(3), new Price(1))).cents);
            }
        }
    """,
    f"{TEST}/TwiceTest.java": """
        package shop;
        class TwiceTest {
            public static void main(String[] args) { if (Prices.twice(2) != 4) throw new AssertionError(); }
        }
    """,
}


@pytest.fixture
def prices(tmp_path: Path) -> Document:
    """The program of a project."""
    write(tmp_path, PROJECT)
    return Document.read(tmp_path / MAIN / "Prices.java")


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write the files of a project."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")


def judge(document: Document, name: str) -> JavaSuiteJudge:
    function = find_function(document, name)
    found = find_judge(
        document,
        function,
        Setting(best_sandbox(), interpreter_for(document.path), vetted=True),
        fallback=False,
        witnessed=False,
    )
    assert isinstance(found, JavaSuiteJudge), name
    return found


def test_cheats_are_heard_about_a_program_that_passes_and_no_input_is_tried(prices: Document) -> None:
    found = find_judge(
        prices, find_function(prices, "twice"), Setting(best_sandbox(), interpreter_for(prices.path))
    )
    assert found is not None
    other = found.judge(prices.text.replace("2 * n", "n == 2 ? 4 : 7"))
    assert (other.passed, other.contested) == (True, False)
    comparison, cheats = other.evidence.comparison, other.evidence.cheats
    assert comparison is not None
    assert comparison.agreement is OriginalSays.NOT_COMPARABLE
    assert comparison.reason == "Java is judged by tests alone"
    assert cheats is not None
    assert cheats.passing == ("return 4;",)  # the tests call it once
    assert cheats.failing > 5


def test_junit_5(prices: Document) -> None:
    if not junit(5):
        pytest.skip("JUnit 5 is not here")
    by_tests = judge(prices, "total")
    assert by_tests.described == "2 tests"
    right = by_tests.judge(prices.text)
    assert (right.judgement, right.evidence.tests) == (Judgement.PASSED, 3)
    wrong = by_tests.judge(prices.text.replace("sum += price", "sum -= price"))
    assert (wrong.judgement, wrong.evidence.failed) == (Judgement.FAILED, "shop.PricesTest.addsUp")
    assert wrong.evidence.message.endswith("expected: <3> but was: <-3>\nline 7 of the tests")


def test_junit_4_and_objects_of_the_program(prices: Document) -> None:
    if not junit(4):
        pytest.skip("JUnit 4 is not here")
    by_tests = judge(prices, "cheapest")
    assert by_tests.judge(prices.text).passed
    assert not by_tests.judge(prices.text.replace("each.cents < best", "each.cents > best")).passed


def test_a_main_and_a_method_without_tests(prices: Document) -> None:
    by_tests = judge(prices, "twice")
    assert by_tests.attribution == "tests"
    assert by_tests.judge(prices.text).passed
    assert not by_tests.judge(prices.text.replace("2 * n", "3 * n")).passed
    setting = Setting(best_sandbox(), interpreter_for(prices.path))
    assert find_judge(prices, find_function(prices, "untested"), setting) is None


def test_what_a_source_needs(tmp_path: Path) -> None:
    write(tmp_path, PROJECT)
    project = JavaProject(tmp_path / MAIN / "Prices.java")
    own = JavaSource(project.path, project.path.read_text())
    assert {source.path.stem for source in project.needed([own])} == {"Rounding", "Price"}
    version = JavaSource(tmp_path / "Candidate.java", "package shop; class Rounding { Price p; }")
    assert [source.path.stem for source in project.needed([version])] == ["Price"]
    alone = tmp_path.with_name(f"{tmp_path.name}-alone")
    write(alone, {"A.java": "class A { B b; }", "B.java": "class B { }", "sub/C.java": "class C { }"})
    found = JavaProject(alone / "A.java")
    assert not found.marked
    assert [source.path.name for source in found.sources] == ["B.java"]


def test_jars_are_found_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(libraries, "_DEBIAN", tmp_path / "usual")
    libraries._versions.cache_clear()
    assert junit(5) == junit(4) == ()
    repository = tmp_path / ".m2" / "repository"

    def jar(group: str, name: str, version: str, pom: str = "") -> Path:
        place = repository / Path(*group.split(".")) / name / version
        place.mkdir(parents=True)
        (place / f"{name}-{version}.pom").write_text(pom)
        (place / f"{name}-{version}.jar").touch()
        return (place / f"{name}-{version}.jar").resolve()

    jar("org.junit.platform", "junit-platform-launcher", "1.10.0")
    for version in ("5.9.2", "5.10.0-M1"):
        jar("org.junit.jupiter", "junit-jupiter-api", version)
        jar("org.junit.jupiter", "junit-jupiter-engine", version)
    for part in ("commons", "engine", "launcher"):
        jar("org.junit.platform", f"junit-platform-{part}", "1.9.2")
    jar("org.opentest4j", "opentest4j", "1.3.0")
    inner = jar("b", "inner", "3")
    dependency = (
        "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
    )
    outer = jar("a", "outer", "1.2", dependency.format("b", "inner", "3"))
    jar("a", "outer", "1.10")
    pom = f"<properties><v>1.2</v></properties>{dependency.format('a', 'outer', '${v}')}"
    (tmp_path / "pom.xml").write_text(pom)
    libraries._versions.cache_clear()
    names = {path.name for path in junit(5)}
    assert {"junit-jupiter-api-5.9.2.jar", "junit-platform-launcher-1.9.2.jar"} <= names
    assert declared_jars(tmp_path) == (outer, inner)
    (tmp_path / "pom.xml").unlink()
    (tmp_path / "build.gradle.kts").write_text('dependencies { implementation("a:outer") }')
    assert [path.name for path in declared_jars(tmp_path)] == ["outer-1.10.jar"]
    libraries._versions.cache_clear()


def test_excluded_tests_do_not_judge(prices: Document) -> None:
    setting = Setting(best_sandbox(), Path("python"), LIMITS)
    function = find_function(prices, "twice")
    assert find(prices, function, setting) is not None
    assert find(prices, function, replace(setting, excluded=("src/test/java/shop/Twice*",))) is None


@pytest.mark.parametrize("name", ["SumTest", "TestSum", "TestMain"])
def test_tests_lie_beside_a_file_or_in_the_folder_of_tests(name: str, tmp_path: Path) -> None:
    test = f"class {name} {{ public static void main(String[] a) {{ Sum.of(1, 2); }} }}"
    setting = Setting(best_sandbox(), Path("python"), LIMITS)
    for place in ("src/main/java/a", "src/test/java/a"):
        root = tmp_path / place.replace("/", "-")
        write(
            root, {"src/main/java/a/Sum.java": "class Sum { static int of(int a, int b) { return a + b; } }"}
        )
        document = Document.read(root / "src/main/java/a/Sum.java")
        assert find(document, find_function(document, "of"), setting) is None
        write(root, {f"{place}/{name}.java": test.replace("main(", "other(")})
        assert find(document, find_function(document, "of"), setting) is None  # nothing in it can fail
        write(root, {f"{place}/{name}.java": test})
        assert find(document, find_function(document, "of"), setting) is not None
