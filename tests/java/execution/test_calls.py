"""Java methods are asked about as functions of Python are: calls, truths, states, and every probe of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from counterlens.datasets.base import Problem, TestForm, Tests
from counterlens.errors import SourceError
from counterlens.judging.base import LIMITS, Setting
from counterlens.judging.languages import judging_of
from counterlens.probes.execution.language import Features, add_mark, execution_of, points
from counterlens.probes.execution.questions import Asking, ask_all, question_of, truth_of
from counterlens.probes.execution.translation import description
from counterlens.probes.options import make
from counterlens.probes.probe import Target
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.probes.subjects import given_judge
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.probes.execution.asking import context, entries


def setting(limits: Limits = LIMITS) -> Setting:
    return Setting(best_sandbox(), Path(sys.executable), limits)


JAVA = execution_of("java")


@pytest.fixture(autouse=True)
def _kit() -> None:
    """Skips where Java programs cannot be run."""
    if missing := judging_of("java").missing():
        pytest.skip(missing)


SOURCE = """\
import java.util.*;

class Solution {
    /**
     * Keep the even ones, doubled.
     * >>> evens(Arrays.asList(1, 2, 4))
     * [4, 8]
     */
    public List<Integer> evens(List<Integer> numbers) {
        List<Integer> found = new ArrayList<>();
        int sum = 0;
        for (int number : numbers) {
            if (number % 2 == 0) {
                found.add(2 * number);
                sum += number;
            }
        }
        return found;
    }

