"""The protocol of Nguyen et al. 2024: models by script whose figures follow by hand, and published ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from statistics import mean
from threading import Event
from typing import Any, cast

import pytest

from counterlens.errors import CounterlensError, OptionError
from counterlens.judging.base import Evidence, Judge, Judgement, Verdict
from counterlens.metrics.significance import holm, p_text, rank_sum
from counterlens.metrics.similarity import lexical_vectors
from counterlens.metrics.table import Table
from counterlens.models.base import Api, Capability, Completion, Model, ModelInfo, Prompt
from counterlens.models.chat.turn import Turn
from counterlens.probes.options import make
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import read, write_record
from counterlens.probes.registry import PROBES
from counterlens.probes.robustness import empica_tables, published, tables
from counterlens.probes.robustness.questions import AnswerPair, RobustnessRecord
from counterlens.probes.robustness.versions import Standing
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.python.mutations.language import TRANSFORMATIONS
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

TITLES = {known.mutation.id: known.title for known in TRANSFORMATIONS}
HEADER = "def cap(values, high):\n"
SOURCE = f'''{HEADER}    """Hold values, and add them up.

    >>> cap([5, 1, 3], 3)
    7
    >>> cap([2], 3)
    2
    """
'''
BODY = """\
    total = 0
    for value in values:
        if value > high:
            value = high
        total = total + value
    if total > 100:
        return 100
    else:
        return total
