"""Names and summaries of a Java method and its versions, judged by what the method does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from counterlens.java.judging.judge import JavaTestsJudge
from counterlens.judging.base import LIMITS, Setting
from counterlens.judging.languages import judging_of
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.options import make
from counterlens.probes.probe import Context, Target
from counterlens.probes.registry import PROBES
from counterlens.probes.robustness.published import name_in
from counterlens.probes.robustness.questions import RobustnessRecord
from counterlens.probes.robustness.versions import Code, Standing
from counterlens.probes.runner import run_probe
from counterlens.progress import Steps
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.probes.robustness.test_questions import Scripted

SOURCE = """\
class Cap {
    /** The lower of two bounds. */
    static int cap(int value, int high) {
        if (value > high) {
            return high;
        } else {
            return value;
        }
    }
}
"""
TESTS = """\
class Main {
    public static void main(String[] a) {
        if (Cap.cap(5, 3) != 3 || Cap.cap(1, 3) != 1) throw new AssertionError();
    }
}
"""
BODY = "        int low = Math.min(value, high);\n        return low;\n    }\n"


@pytest.fixture(autouse=True)
def _kit() -> None:
    """Skips where Java programs cannot be run."""
    if missing := judging_of("java").missing():
        pytest.skip(missing)


def record(task: str, model: Scripted, **options: object) -> RobustnessRecord:
    judge = JavaTestsJudge(TESTS, SOURCE, Setting(best_sandbox(), Path(sys.executable), LIMITS))
    document = Document(SOURCE, Path("Cap.java"), "java")
    probe, target = PROBES[task], Target(document, "Cap.cap", judge=judge)
    found = run_probe(probe, Context(model, best_sandbox, Steps()), target, make(probe.options, options))
    assert isinstance(found, RobustnessRecord), found.reason
    return found


@pytest.mark.parametrize("task", ["name", "summary"])
def test_the_question_shows_java_and_its_versions_are_run(model: LlamaModel, task: str) -> None:
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return " lowerBound" if "value > high" in prompt else " higher"

    found = record(task, Scripted(model.info, answer), mutations=["if-else-flip", "negate-condition"])
    standing = {pair.mutation: pair.standing for pair in found.pairs}
    assert standing == {"if-else-flip": Standing.PRESERVING, "negate-condition": Standing.BREAKING}
    assert all("// " in prompt and "The lower of two bounds" not in prompt for prompt in asked)
    assert all(("<FILL>(int value" in prompt) == (task == "name") for prompt in asked)


def test_what_a_model_writes_in_java_is_asked_about(model: LlamaModel) -> None:
    scripted = Scripted(model.info, lambda text: " low" if "<FILL>" in text else BODY)
    found = record("name", scripted, code=Code.WRITTEN, mutations=["rename-random"])
    assert [pair.mutation for pair in found.pairs] == ["rename-random"]


@pytest.mark.parametrize("task", ["name", "summary"])
def test_the_protocol_has_the_operators_of_the_paper(model: LlamaModel, task: str) -> None:
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        if "Given the following" not in prompt:
            branches = "if (low < 0) { low = low + 1; } else { return low; } return 0;"
            return BODY.replace("return low;", branches)
        name = "least" if "VAR1" in prompt else "lower"
        return f"```java\nstatic int {name}(int a) {{ return a; }}\n```"

    found = record(task, Scripted(model.info, answer), protocol="empica")
    made = {pair.mutation: pair for pair in found.pairs}
    assert {"if-else-flip", "rename-generic", "reorder-parameters", "negate-condition"} <= made.keys()
    assert all(prompt.startswith("Given the following code snippet") for prompt in asked[1:])
    if task == "name":
        assert (made["rename-generic"].original, made["rename-generic"].answer) == ("lower", "least")


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("```java\npublic static int countEven(int[] a) {\n    return 1;\n}\n```", "countEven"),
        ("Here:\nList<Map<String, Integer>> group(List<String> a, int b) throws E {", "group"),
        ("return foo(x) {", None),
    ],
)
def test_the_name_of_a_method_that_is_rewritten_is_read(answer: str, name: str | None) -> None:
    assert name_in(answer, lambda _line: None) == name
