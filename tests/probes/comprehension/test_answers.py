"""Equivalence, localisation and runtime: models that know, say one thing, copy, or contradict themselves."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from counterlens.errors import SourceError
from counterlens.models.base import Capability, Model, TokenScores
from counterlens.probes.equivalence.probe import EquivalenceRecord
from counterlens.probes.localisation.probe import (
    LocalisationRecord,
    LocatedBug,
    changed_lines,
    moved_lines,
    read_line,
)
from counterlens.probes.options import make
from counterlens.probes.probe import Context
from counterlens.probes.prompts.asking import read_yes_no
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import ProbeRun, is_suited, run_targets
from counterlens.probes.runtime.probe import consistent
from counterlens.probes.runtime.record import RuntimeRecord
from counterlens.probes.subjects import targets_in
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.probes.execution.asking import Scripted, documents, probed, table

SOURCE = '''\
def weigh(first: int, second: int) -> int:
    """Weigh two numbers.

    >>> weigh(3, 5)
    18
    """
    total = first + second
    bonus = 0
    if first > second:
        bonus = first - second
    else:
        total = total + 1
    return total * 2 + bonus
'''


def run_text(program: str, *arguments: int) -> Any:
    """What `weigh` of a program returns, or the name of its error."""
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102 - a program of this test
    try:
        return names["weigh"](*arguments)
    except Exception as error:
        return type(error).__name__


def two_programs(prompt: str) -> tuple[str, str]:
    first, second = prompt.split("# Program 1\n", 1)[1].split("# Program 2\n", 1)
    return first, second.split("# Do ", 1)[0]


def knows(prompt: str) -> str:
    programs = two_programs(prompt)
    inputs = [(a, b) for a in range(-4, 5) for b in range(-4, 5)]
    return "no" if any(run_text(programs[0], *at) != run_text(programs[1], *at) for at in inputs) else "yes"


def by_order(prompt: str) -> str:
    first, second = two_programs(prompt)
    return "yes" if first < second else "no"


def equivalence(answer: Callable[[str], str]) -> tuple[ProbeRun, EquivalenceRecord]:
    run = probed("equivalence", answer, SOURCE)
    documents(run)
    (record,) = run.probed
    assert isinstance(record, EquivalenceRecord)
    truths = [each.equivalent for each in record.answers]
    assert truths.count(True) == truths.count(False) == 3
    return run, record


def overall(run: ProbeRun) -> tuple[Any, ...]:
    ((n, row),) = table(run, "equivalence").items()
    return (n, *(getattr(cell, "value", cell) for cell in row))


def test_a_model_that_knows_is_right_in_both_orders() -> None:
    run, record = equivalence(knows)
    assert overall(run)[:5] == (6, 1, 1, 0.5, 1)
    assert all(each.call for each in record.answers if not each.equivalent)
    for each in record.answers:  # the call shows the difference on the programs as shown
        if each.call:
            arguments = [int(number) for number in re.findall(r"-?\d+", each.call)]
            assert run_text(record.program, *arguments) != run_text(each.program, *arguments)


SORTED = '''\
def weigh(values: list[int]) -> list[int]:
    """Sort every third value.

    >>> weigh([5, 6, 3, 4])
    [4, 6, 3, 6]
    """
    values = list(values)
    values[::3] = sorted(values[::3])
    if len(values) > 3:
        last = values[-1] + 1
    else:
        last = 0
    values[-1:] = [last]
    return values
'''


def test_a_version_that_returns_the_same_and_changes_its_argument_is_of_neither_kind() -> None:
    run = probed("equivalence", lambda _: "yes", SORTED)
    (record,) = run.probed or run.records
    assert isinstance(record, EquivalenceRecord), run.records
    assert "remove-definition" not in {each.mutation for each in record.answers}
    assert record.left_out["version that returns the same, and differs in what else it does"] >= 1


@pytest.mark.parametrize("probe", ["equivalence", "localisation"])
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "class Box:\n    @property\n    def size(self) -> int:\n        return 1\n",
            "not called like a function",
        ),
        ("def outer() -> int:\n    def inner() -> int:\n        return 1\n    return inner()\n", None),
    ],
)
def test_what_no_input_can_compare_is_refused_before_anything_runs(
    probe: str, source: str, reason: str | None
) -> None:
    chosen, options = PROBES[probe], make(PROBES[probe].options, {})
    suited = [is_suited(chosen, target, options) for target in targets_in(Document(source))]
    assert suited == ([False] if reason else [True])
    if reason:
        with pytest.raises(SourceError, match=reason):
            probed(probe, lambda _: "yes", source)


@pytest.mark.parametrize(("word", "yes"), [("yes", 1), ("No, they differ.", 0)])
def test_always_one_word_is_right_about_half_and_no_better_than_a_constant(word: str, yes: int) -> None:
    run, _ = equivalence(lambda _: word)
    assert overall(run)[:5] == (6, 0.5, 0.5, yes, 1)
    assert run.summary.startswith("The model does no better than an answer without a model")


def test_a_model_that_goes_by_the_order_contradicts_itself() -> None:
    run, _ = equivalence(by_order)
    assert overall(run)[:5] == (6, 0.5, 0, 0.5, 0)


def test_a_copy_of_the_prompt_is_no_answer() -> None:
    run, record = equivalence(lambda prompt: prompt.splitlines()[2])
    assert overall(run)[1] == 0
    assert record.left_out["answer that is neither yes nor no"] == 12


@pytest.mark.parametrize(
    ("text", "yes"),
    [("yes", True), (" **No**.", False), ("Yes, both", True), ("maybe", None), ("", None), ("nothing", None)],
)
def test_the_first_word_is_the_answer(text: str, yes: bool | None) -> None:
    assert read_yes_no(text) is yes


def bugs(run: ProbeRun) -> list[LocatedBug]:
    documents(run)
    (record,) = run.probed
    assert isinstance(record, LocalisationRecord)
    return list(record.bugs)


def numbered(prompt: str) -> str:
    """The program in a question, without the numbers of its lines."""
    return "\n".join(re.findall(r"^ *\d+: (.*)$", prompt, re.MULTILINE))


def test_a_model_that_knows_locates_every_bug_and_one_that_learned_it_by_heart_loses_it() -> None:
    known = bugs(probed("localisation", lambda _: "1", SOURCE))
    assert known
    assert all(bug.call and bug.versions for bug in known)
    truths = {program.program: program.lines[0] for bug in known for program in (bug.first, *bug.versions)}
    firsts = {bug.first.program for bug in known}

    def oracle(prompt: str) -> str:
        return f" {truths[numbered(prompt)]}."

    run = probed("localisation", oracle, SOURCE)
    assert table(run, "located bugs")["prompt"][1].value == 1
    n, *shares = table(run, "before and after rewriting")["all"][1:]
    assert n == sum(len(bug.versions) for bug in known)
    assert [share.value for share in shares] == [1, 1, 0]

    def by_heart(prompt: str) -> str:
        return oracle(prompt) if numbered(prompt) in firsts else "1"

    run = probed("localisation", by_heart, SOURCE)
    assert [share.value for share in table(run, "before and after rewriting")["all"][2:]] == [1, 0, 1]
    assert f"lost them in {n} of {n} rewritten versions" in run.summary


class Surprised(Scripted):
    """A model that is surprised by the header, and less so by a line of the function."""

    info = replace(Scripted.info, capabilities=frozenset({Capability.COMPLETE, Capability.SCORE}))

    def score_continuations(
        self, context: str, continuations: Sequence[str], *, unscored: Sequence[int], **_: Any
    ) -> list[TokenScores]:
        assert context.startswith(("SURPRISING = 1\n\n\n", "# This program"))
        return [self._lines(text, read) for text, read in zip(continuations, unscored, strict=True)]

    def _lines(self, text: str, read: int) -> TokenScores:
        lines = text.splitlines(keepends=True)
        end = np.cumsum([len(line) for line in lines])
        logprob = np.array(
            [-9.0 if "SURP" in line else -5.0 if "bonus = 0" in line else -1.0 for line in lines]
        )
        logprob[end <= read] = np.nan
        none = np.zeros(len(lines), np.int64)
        return TokenScores(text, end - 1, end, logprob, logprob, none, np.empty((len(lines), 0)), (), none)


def test_the_least_likely_line_is_one_of_the_function() -> None:
    source = f"SURPRISING = 1\n\n\n{SOURCE}\n\nALSO_SURPRISING = 2\n"
    chosen, model = PROBES["localisation"], cast(Model, Surprised(lambda _: "1"))
    targets = targets_in(Document(source))
    run = run_targets(chosen, Context(model, best_sandbox), targets, make(chosen.options, {}))
    programs = [program for bug in bugs(run) for program in (bug.first, *bug.versions)]
    surprising = [program for program in programs if "bonus = 0" in program.program]
    assert surprising
    for program in surprising:
        assert program.least_likely is not None
        assert "bonus = 0" in program.program.splitlines()[program.least_likely - 1]


def test_the_lines_of_a_bug() -> None:
    assert changed_lines(["a", "b", "c"], ["a", "x", "c"]) == (2,)
    assert changed_lines(["a", "b", "c"], ["a", "c"]) == (1, 2)
    assert changed_lines(["a", "c"], ["a", "b", "c"]) == (2,)
    assert moved_lines(["a", "b", "c"], ["n", "a", "b", "c"], (2,)) == (3,)
    assert moved_lines(["a", "b", "c"], ["a", "x", "y", "c"], (2,)) == ()
    assert moved_lines(["a", "b"], ["x", "y"], (2,)) == ()
    assert moved_lines(["a", "b"], ["x", "y"], (2,), in_place=True) == (2,)
    assert (read_line(" line 12."), read_line("none")) == (12, None)


def trace(program: str, call: str) -> tuple[list[tuple[int, dict[str, Any]]], Any]:
    """The lines that run, with the variables after each, and the output; lines of the program as shown."""
    names: dict[str, Any] = {}
    code = compile(program, "shown", "exec")
    exec(code, names)  # noqa: S102 - a program of this test
    steps: list[tuple[int, dict[str, Any]]] = []
    at: list[int] = []

    def line(frame: Any, event: str, _: object) -> Any:
        if frame.f_code.co_filename != "shown":
            return None
        if at and event in {"line", "return"}:
            steps.append((at[-1], dict(frame.f_locals)))
        if event == "line":
            at.append(frame.f_lineno)
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        output = eval(call, names)  # noqa: S307
    finally:
        sys.settrace(before)
    return steps, output


def follows(prompt: str) -> str:
    """Answers every question of the runtime probe by running the program in it."""
    if found := re.search(r"Does line (\d+) run at least once while (.+) runs\?", prompt):
        steps, _ = trace(numbered(prompt), found[2])
        return "yes" if int(found[1]) in {line for line, _ in steps} else "no"
    if found := re.search(r"While (.+) runs, when line (\d+) has run (\d+) times?, the line", prompt):
        lines = [line for line, _ in trace(numbered(prompt), found[1])[0]]
        runs = [number for number, line in enumerate(lines) if line == int(found[2])]
        after = runs[int(found[3]) - 1] + 1
        return str(lines[after] if after < len(lines) else 0)
    if found := re.search(r"While (weigh.+) runs, when the line marked HERE has run (\d+) times?:\n", prompt):
        program = prompt[prompt.rindex("def weigh") : found.start()]
        number = next(n for n, text in enumerate(program.splitlines(), 1) if text.endswith("# HERE"))
        states = [names for line, names in trace(program, found[1])[0] if line == number]
        return repr(states[int(found[2]) - 1][prompt.removesuffix(" ==").rpartition("assert ")[2]])
    program = prompt[prompt.rindex("def weigh") :]
    if found := re.search(r"# A call of weigh that returns (.+):\nweigh\($", program):
        wanted = int(found[1])
        pairs = ((wanted, -2 * wanted), (0, wanted), (1, wanted - 3))
        return next(f"{a}, {b})" for a, b in pairs if run_text(program[: found.start()], a, b) == wanted)
    program, _, call = program.rpartition("assert ")
    return repr(trace(program, call.removesuffix(" =="))[1])


def runtime(answer: Callable[[str], str]) -> tuple[ProbeRun, RuntimeRecord]:
    run = probed("runtime", answer, SOURCE)
    documents(run)
    (record,) = run.probed
    assert isinstance(record, RuntimeRecord)
    return run, record


def ladders(record: RuntimeRecord) -> list[tuple[bool, ...]]:
    return [ladder for call in record.calls for ladder in call.ladders]


def shares(run: ProbeRun) -> dict[str, float]:
    return {name: row[1].value for name, row in table(run, "what happens during a call").items()}


def test_a_model_that_follows_is_right_about_everything() -> None:
    run, record = runtime(follows)
    assert shares(run) == {"line runs": 1, "state": 1, "next line": 1, "output": 1, "input": 1}
    for call in record.calls:
        assert call.sought is not None
        assert call.sought.call != call.call  # another input with the same output is right, too
    assert [cell.value for cell in table(run, "consistency")[len(ladders(record))]] == [1, 1]


def test_calls_go_through_both_branches_and_as_many_lines_run_as_do_not() -> None:
    _, record = runtime(follows)
    one_way, other = (call.call.removeprefix("weigh(").removesuffix(")").split(", ") for call in record.calls)
    assert (int(one_way[0]) > int(one_way[1])) != (int(other[0]) > int(other[1]))
    truths = [each.truth for call in record.calls for each in call.covered]
    assert truths
    assert 2 * sum(truths) == len(truths)


def test_a_line_that_only_returns_may_be_the_one_that_does_not_run() -> None:
    source = SOURCE.replace("total = total + 1\n    return", "return 0\n    return")
    (record,) = probed("runtime", lambda _: "yes", source).probed
    assert isinstance(record, RuntimeRecord)
    returns = 1 + source.splitlines().index("        return 0")
    assert (returns, False) in {(each.line, each.truth) for call in record.calls for each in call.covered}


def test_a_right_output_behind_wrong_steps_is_not_consistent() -> None:
    def output_only(prompt: str) -> str:
        return follows(prompt) if prompt.endswith("==") and "HERE has run" not in prompt[-150:] else "wrong"

    run, record = runtime(output_only)
    assert shares(run) == {"line runs": 0, "state": 0, "next line": 0, "output": 1, "input": 0}
    assert table(run, "consistency")[len(ladders(record))][0].value == 0
    asked = sum(len(call.covered) for call in record.calls)
    assert run.left_out["answer that is neither yes nor no"] == asked


def test_always_yes_is_as_good_as_the_best_constant() -> None:
    run, _ = runtime(lambda _: "yes")
    assert shares(run)["line runs"] == 0.5
    assert table(run, "beside answers without a model")["line runs"][2] == 0.5


def test_an_input_that_gives_another_output_is_wrong() -> None:
    def guess(prompt: str) -> str:
        return "0, 0)" if prompt.endswith("weigh(") else follows(prompt)

    _, record = runtime(guess)
    call = record.calls[0]
    assert call.sought is not None
    assert (call.sought.call, call.sought.gave, call.sought.right) == ("weigh(0, 0)", "2", False)


def test_consistency_is_a_chain() -> None:
    assert consistent((True, True, False, False))
    assert consistent((False, False))
    assert not consistent((True, False, True))