"""
WRONG = BODY.replace("return total", "return total - 1")
CALLS = ("cap([5, 1, 3], 3)", "cap([2], 3)", "cap([1, 1], 9)")


class Examples(Judge):
    """Judges by the examples of `SOURCE`, in this process: the programs here come to their end."""

    attribution, tests = "doctest", 2

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:  # noqa: ARG002
        space: dict[str, Any] = {}
        exec(program, space)  # noqa: S102
        try:
            right = (space["cap"]([5, 1, 3], 3), space["cap"]([2], 3)) == (7, 2)
        except (NameError, TypeError):
            right = False
        judgement = Judgement.PASSED if right else Judgement.FAILED
        return Verdict(judgement, Evidence(self.attribution, self.tests))


class Scripted:
    """A chat model whose answers are a function of the prompt."""

    info = ModelInfo("scripted", "scripted", "0", "local", frozenset({Capability.COMPLETE}), api=Api.CHAT)

    def __init__(self, answer: Callable[[str], str], body: str = BODY) -> None:
        self._answer, self._body = answer, body
        self.asked: list[Prompt] = []

    def offers(self, capability: Capability, **_: Any) -> bool:
        return capability in self.info.capabilities

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        self.asked += prompts
        answers = [self._answer(prompt.text) if prompt.reply else self._body for prompt in prompts]
        return [Completion(answer, "stop", 1) for answer in answers]


def shown(text: str) -> str:
    """The program that a question is about."""
    head, _, rest = text.partition("\n\n")
    assert head == "Given the following code snippet"
    return rest.rpartition("\n\n")[0].replace("<FILL>", "cap")


def behaviour(text: str) -> tuple[Any, ...]:
    """What the program of a question gives; its parameters may have changed places."""
    space: dict[str, Any] = {}
    exec(shown(text), space)  # noqa: S102

    def gives(**given: Any) -> Any:
        try:
            return space["cap"](**given)
        except NameError:
            return None

    return tuple(
        gives(values=values, high=high) for values, high in (([5, 1, 3], 3), ([90, 90], 95), ([], 3))
    )


def run(task: str, model: Scripted, *targets: Target, **options: Any) -> ProbeRun:
    probe = PROBES[task]
    context = Context(cast(Model, model), best_sandbox)
    asked = targets or (target("f0", calls=CALLS),)
    return run_targets(probe, context, asked, make(probe.options, {"protocol": "empica", **options}))


def drawn(found: ProbeRun) -> dict[str, Table]:
    tables = {table.title.removesuffix(" (protocol empica)"): table for table in found.tables}
    assert all(table.title.endswith(" (protocol empica)") for table in found.tables)
    return tables


def figures(table: Table, measure: str) -> tuple[float, ...]:
    """Robustness and sensitivity."""
    return tuple(cast(Any, row[-1]).value for row in table.rows if row[0] == measure)


def pairs(found: ProbeRun) -> list[AnswerPair]:
    return [pair for record in found.probed for pair in cast(RobustnessRecord, record).pairs]


def test_a_model_that_knows_the_truth_is_robust_and_sensitive() -> None:
    model = Scripted(lambda text: f"name_{abs(hash(behaviour(text)))}")
    found = run("name", model)
    table = drawn(found)["method name prediction"]
    assert figures(table, "exact match") == (1, 1)
    assert [row[2:5] for row in table.rows if row[0] == "exact match"] == [(4, 4, 1), (4, 4, 1)]
    assert all(PROBES["name"].measures(record) for record in found.probed)
    assert {pair.mutation for pair in pairs(found)} == set(TITLES)
    words = Scripted(lambda text: f"It gives {behaviour(text)}.")
    summaries = drawn(run("summary", words))["code summarisation"]
    assert figures(summaries, "lexical")[0] == 1
    assert figures(summaries, "lexical")[1] > 0

    def evaluated(text: str) -> str:
        space: dict[str, Any] = {}
        exec(shown(text), space)  # noqa: S102
        call = text.rpartition("assert ")[2].removesuffix(" == <FILL>")
        try:
            return f"assert {call} == {eval(call, space)!r}"  # noqa: S307
        except NameError:
            return "`'an error'`"

    outputs = run("output", Scripted(evaluated))
    assert {pair.mutation for pair in pairs(outputs)} == {*TITLES} - {"reorder-parameters"}
    assert {pair.call for pair in pairs(outputs)} == set(CALLS)
    assert figures(drawn(outputs)["output prediction"], "equal")[0] == 1
    rows = {row[2]: row[3:] for row in drawn(outputs)["output prediction, by operator"].rows}
    assert rows["Reorder Parameters"] == (0, None)
    # `high` matters to one of the three calls, the definitions to all of them
    assert rows["Remove Def Statement"][1].value == 1
    assert rows["Remove Conditional Statement"][1].value == pytest.approx(
        mean(one != other for one, other in ((7, 9), (2, 3), (2, 18)))
    )


def test_one_that_always_says_the_same_is_robust_and_not_sensitive() -> None:
    for task, said in (("name", "cap_it"), ("summary", "It adds."), ("output", "7")):
        found = run(task, Scripted(lambda _, said=said: said))  # type: ignore[misc]
        table = drawn(found)[PROBES[task].heading]  # type: ignore[attr-defined]
        for measure in {row[0] for row in table.rows}:
            assert figures(table, str(measure)) == (1, 0)


def test_random_answers() -> None:
    """One that answers each question by chance is neither; one that wavers is refused."""
    scattered = Scripted(lambda text: "".join(random.Random(text).choices("abcdefgh", k=12)))  # noqa: S311
    assert figures(drawn(run("name", scattered))["method name prediction"], "exact match") == (0, 1)
    numbers = count()
    with pytest.raises(CounterlensError, match="the same way twice"):
        run("name", Scripted(lambda _: f"name{next(numbers)}"))


def test_one_that_thinks_aloud_is_read() -> None:
    thought = "<think>\nIt might be `wrong_name`, def wrong(x): or == 3\n</think>\n"
    name, output = PROBES["name"], PROBES["output"]
    said = {
        "cap_it": "cap_it",
        "The method name could be `cap_it`.": "cap_it",
        "Sure!\n\n```python\ndef cap_it(values, high):\n    total = 0\n```": "cap_it",
        "Certainly,\n\n`cap_it`\n": "cap_it",
        "def <FILL>(values):\n": None,
        "FILL": None,
        "The name is `<FILL>`.": None,
        "True\nhold_it": "hold_it",
        "": None,
    }
    assert {text: name.read_published(thought + text) for text in said} == said  # type: ignore[attr-defined]
    said = {
        "4": "4",
        "assert cap([5], 3) == 4": "4",
        "```python\nassert cap([5], 3) == [1, 'a == b'] # so\n```": "[1, 'a == b']",
        "The completed test case is `assert cap([5], 3) == 4`, because it holds.": "4",
        "The value of <FILL> is **4**.": "4",
        "assert cap([5], 3) == 4, as it is": "4",
        "assert cap([5], 3) == <FILL>": None,
        "I do not know": None,
    }
    assert {text: output.read_published(thought + text) for text in said} == said  # type: ignore[attr-defined]
    unfinished = {
        "The arguments are `[5]` and `3`. The index of `[5]` is": None,
        "Here it is:\n\n```python\nassert cap([5], 3) == 4\n```\n\nIn this test case, `cap([5": "4",
        "Here it is:\n\n```python\nassert cap([5], 3) == 4": None,
        "[1, 2]\nbecause": "[1, 2]",
        "12": None,
    }
    read = {text: output.read_published(output.finished_part(text, "python")) for text in unfinished}  # type: ignore[attr-defined]
    assert read == unfinished
    said = {
        "4": "4",
        "assert cap(5, 3) == 4;": "4",
        "assert cap(5).equals(Arrays.asList(1, 2)); // so": "List.of(1, 2)",
        "The completed test case is `assert cap(List.of(5), 3) == 4`, because it holds.": "4",
        "The value of <FILL> is **new int[] {4}**.": "new int[] {4}",
        "assert cap(5, 3) == <FILL>": None,
    }
    assert {text: output.read_published(text, "java") for text in said} == said  # type: ignore[attr-defined]
    assert published.read_summary(f"{thought} It adds.\nIt holds.\n") == "It adds.\nIt holds."
    assert published.read_summary("<think>for ever") is None


def test_the_questions_are_the_papers() -> None:
    words = {
        "summary": "Please summarize the given code snippet.",
        "name": "Please generate the method name for the given code snippet.",
        "output": "Please complete the following test case: assert cap([5, 1, 3], 3) == <FILL>",
    }
    for task, task_words in words.items():
        model = Scripted(lambda _: "seven_7" if task == "name" else "7")  # noqa: B023
        found = run(task, model)
        code, first = model.asked[0], model.asked[1]
        assert code.reply is None
        name = "<FILL>" if task == "name" else "cap"
        assert first.text == "\n\n".join(
            ("Given the following code snippet", f"def {name}(values, high):\n{BODY}".rstrip(), task_words)
        )
        assert Turn(first).messages == (("user", first.text),)
        assert first.max_tokens == {"summary": 1024, "name": 256, "output": 256}[task]
        asked = PROBES[task].estimate(
            Target(Document(SOURCE + BODY), "cap", calls=CALLS), found.options, cast(Model, model)
        )
        assert asked == len(model.asked)
    with pytest.raises(OptionError, match="--protocol empica sets --code to written"):
        make(PROBES["name"].options, {"protocol": "empica", "code": "given"})


def target(name: str, **more: Any) -> Target:
    return Target(Document(SOURCE + "    return None\n"), "cap", Examples(), name, **more)


def test_what_the_model_writes_is_judged_and_counted() -> None:
    """Pass@1: of four functions one is right, one is wrong, and two are no functions."""

    class Writes(Scripted):
        def complete(self, prompts: Sequence[Prompt], **more: Any) -> list[Completion]:
            if prompts[0].reply is None:
                body = (BODY, WRONG, "    return (\n", "    return [(1])\n")[
                    sum(prompt.reply is None for prompt in self.asked)
                ]
                self._body = body
            return super().complete(prompts, **more)

    def name(text: str) -> str:
        return f"name_{len(shown(text))}" if "total - 1" in text or "total + 1" in text else "cap_it"

    found = run("name", Writes(name), target("right"), target("wrong"), target("none"), target("broken"))
    records = cast(Sequence[RobustnessRecord], found.probed)
    assert [record.passed for record in records] == [True, False, False, False]
    assert [bool(record.pairs) for record in records] == [True, True, False, False]
    for record in records:
        assert read(write_record(record), RobustnessRecord) == record
    tables = drawn(found)
    (row,) = tables["code written by the model"].rows
    assert (row[0], row[1], row[3], cast(Any, row[2]).value) == (4, 1, 2, 0.25)
    (kept, broken) = [
        row for row in tables["method name prediction, by correctness of the code"].rows if row[0] == "F1"
    ]
    assert (kept[2], kept[3], cast(Any, kept[4]).value) == (1, 1, 1)
    assert cast(Any, kept[5]).value < 1
    assert cast(Any, broken[4]).value == 0
    assert found.summary.startswith("The answer stayed the same after ")


def pair(
    target: str, mutation: str, similarity: float, *, correct: bool = True, call: str = ""
) -> AnswerPair:
    preserving = next(known.preserving for known in TRANSFORMATIONS if known.mutation.id == mutation)
    standing = Standing.PRESERVING if preserving else Standing.BREAKING
    return AnswerPair(
        target=target, correct=correct, mutation=mutation, line=1, preserving=preserving, standing=standing,
        call=call or None, original="a", answer="b", similarity={"exact match": similarity},
    )  # fmt: skip


def record(*found: AnswerPair) -> RobustnessRecord:
    return RobustnessRecord(
        note="",
        measures=("exact match",),
        pairs=found,
        probe="name",
        protocol="empica",
        target=found[0].target,
    )


def test_each_operator_counts_alike() -> None:
    """What is pooled in Counterlens's own table is a mean of means in the paper's."""
    records = [
        record(
            pair("a", "if-else-flip", 1), pair("a", "rename-generic", 0), pair("a", "negate-condition", 0)
        ),
        record(pair("b", "rename-generic", 0), pair("b", "remove-definition", 1)),
        record(pair("c", "rename-generic", 0), pair("c", "remove-definition", 1)),
    ]
    kept, broken = empica_tables.overall(records, "name", 0).rows
    assert kept[2:5] == (2, 4, 3)
    assert (cast(Any, kept[-1]).value, cast(Any, broken[-1]).value) == (0.5, 0.5)
    pooled = tables.overall(records, "name").rows
    assert [cast(Any, row[-1]).value for row in pooled] == [0.25, pytest.approx(1 / 3)]
    several = [record(*(pair("a", "if-else-flip", one, call=f"f({n})") for n, one in enumerate((1, 0, 0)))),
               record(pair("b", "if-else-flip", 1, call="f(1)"))]  # fmt: skip
    (row,) = empica_tables.overall(several, "output", 0).rows
    assert cast(Any, row[-1]).value == 0.5  # every test is a case


def test_the_published_tables_follow_from_the_published_operators() -> None:
    """The authors' page gives the figure of each operator: the mean of them is what Tables 3 to 5 have."""
    page = Path(__file__).with_name("empica_published.json")
    found: list[Mapping[str, Any]] = json.loads(page.read_text(encoding="utf-8"))
    assert len(found) == 5 * 8
    for column in found:
        known = {known.mutation.id: known.preserving for known in TRANSFORMATIONS}
        one = record(
            *(
                pair("f", operator, figure if known[operator] else 1 - figure)
                for operator, figure in column["operators"].items()
            )
        )
        rows = empica_tables.overall([one], "", 0).rows
        shown = [cast(Any, row[-1]).value for row in rows]
        rounding = 0.0051  # of the table; the operators are rounded, too
        assert shown == pytest.approx([column["robustness"], column["sensitivity"]], abs=rounding), column


