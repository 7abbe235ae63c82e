"""Calls, truths, features, prompts, and the task with the embedded model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import cast

import pytest

from counterlens.errors import Cancelled, SourceError
from counterlens.judging.base import LIMITS, Setting
from counterlens.models.base import Capability, Model
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.execution.independent import ExecutionOptions, ExecutionProbe
from counterlens.probes.execution.printing import Origin, inputs_of
from counterlens.probes.execution.prompts import STYLES, prompt
from counterlens.probes.execution.questions import question_of, truth_of
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.function_text import visible_part
from counterlens.probes.runner import run_targets
from counterlens.progress import Steps
from counterlens.python.execution.calls import calls_in, calls_of
from counterlens.python.execution.language import features
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.probes.execution.asking import entries


def setting(limits: Limits | None = None) -> Setting:
    return Setting(best_sandbox(), Path(sys.executable), limits or Limits())


SOURCE = '''\
import math

FACTOR = 2


def double(items):
    """Double them.

    >>> double([1, 2])
    [2, 4]
    >>> double(items=x)
    """
    return [FACTOR * item for item in items]


class A:
    def f(self):
        return 1


def bare(x):
    return x


def reads(path):
    return open(path).read()
'''


def test_calls_with_literal_arguments_are_found() -> None:
    tests = (
        "def check(candidate):\n    assert candidate([1, 2], k=-1) == 3\n    candidate(x) == candidate('a')\n"
    )
    assert calls_in(tests, {"candidate"}, "f") == ["f([1, 2], k=-1)", "f('a')"]
    assert calls_in("f(1); f(1); g(2); f(*[1]); f(**{})", {"f"}, "f") == ["f(1)"]
    assert calls_in("def", {"f"}, "f") == []
    assert calls_in(f"f({'a' * 300!r})", {"f"}, "f") == []


def test_calls_of_a_docstring() -> None:
    document = Document(SOURCE)
    assert calls_of(document, find_function(document, "double")) == ["double([1, 2])"]
    assert calls_of(document, find_function(document, "bare")) == []


def test_calls_of_the_tests_beside_a_file(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(SOURCE)
    (tmp_path / "test_program.py").write_text(
        "from program import bare, double\n\n"
        "def test_them():\n    assert double([1, 2]) == [2, 4]\n    assert double([3]) == [6] == double(x)\n"
    )
    (tmp_path / "test_other.py").write_text("def test_it():\n    double([9])\n")
    document = Document.read(path)
    assert calls_of(document, find_function(document, "double")) == ["double([1, 2])", "double([3])"]


@pytest.mark.parametrize(
    ("body", "tags", "complexity"),
    [
        ("return x", ("basic",), 1),
        ("if x:\n        return 1\n    elif y:\n        return 2\n    return 3", ("if",), 3),
        ("if x:\n        if y:\n            pass", ("if", "nested if"), 3),
        ("for a in x:\n        while a:\n            a -= 1", ("for", "while", "nested loop"), 3),
        ("try:\n        pass\n    except A:\n        pass", ("try",), 2),
        ("return [a for a in x if a and b]", ("basic",), 4),
        ("match x:\n        case 1:\n            return 1\n    return 2", ("match",), 2),
    ],
)
def test_features(body: str, tags: tuple[str, ...], complexity: int) -> None:
    found = features(f"def f(x, y):\n    {body}\n")
    assert found is not None
    assert (found.tags, found.complexity) == (tags, complexity)


@pytest.mark.parametrize(
    ("body", "uses"),
    [
        ("return -1", ()),
        ("return -x + 1", ("arithmetic",)),
        ("x |= y", ("bitwise",)),
        ("return x in y and not x < y", ("comparison", "membership", "boolean")),
        ("return len(x.strip())", ("builtin call", "method call")),
        ("return f(~x)", ("bitwise", "other call")),
    ],
)
def test_what_a_function_uses(body: str, uses: tuple[str, ...]) -> None:
    found = features(f"def f(x, y):\n    {body}\n")
    assert found is not None
    assert found.uses == uses


def test_the_names_of_what_is_called() -> None:
    found = features("def f(x):\n    return len(math.sqrt(x.pop())) + g()(x) + x.pop()\n")
    assert found is not None
    assert found.apis == (".pop", "g", "len", "math.sqrt")


def test_features_of_what_does_not_parse_are_unknown() -> None:
    assert features("def f(:") is None


def test_the_docstring_is_not_shown() -> None:
    document = Document(SOURCE)
    text = visible_part(document, find_function(document, "double"))
    assert ">>>" not in text
    assert "def double(items):\n    return [FACTOR * item" in text
    assert "def bare" in text
    lone = Document('def f():\n    """Only this."""\n')
    assert "Only this" in visible_part(lone, find_function(lone, "f"))
    long = Document(SOURCE + "X = 1\n" * 2000)
    text = visible_part(long, find_function(long, "double"))
    assert len(text) < 500
    assert "FACTOR = 2" in text


def test_prompts_end_where_the_answer_begins(model: LlamaModel) -> None:
    info = replace(model.info, capabilities=model.info.capabilities - {Capability.INSTRUCT})
    for style in STYLES:
        asked = prompt(info, style, "def f(x):\n    return x\n", "f(1)")
        assert "def f(x):\n    return x" in asked.text
        assert "$" not in asked.text
        assert not asked.text.endswith((" ", "\n"))
        assert asked.reply is None
    assert prompt(info, "direct", "", "f(1)").text.endswith("assert f(1) ==")


def test_the_truth_comes_from_running() -> None:
    found = truth_of(Document(SOURCE), "double([1, 2, 3])", setting())
    assert (found.value, found.written) == ([2, 4, 6], "[2, 4, 6]")
    loops = Document(
        "def f(n):\n    t = 0\n    for i in range(n):\n        for j in 'ab': t += 1\n    return t\n"
    )
    counted = truth_of(loops, "f(3)", setting())
    assert (counted.value, counted.rounds) == (6, 9)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def f():\n    return 1 / 0\n", "raises ZeroDivisionError"),
        ("def f():\n    return object\n", "not a literal"),
        ("import random\ndef f():\n    return random.random()\n", "different results"),
        ("import os\ndef f():\n    os._exit(0)\n", "ends the process"),
        ("def f():\n    return {1, 2}\n", "a set, which has no order"),
        ("def f():\n    return {'a': [set()]}\n", "a set, which has no order"),
        ("def f():\n    return list({'a', 'b', 'c', 'd', 'e'})\n", "the order of a set"),
        ("def f():\n    return ''.join(frozenset('counterlens'))\n", "the order of a set"),
        ("def f():\n    return hash('a') % 1000\n", "the order of a set"),
    ],
)
def test_calls_without_a_truth_are_left_out(source: str, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        truth_of(Document(source), "f()", setting())


def test_the_task_asks_runs_and_counts(model: LlamaModel) -> None:
    document = Document(SOURCE)
    targets = [Target(document, name) for name in ("reads", "A.f")]
    targets.append(Target(Document("def echo(x):\n    return x\n"), "echo", id="E/1", call="echo(7)"))
    options = ExecutionOptions(max_tokens=24)
    result = run_targets(ExecutionProbe(), Context(model, best_sandbox), targets, options)
    answers = entries(result, "answers")
    assert {(one["target"], one["style"]) for one in answers} == {("E/1", style) for style in STYLES}
    assert {one["truth"] for one in answers} == {"7"}
    assert sorted(result.left_out.values()) == [1, 1]
    for one in answers:
        assert (one["outcome"] in ("unparsable", "truncated")) == (one["answer"] is None)


def test_inputs_are_generated_only_where_nobody_wrote_one_down(model: LlamaModel) -> None:
    asking = Context(model, best_sandbox)
    targets = [Target(Document(SOURCE), name) for name in ("double", "bare")]
    for target, origin in zip(targets, (Origin.EXAMPLE, Origin.GENERATED), strict=True):
        function = find_function(target.document, target.qualname)
        found = list(inputs_of(asking, target, function, seed=0, limits=LIMITS))
        assert found
        assert {one.origin for one in found} == {origin}
        assert all(one.call.startswith(f"{target.qualname}(") for one in found)
        question = question_of(asking, target, seed=0, limits=LIMITS)
        assert question.input in found
        assert question == question_of(asking, target, seed=0, limits=LIMITS)
    given = Target(Document(SOURCE), "bare", call="bare('x')")
    assert question_of(asking, given, seed=0, limits=LIMITS).input.origin is Origin.DATASET


def test_it_can_be_stopped_and_says_what_is_missing(model: LlamaModel) -> None:
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        run_targets(
            ExecutionProbe(),
            Context(model, best_sandbox, Steps(stop)),
            [Target(Document(SOURCE), "double")],
            ExecutionOptions(),
        )
    target = Target(Document(SOURCE), "reads")
    with pytest.raises(SourceError, match="no call"):
        ExecutionProbe().run(Context(model, best_sandbox), target, ExecutionOptions())


def test_lines_are_counted_as_they_are_shown() -> None:
    asking = Context(cast(Model, None), best_sandbox)
    text = SOURCE.replace("    return [FACTOR", "    some = items\n    # twice\n\n    return [FACTOR")
    question = question_of(asking, Target(Document(text), "double"), seed=0, limits=LIMITS)
    assert question.features is not None
    assert question.features.lines == 4  # the header, two statements and a comment, without the docstring


def test_a_file_that_shows_the_answer_is_shown_without_it() -> None:
    asking = Context(cast(Model, None), best_sandbox)
    leaks = '"""Twice.\n\n>>> double([1, 2])\n[2, 4]\n"""\n', "assert double(items=[1, 2]) == [2, 4]\n"
    target = Target(Document(leaks[0] + SOURCE + leaks[1]), "double")
    question = question_of(asking, target, seed=0, limits=LIMITS)
    assert question.call == "double([1, 2])"
    assert "[2, 4]" not in question.source
    assert "[1, 2]" not in question.source
    needed = "FLAGS = []\n" + SOURCE.replace("FACTOR * item", "FACTOR * item + len(FLAGS)")
    needed += "if not double([1, 2]) == [2, 4] or FLAGS.append(1) is None:\n    pass\n"
    with pytest.raises(SourceError, match="another result"):
        question_of(asking, Target(Document(needed), "double"), seed=0, limits=LIMITS)
