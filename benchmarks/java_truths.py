"""Compares the truths of Java calls with the values that a dataset's own tests expect.

Each call with literal arguments that the tests compare with a literal (`==`, `equals`, `Objects.equals`) runs
as in the execution tasks, and its result is compared with that literal. The benchmark also counts the methods
that have a question with the tests' inputs, and those that have states to ask about:

    python benchmarks/java_truths.py --data DATA --most 3
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from tree_sitter import Node

from counterlens.datasets import open_dataset
from counterlens.errors import SourceError
from counterlens.java.execution.calls import literal_call, name_of
from counterlens.java.prompts.values import java_literal
from counterlens.judging.base import LIMITS, Setting
from counterlens.models.base import Model
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.execution.language import execution_of, points
from counterlens.probes.execution.printing import Inputs
from counterlens.probes.execution.questions import question_of
from counterlens.probes.probe import Context, Target
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from counterlens.syntax.grammars import parser_for
from counterlens.syntax.tree import descendants


def setting(limits: Limits = LIMITS) -> Setting:
    return Setting(best_sandbox(), Path(sys.executable), limits)


def expected(call: Node) -> str | None:
    """The text with which tests compare a call; None if they use it in another way."""
    above = call.parent
    if above is None:
        return None
    if above.type == "method_invocation" and _text(above.child_by_field_name("name")) == "equals":
        listed = above.child_by_field_name("arguments")
        return _text(listed.named_children[0]) if listed is not None else None
    if above.type == "binary_expression" and _text(above.child_by_field_name("operator")) == "==":
        return _text(above.child_by_field_name("right"))
    if above.type == "argument_list" and _text(above.parent).startswith("Objects.equals("):
        return _text(above.named_children[1])
    return None


def compared(tests: str, name: str) -> Iterator[tuple[str, str]]:
    """The calls of a method in comparisons of tests, each with the text that it is compared with."""
    for node in descendants(parser_for("java").parse(tests.encode()).root_node):
        call = literal_call(node, name)
        if call is not None and (text := expected(node)) is not None:
            yield call.written, text


def asked(target: Target) -> Iterator[str]:
    """The kinds of questions that a method has, or the reason why it has none."""
    java, context = execution_of("java"), Context(cast("Model", None), best_sandbox)
    try:
        question = question_of(context, target, seed=0, limits=LIMITS, inputs=Inputs.WRITTEN)
    except SourceError as error:
        yield f"method without a question: {error.message}"
        return
    yield "method with a question"
    function = find_function(target.document, target.qualname)
    steps = java.trace(target.document, question.call, setting())
    lines = java.simple_lines(target.document, function)
    if points(target.document, function, steps, lines, seed=0):
        yield "method with states"


def main() -> None:
    """Run the calls, and count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", required=True, help="HumanEval-X or HumanEvalPack in Java")
    parser.add_argument("--most", type=int, default=1 << 30, help="maximum number of calls to run per method")
    options = parser.parse_args()
    java, counts, data = execution_of("java"), Counter[str](), open_dataset(options.data)
    for target in targets_of(data):
        counts.update(asked(target))
    for problem in data:
        document = Document(problem.source, language="java")
        tests = problem.tests.text if problem.tests is not None else ""
        ran = 0
        for call, text in compared(tests, name_of(problem.function or "")):
            if ran >= options.most:
                break
            wanted = java_literal(text, strict=True)
            if wanted is None:
                counts["call that is not compared with a literal"] += 1
                continue
            ran += 1
            try:
                truth = java.output_of(document, call, setting())
            except SourceError as error:
                counts[f"call without a truth: {error.message}"] += 1
                continue
            same = java.values.equal(truth.value, wanted.value)
            counts["call with the expected result" if same else "call with another result"] += 1
            if not same:
                print(f"{problem.id}: {call} returns {truth.written}, not {wanted.written}")
    for outcome, count in counts.most_common():
        print(f"{count:5}  {outcome}")


def _text(node: Node | None) -> str:
    return (node.text or b"").decode() if node is not None else ""


if __name__ == "__main__":
    main()