def test_words_are_weighed_over_the_whole_run() -> None:
    """A word that every summary of one function has is still rare where those of the others have it not."""
    texts = {"a": ("it sorts numbers", "it sorts words"), "b": ("it adds numbers", "it adds words")}
    records = [
        RobustnessRecord(
            note="", measures=("lexical",), protocol="empica", target=name,
            pairs=(AnswerPair(
                target=name, correct=None, mutation="if-else-flip", line=1, preserving=True,
                standing=Standing.PRESERVING, call=None, original=one, answer=other,
                similarity={"lexical": 0.0},
            ),),
        )
        for name, (one, other) in texts.items()
    ]  # fmt: skip
    together = lexical_vectors([text for both in texts.values() for text in both])
    expected = mean([float(together[0] @ together[1]), float(together[2] @ together[3])])
    alone = lexical_vectors(texts["a"])
    assert expected != pytest.approx(float(alone[0] @ alone[1]))
    (row,) = empica_tables.overall(empica_tables._fitted_once(records), "summary", 0).rows
    assert cast(Any, row[-1]).value == pytest.approx(expected)


def test_correct_and_incorrect_code_are_compared_by_a_test() -> None:
    records = [
        record(pair(f"f{n}", "if-else-flip", 0.5 + 0.4 * (n % 2) + n / 1000, correct=bool(n % 2)))
        for n in range(20)
    ]
    table = empica_tables.by_correctness(records, "name", 0)
    assert table is not None
    (row,) = [row for row in table.rows if row[2]]
    p = rank_sum([0.9 + n / 1000 for n in range(1, 20, 2)], [0.5 + n / 1000 for n in range(0, 20, 2)])
    assert p is not None
    assert p < 0.001
    assert row[-2:] == (p_text(p), p_text(holm([p])[0]))
    assert empica_tables.by_correctness(records[::2], "name", 0) is None
    assert rank_sum([1, 1], [1]) is None
    assert rank_sum([], [1]) is None
    assert rank_sum([1, 2, 3], [4, 5, 6]) == pytest.approx(0.1)  # 2 of the 20 orders are as extreme


def test_parameters_are_reordered_without_the_protocol_too() -> None:
    """Nothing outside of what is shown calls the function; its tests, which do, are not asked about that."""
    model = Scripted(lambda _: "cap_it")
    probe = PROBES["name"]
    options = make(probe.options, {"mutations": ["reorder-parameters", "if-else-flip"]})
    asked = Target(Document(SOURCE + BODY), "cap", id="f0")
    (one,) = run_targets(probe, Context(cast(Model, model), best_sandbox), [asked], options).probed
    found = cast(RobustnessRecord, one)
    assert [(known.mutation, known.standing) for known in found.pairs if known.mutation[0] == "r"] == [
        ("reorder-parameters", Standing.PRESERVING)
    ]
    outputs = PROBES["output"]
    model._answer = lambda _: "7"
    options = make(outputs.options, {"mutations": ["reorder-parameters", "if-else-flip"]})
    (one,) = run_targets(outputs, Context(cast(Model, model), best_sandbox), [asked], options).probed
    assert {known.mutation for known in cast(RobustnessRecord, one).pairs} == {"if-else-flip"}
    assert one.left_out["reorder-parameters: it needs to assume whole-program"] == 1