    private static int total(int[] items) {
        int total = 0;
        for (int i = 0; i < items.length; i++)
            for (int j = 0; j < 2; j++)
                total += items[i];
        return total;
    }
}
"""
TESTS = """\
public class Main {
    public static void main(String[] args) {
        Solution s = new Solution();
        List<Integer> given = List.of(6);
        if (!s.evens(new ArrayList<>(
                Arrays.asList(1,  2, 3))).equals(List.of(4)) || !s.evens(given).equals(List.of(12))
            || s.evens(List.of(  )).size() != 0) {
            throw new AssertionError();
        }
    }
}
"""
DOCUMENT = Document(SOURCE, language="java")
CALL = "evens(new ArrayList<>(Arrays.asList(1, 2, 3)))"


def program(body: str, head: str = "") -> Document:
    return Document(f"import java.util.*;\n{head}class A {{\n    static {body}\n}}\n", language="java")


def test_calls_with_literal_arguments_are_found() -> None:
    assert JAVA.calls_in(TESTS, "Solution.evens") == [CALL, "evens(List.of())"]
    text = "f(\"a  b\", 'c'); f(x); f(1 + 1); f(g(1)); new A().f(-1L, new int[][] {{1}, {}}); f()"
    found = JAVA.calls_in(f"class T {{ void t() {{ {text}; }} }}", "A.f(String)")
    assert found == ["f(\"a  b\", 'c')", "f(-1L, new int[][] {{1}, {}})", "f()"]
    assert JAVA.calls_in(f'class T {{ void t() {{ f("{"a" * 300}"); }} }}', "f") == []


def test_calls_in_javadoc_and_in_the_tests_of_the_project(tmp_path: Path) -> None:
    path = tmp_path / "Solution.java"
    path.write_text(SOURCE)
    (tmp_path / "SolutionTest.java").write_text(TESTS.replace("Main", "SolutionTest"))
    document = Document.read(path)
    function = find_function(document, "evens")
    assert JAVA.in_examples(document, function) == ["evens(Arrays.asList(1, 2, 4))"]
    assert JAVA.calls_of(document, function) == ["evens(Arrays.asList(1, 2, 4))", CALL, "evens(List.of())"]
    assert description(Target(document, "evens"), function) == (
        "Keep the even ones, doubled.\n>>> evens(Arrays.asList(1, 2, 4))\n[4, 8]"
    )


def test_the_truth_comes_from_running() -> None:
    found = truth_of(DOCUMENT, CALL, setting())
    assert (found.written, found.rounds) == ("List.of(4)", 3)
    # A private method, and loops without braces; `java.util` need not be imported.
    imports = "import java.util.List; import java.util.ArrayList;"
    alone = Document(SOURCE.replace("import java.util.*;", imports), language="java")
    assert truth_of(alone, "total(new int[] {1, 2})", setting()).rounds == 6
    assert truth_of(alone, "evens(Arrays.asList(2))", setting()).written == "List.of(4)"


@pytest.mark.parametrize(
    ("body", "call", "written"),
    [
        ("long f(int a) { return a * 10_000_000_000L; }", "f(3)", "30000000000L"),
        ("double f(double a) { return a / 2; }", "f(3)", "1.5"),
        ("char f(String a) { return a.charAt(1); }", 'f("a\'b")', "'\\''"),
        ("String f(char a) { return a + \"\\\"\"; }", "f('x')", '"x\\""'),
        ("int[][] f(int n) { return new int[][] {{n}, {}}; }", "f(2)",
         "new int[][] {new int[] {2}, new int[] {}}"),
        ("Object f() { return null; }", "f()", "null"),
        ("Map<String, Integer> f(String... a) { Map<String, Integer> m = new HashMap<>(); "
         "for (String s : a) m.merge(s, 1, Integer::sum); return m; }", 'f("b", "a", "b")',
         'Map.of("a", 1, "b", 2)'),
        ("Set<Integer> f(int a) { return new TreeSet<>(List.of(a, 1)); }", "f(3)", "Set.of(1, 3)"),
        ("Optional<Integer> f(Integer a) { return Optional.ofNullable(a); }", "f(null)", "Optional.empty()"),
    ],
)  # fmt: skip
def test_results_are_written_as_java_expressions(body: str, call: str, written: str) -> None:
    assert JAVA.output_of(program(body), call, setting()).written == written


@pytest.mark.parametrize(
    ("body", "call", "says"),
    [
        ("int f(int a) { return 1 / a; }", "f(0)", "the call throws ArithmeticException"),
        ("int f(int a) { return a == 0 ? 1 : f(a); }", "f(1)", "the call throws StackOverflowError"),
        ("Object f() { return new Object(); }", "f()", "not a literal"),
        ("Object f() { return new A(); }", "f()", "not a literal"),
        ("int f() { return new Random().nextInt(); }", "f()", "different results"),
        ("int f() { System.exit(0); return 1; }", "f()", "the program ends the process"),
        ("int f(String a) { return 1; }", "f(1)", "does not compile with the call: .*incompatible types"),
        ("void f() { }", "f()", "it returns nothing"),
        ("int f(int a) { return 1; }", "f(1 + 1)", "an argument of the call is not a literal"),
        ("int f(int a) { return 1; }", "f(1); System.exit(0)", "an argument of the call is not a literal"),
        ("int f(int a) { return 1; }", "g(1)", "no method g"),
        ("int f() { return Set.of(1, 2, 3, 4).iterator().next(); }", "f()",
         "the order of a set|different results"),
        ("String f() { return Map.copyOf(new HashMap<>(Map.of(1, 2, 3, 4, 5, 6))).toString(); }", "f()",
         "the order of a set|different results"),
    ],
)  # fmt: skip
def test_calls_without_a_truth_are_left_out(body: str, call: str, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        truth_of(program(body), call, setting())


@pytest.mark.parametrize(
    ("source", "name", "says"),
    [
        ("class A { A(int a) { } int f() { return 1; } }", "A.f", "cannot be made without arguments"),
        ("class A { class B { int f() { return 1; } } }", "A.B.f", "belongs to one of A"),
        ("abstract class A { int f() { return 1; } }", "A.f", "cannot be made without arguments"),
        ("class A { void f() { } }", "A.f", "it returns nothing"),
    ],
)
def test_methods_that_no_call_reaches(source: str, name: str, says: str) -> None:
    document = Document(source, language="java")
    with pytest.raises(SourceError, match=says):
        JAVA.require_reachable(document, find_function(document, name))


def test_no_input_is_made_up() -> None:
    with pytest.raises(SourceError, match="no call of it with literal arguments"):
        question_of(context(str), Target(DOCUMENT, "Solution.total"), seed=0, limits=LIMITS)


def test_what_shows_the_answer_is_not_shown() -> None:
    text = SOURCE.replace(
        "    private", "    // evens( Arrays.asList(1, 2, 4) ) is [4, 8]\n    // evens(List.of(7)) is []\n"
        "    static void check() {\n        assert new Solution().evens(List.of(1, 2, 4)).size() == 2;\n"
        "        assert new Solution().evens(List.of(5)).isEmpty();\n    }\n\n    private"
    )  # fmt: skip
    question = question_of(
        context(str), Target(Document(text, language="java"), "evens"), seed=0, limits=LIMITS
    )
    assert question.call == "evens(Arrays.asList(1, 2, 4))"
    assert "[4, 8]" not in question.source
    assert "(1, 2, 4)" not in question.source
    assert "evens(List.of(7)) is []" in question.source
    assert "evens(List.of(5))" in question.source
    kept = "static int X = new Solution().evens(List.of(1, 2, 4)).size();\n    static void check() {"
    needed = text.replace("static void check() {", kept)
    with pytest.raises(SourceError, match="cannot be removed"):
        question_of(context(str), Target(Document(needed, language="java"), "evens"), seed=0, limits=LIMITS)


@pytest.mark.parametrize(
    ("body", "tags", "complexity"),
    [
        ("return a;", ("basic",), 1),
        ("if (a > 1) return 1; else if (a < 0) return 2; return 3;", ("if",), 3),
        ("if (a > 1) { if (a > 2) { a++; } } return a;", ("if", "nested if"), 3),
        ("for (int b : c) while (a > 0 && b > 0) a--; return a;", ("for", "while", "nested loop"), 4),
        ("try { return a; } catch (Exception e) { return 1; }", ("try",), 2),
        ("switch (a) { case 1: return 1; default: return 2; }", ("match",), 2),
        ("return a > 0 ? 1 : 2;", ("basic",), 2),
    ],
)
def test_features(body: str, tags: tuple[str, ...], complexity: int) -> None:
    found = JAVA.features(f"int f(int a, int[] c) {{\n    {body}\n}}")
    assert found is not None
    assert (found.tags, found.complexity) == (tags, complexity)


def test_what_a_method_uses() -> None:
    found = JAVA.features("int f(String a) {\n\n    return -1 + g(Math.abs(a.length())) << 1;\n}")
    uses, apis = ("arithmetic", "bitwise", "method call", "other call"), (".length", "Math.abs", "g")
    assert found == Features(("basic",), 1, 3, uses, apis)
    assert JAVA.features("int f( {") is None


def test_states_are_those_of_simple_lines_of_the_outermost_activation() -> None:
    steps = JAVA.trace(DOCUMENT, CALL, setting())
    lines = JAVA.simple_lines(DOCUMENT, find_function(DOCUMENT, "evens"))
    assert [(step.line, step.changed) for step in steps] == [
        (10, {"found": "Arrays.asList()"}), (11, {"sum": "0"}), (14, {"found": "Arrays.asList(4)"}),
        (15, {"sum": "2"}),
    ]  # fmt: skip
    assert {step.line for step in steps} == lines
    chosen = points(DOCUMENT, find_function(DOCUMENT, "evens"), steps, lines, seed=0)
    assert {point.truth.written for point in chosen} <= {"List.of()", "0", "List.of(4)", "2"}
    assert add_mark(DOCUMENT, 15).text.splitlines()[14].endswith("sum += number;  // HERE")
    recursive = program("int f(int n) {\n  int a = n;\n  a += n == 0 ? 0 : f(n - 1);\n  return a;\n}")
    assert [step.changed for step in JAVA.trace(recursive, "f(2)", setting())] == [
        {"a": "2"}, {"a": "3"}
    ]  # fmt: skip
    special = program(
        "int f(int[] xs) {\n  Runnable r = () -> {\n    int q = 1;\n  };\n"
        "  if (xs.length > 0)\n    xs[0] = 9;\n"
        "  switch (xs.length) {\n    case 1 ->\n      xs[0] = 2;\n    default -> { }\n  }\n"
        "  int a;\n  a = 5; a++;\n  int b = 1, c = 2;\n  return a;\n}"
    )
    assert [(step.line, step.changed) for step in JAVA.trace(
        special, "f(new int[] {1, 2})", setting()
    )] == [(8, {"xs": "new int[] {9, 2}"}), (14, {}), (16, {"b": "1", "c": "2"})]  # fmt: skip


BODY = """\
        List<Integer> own = new ArrayList<>();
        for (int n : numbers) if (n % 2 == 0) own.add(n * 2);  // mine
        return own;
    }
"""


def target() -> Target:
    problem = Problem("J/1", "d", "java", SOURCE, "Solution.evens", tests=Tests(TestForm.JAVA_MAIN, TESTS))
    judge = given_judge(TESTS, "Solution.evens", SOURCE, "java", best_sandbox(), LIMITS)
    calls = tuple(JAVA.calls_in(TESTS, "Solution.evens"))
    return Target(DOCUMENT, "Solution.evens", judge, problem.id, calls[0], calls=calls)


def answers(text: str) -> str:
    """Knows results, writes the method in its own way, and copies the result that it is shown."""
    last = text.rstrip().splitlines()[-1]
    if last.startswith("// evens") and last.endswith("=="):
        return " [4]" if "own" in text or "% 2 == 0" in text else " [5]"
    if last.startswith("// ") and last.endswith("=="):
        return " 0"
    if last.startswith("// 1."):
        return " so\n// Answer: List.of(4)"
    return BODY


def asked(task: str, **options: object) -> ProbeRun:
    probe = PROBES[task]
    return run_targets(probe, context(answers), [target()], make(probe.options, options))


def test_execution_of_java() -> None:
    found = entries(asked("execution", protocol="codemind"), "answers")
    assert [(one["style"], one["outcome"], one["type"], one["same_type"]) for one in found] == [
        ("direct", "right", "List", True), ("steps", "right", "List", True)
    ]  # fmt: skip
    assert {(one["call"], one["truth"], one["input"], one["rounds"]) for one in found} == {
        (CALL, "List.of(4)", "the dataset", 3)
    }
    run = asked("execution", protocol="codemind")
    assert run.left_out == {"the unrolled version is left out: loops in Java are not unrolled": 1}


def test_dependent_execution_of_java() -> None:
    run = asked("dependent-execution")
    (synthesis,) = entries(run, "syntheses")
    assert (synthesis["correct"], synthesis["s_der"]) == (True, {"direct": 1, "steps": 1})
    assert {one["form"] for one in entries(run, "answers")} == {"as it stands", "own"}
    assert (synthesis["complexity"], synthesis["reference_complexity"]) == (3, 3)


def test_specification_of_java() -> None:
    (function,) = entries(asked("specification"), "functions")
    assert function["specification"] == "Keep the even ones, doubled."
    assert (function["gives"], function["misleading"]) == ("List.of(4)", "List.of(-101)")
    passed = {setting: one["passed"] for setting, one in function["settings"].items()}
    assert passed == {"none": True, "true": True, "misleading": False}
    assert function["settings"]["true"]["gave"] == "List.of(4)"


def test_states_of_java() -> None:
    call, *_ = entries(asked("runtime"), "calls")
    assert call["outcome"] == "right"
    assert {(one["variable"], one["truth"], one["outcome"]) for one in call["states"]} <= {
        ("sum", "0", "right"), ("sum", "2", "wrong"), ("found", "List.of()", "wrong"),
        ("found", "List.of(4)", "wrong"),
    }  # fmt: skip
    assert len(call["states"]) == 3


def test_output_of_java() -> None:
    run = asked("output", mutations=("rename-generic", "negate-condition"))
    pairs = entries(run, "pairs")
    assert {pair["standing"] for pair in pairs} >= {"preserving", "breaking"}
    assert {pair["call"] for pair in pairs} == {CALL, "evens(List.of())"}  # one of each branch
    assert {pair["original"] for pair in pairs} == {"List.of(4)"}


def test_the_question_is_in_the_words_of_java() -> None:
    asking = context(answers)
    question = question_of(asking, target(), seed=0, limits=LIMITS)
    ask_all(asking, [question], Asking(styles=("direct",)))
    prompt, _ = asking.model.asked  # type: ignore[attr-defined] - the second one repeats it
    assert prompt.text.endswith(f"// {CALL} ==")
    assert "def " not in prompt.text
    assert "assert " not in prompt.text
    assert ">>>" not in prompt.text
