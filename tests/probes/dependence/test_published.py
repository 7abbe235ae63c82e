"""The protocol core: CoRe's questions, its truth, its figures, against endpoints whose answers are known."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from counterlens.cli import main
from counterlens.datasets import open_dataset
from counterlens.datasets.core import CoreLabels, CoreNode, CoreTask
from counterlens.dependence import dependences
from counterlens.errors import CounterlensError, OptionError
from counterlens.models.base import Completion, ModelInfo, Prompt
from counterlens.models.stopping import repeats_itself
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.dependence.core_form import CoreForm, own_questions
from counterlens.probes.dependence.core_replies import read_reply
from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.inferred import InferenceMethod
from counterlens.probes.dependence.probe import DependenceOptions, DependenceProbe
from counterlens.probes.dependence.published import labels_of_graph, labels_of_rules
from counterlens.probes.dependence.record import DependenceRecord
from counterlens.probes.options import make
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.templates import template
from counterlens.probes.record import Record, read, write_record
from counterlens.probes.runner import run_probe, run_targets
from counterlens.syntax.document import Document
from tests.conftest import WHOLE
from tests.models.remote.conftest import Handler, Script, serve  # noqa: F401 - a fixture
from tests.probes.dependence.core_examples import TOTAL, require_true_examples

ROOT = Path(__file__).parents[3]
NAME = "gcj_1_2_total_2_8"
PROGRAM = f"import sys\n{TOTAL}"
LABELS = """\
target_var: result 6
variables:
  prices 2:
    datadep: Null
    controldep: Null
  rate 2:
    datadep: Null
    controldep: Null
  result 3:
    datadep: Null
    controldep: Null
  price 4:
    datadep:
      - prices 2
    controldep:
      - price 4
  price 5:
    reset: False
    datadep:
      - price 4
    controldep:
      - price 4
  rate 5:
    reset: False
    datadep:
      - rate 2
    controldep:
      - price 4
  result 6:
    datadep:
      - result 3
      - result 6
      - price 4
    controldep:
      - price 5
      - rate 5
  count 7:
    datadep:
      - prices 2
    controldep: Null
  result 8:
    reset: False
    datadep:
      - result 3
      - result 6
    controldep: Null
"""
LIT = [f"data_{NAME}_result_6_1", f"control_{NAME}_result_6_1", f"infoflow_{NAME}_result_6_2"]
PROBE = DependenceProbe()


def target(**details: str) -> Target:
    source = "\n" + PROGRAM.partition("\n")[2]
    return Target(Document(source, Path("f.py")), "total", id=NAME, details={"label": LABELS, **details})


class Oracle:
    """Answers CoRe's questions in our words or CoRe's by some rule; counts what it is asked."""

    info = ModelInfo("m", "m", "m", "local", frozenset())

    def __init__(self, answer: Callable[[str], str], finish: str = "stop") -> None:
        self.answer, self.finish = answer, finish
        self.asked: list[str] = []

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        self.asked += [prompt.text for prompt in prompts]
        return [Completion(self.answer(prompt.text), self.finish, 1) for prompt in prompts]

    def offers(self, *_: Any, **__: Any) -> bool:
        return False


def asked_about(text: str) -> tuple[CoreTask, list[CoreNode]]:
    """What the last question of a prompt is about; the nodes in the order of the question."""
    last = next(
        line for line in reversed(text.splitlines()) if re.search(r" in (?:function )?`?total`?", line)
    )
    kinds = {"data": CoreTask.DATA, "control": CoreTask.CONTROL, "information": CoreTask.FLOW}
    task = next(kinds[word] for word in re.findall(r"data|control|information", last))
    if task is CoreTask.CONTROL:
        return task, [("", int(line)) for line in re.findall(r"line `?(\d+)", last)]
    return task, [(name, int(line)) for name, line in re.findall(r"\((\w+), (\d+)\)", last)]


KEYS = {
    CoreTask.DATA: "DataDependence",
    CoreTask.CONTROL: "ControlDependence",
    CoreTask.FLOW: "InformationFlow",
}


def knows(text: str) -> str:
    """Says what the labels say, with a shortest chain."""
    labels, (task, nodes) = CoreLabels.read(LABELS), asked_about(text)
    plain = (lambda node: node[1]) if task is CoreTask.CONTROL else list
    if len(nodes) == 1:
        return json.dumps({f"{KEYS[task]}Sources": [plain(one) for one in labels.sources(task, nodes[0])]})
    chain = next(chains(labels, task, *nodes), None)
    if chain is None:
        return json.dumps({KEYS[task]: False})
    steps: list[Any] = [plain(node) for node in chain]
    if task is not CoreTask.CONTROL:
        steps = [{"from": one, "to": other, "type": "data"} for one, other in pairwise(steps)]
    return json.dumps({KEYS[task]: True, "Trace": steps})


def chains(labels: CoreLabels, task: CoreTask, source: CoreNode, end: CoreNode) -> Iterator[list[CoreNode]]:
    direct, ways = labels.direct(task), [[source]]
    while ways:
        way = ways.pop(0)
        if len(way) > 1 and way[-1] == end:
            yield way
        ways += [[*way, one] for one in sorted(direct.get(way[-1], ())) if one not in way]


def always(yes: bool) -> Callable[[str], str]:
    def say(text: str) -> str:
        task, nodes = asked_about(text)
        if len(nodes) == 1:
            return json.dumps({f"{KEYS[task]}Sources": []})
        return json.dumps({KEYS[task]: yes, "Trace": []})

    return say


def probed(model: Oracle, subject: Target | None = None, **given: Any) -> DependenceRecord:
    options = make(DependenceOptions, {"protocol": "core", "questions": 100, **given})
    (record,) = run_targets(PROBE, Context(model), [subject or target()], options).records  # type: ignore[arg-type]
    assert isinstance(record, DependenceRecord), record.reason
    return record


def figures(*records: DependenceRecord) -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for table in PROBE.tables(records, seed=0):
        for row in table.rows:
            values = [getattr(cell, "value", cell) for cell in row[1:]]
            found.setdefault(table.title, {})[str(row[0])] = dict(zip(table.columns[1:], values, strict=True))
    return found


def test_labels_are_read_and_closed_as_core_does() -> None:
    labels = CoreLabels.read(LABELS)
    assert len(labels.instances) == 9
    assert labels.sources(CoreTask.DATA, ("result", 8)) == {
        ("result", 3),
        ("result", 6),
        ("price", 4),
        ("prices", 2),
    }
    # only by information flow: the rate decides whether the price is added; what is only read is no source
    flow = labels.sources(CoreTask.FLOW, ("result", 8))
    assert flow - labels.sources(CoreTask.DATA, ("result", 8)) == {("rate", 2)}
    assert ("result", 6) in labels.sources(CoreTask.DATA, ("result", 6))  # over the loop
    assert labels.sources(CoreTask.CONTROL, ("", 6)) == {("", 4), ("", 5)}
    assert labels.sources(CoreTask.CONTROL, ("", 4)) == frozenset()  # itself alone, by the same variable
    assert labels.sources(CoreTask.CONTROL, ("", 8)) == frozenset()
    assert ("result", 6) in labels.direct(CoreTask.FLOW)["rate", 5]
    assert ("result", 6) not in labels.direct(CoreTask.DATA).get(("rate", 5), set())


def test_graph_and_labels_say_the_same_of_a_function_that_is_clear() -> None:
    subject = ExaminedFunction.of(dependences(target().document.text, "total"))
    graph, labels, rules = labels_of_graph(subject), CoreLabels.read(LABELS), labels_of_rules(subject)
    for task in CoreTask:
        for node in labels.targets(task):
            assert graph.sources(task, node) - {node} == labels.sources(task, node) - {node}, (task, node)
    assert rules.sources(CoreTask.CONTROL, ("", 6)) == {("", 4), ("", 5)}
    assert ("result", 6) not in rules.sources(CoreTask.DATA, ("result", 6))  # it looks forward alone


def test_a_model_that_knows_has_everything_right_and_the_rule_stands_beside_it() -> None:
    model = Oracle(knows)
    record = probed(model)
    found = figures(record)
    assert set(found["pairwise questions"]) == {
        "data dependence",
        "control dependence",
        "information flow",
        "all tasks",
    }
    for row in found["pairwise questions"].values():
        assert row["answer is yes"] > 0
        assert (row["accuracy"], row["F1"], row["unreadable"]) == (1.0, 1.0, 0)
    for row in found["traces of questions answered by yes"].values():
        assert (row["correct trace rate"], row["trace precision"]) == (1.0, 1.0)
        assert (row["false edge rate"], row["missing nodes"]) == (0.0, 0.0)
    for row in found["source questions"].values():
        assert (row["exact match"], row["F1"]) == (1.0, 1.0)
    beside = found["compared with rules without a model"]["data dependence"]
    assert (beside["rule's F1"], beside["difference"]) == (1.0, 0.0)  # forward, the rule errs about nothing
    assert (beside["rule wrong"], beside["F1 if rule wrong"]) == (0, None)
    assert found["source questions"]["data dependence"]["rule's exact match"] < 1  # but around the loop
    assert len(model.asked) == len(record.answers)
    assert PROBE.estimate(
        target(), make(DependenceOptions, {"protocol": "core", "questions": 100}), model
    ) == len(  # type: ignore[arg-type]
        record.answers
    )
    assert read(write_record(record), DependenceRecord) == record
    assert all(PROBE.measures(record).values())
    right = sum(one.task is CoreTask.CONTROL for one in record.answers)
    assert f"control dependence: {right} of {right} right (rule " in PROBE.summary([record])
    assert all("(rule" in part for part in record.summary.split("; "))


def test_always_no_and_always_yes_have_the_figures_that_follow_by_hand() -> None:
    no, yes = figures(probed(Oracle(always(False)))), figures(probed(Oracle(always(True))))
    for task, row in no["pairwise questions"].items():
        share = row["answer is yes"] / row["questions"]
        assert (row["F1"], row["recall"], row["accuracy"]) == (0.0, 0.0, pytest.approx(1 - share))
        other = yes["pairwise questions"][task]
        assert other["recall"] == 1.0
        assert other["precision"] == pytest.approx(share)
        assert other["F1"] == pytest.approx(2 * share / (1 + share))
        traces = yes["traces of questions answered by yes"][task]
        assert traces["correct trace rate"] == 0.0  # yes without a trace
    sources = no["source questions"]["control dependence"]
    # of the seven lines 2, 3, 4, 7 and 8 have no sources: that is exact, and else precision is 1 and recall 0
    assert sources["questions"] == 7
    assert sources["exact match"] == pytest.approx(5 / 7)
    assert sources["precision"] == 1.0
    assert sources["recall"] == pytest.approx(5 / 7)
    assert sources["F1"] == pytest.approx(5 / 7)


def test_what_is_added_above_the_rule_is_counted_where_the_rule_is_wrong() -> None:
    """Had people said that the count comes from the rate, the rule would be wrong about it, and so on."""
    at = LABELS.index("  count 7:")
    other = LABELS[:at] + LABELS[at:].replace("      - prices 2", "      - rate 2")
    record = probed(Oracle(always(True)), target(label=other))
    data = [one for one in record.answers if (one.task, one.form) == (CoreTask.DATA, CoreForm.TRACE)]
    wrong = [(one.source, one.target, one.true) for one in data if one.true != one.ruled]
    assert wrong == [("prices 2", "count 7", False), ("rate 2", "count 7", True)]
    beside = figures(record)["compared with rules without a model"]["data dependence"]
    assert (beside["rule wrong"], beside["F1 if rule wrong"]) == (2, pytest.approx(2 / 3))


def test_answers_at_random_are_right_by_half() -> None:
    draw = random.Random(3)  # noqa: S311 - a sample, no secret
    found = figures(*(probed(Oracle(lambda text: always(draw.random() < 0.5)(text))) for _ in range(8)))
    row = found["pairwise questions"]["all tasks"]
    assert row["questions"] > 500
    assert abs(row["accuracy"] - 0.5) < 0.08


def test_a_model_elsewhere_that_answers_in_two_ways_gets_no_figures() -> None:
    draw = random.Random(3)  # noqa: S311 - a sample, no secret
    fickle = Oracle(lambda text: always(draw.random() < 0.5)(text))
    fickle.info = replace(fickle.info, where="example.org")
    with pytest.raises(CounterlensError, match="does not answer the same question the same way twice"):
        probed(fickle)
    steady = Oracle(knows)
    steady.info = fickle.info
    record = probed(steady, questions=4)
    assert len(steady.asked) == len(record.answers) + 3


def test_all_of_core_is_asked_to_its_end(published: Path) -> None:
    targets = targets_of(open_dataset(published / "core"))
    assert len(targets) == (26 if WHOLE else 4)
    for each in targets:
        record = probed(Oracle(lambda _: "{}"), each, questions=2)
        assert {one.labelled for one in record.answers} == {True}
        assert {one.task for one in record.answers} == set(CoreTask)


def test_who_thinks_aloud_is_read_and_who_cannot_be_read_is_asked_three_times() -> None:
    def aloud(text: str) -> str:
        other = always(True)(text)
        return f"<think>Is it {other}? No.</think>Well:\n\n```json\n{knows(text)}\n```\nThat is all."

    assert figures(probed(Oracle(aloud))) == figures(probed(Oracle(knows)))
    model = Oracle(lambda _: "I do not know.")
    record = probed(model, questions=4)
    assert len(model.asked) == 3 * len(record.answers)
    assert {(one.read, one.tries, one.said) for one in record.answers} == {(False, 3, False)}
    assert record.left_out == {"unreadable answers": len(record.answers)}
    later = Oracle(lambda text: knows(text) if "I mumble" in text else "I mumble.")
    again = probed(later, questions=4)
    assert {(one.read, one.tries) for one in again.answers} == {(True, 2)}


def test_an_answer_that_repeats_itself_up_to_the_limit_is_counted_and_not_asked_for_again() -> None:
    """Servers that ignore the schema give such answers; each costs the whole limit."""
    model = Oracle(
        lambda _: '{"DataDependence": true, "Trace": [' + '{"from": ["x", 1], "to": ' * 40, "length"
    )
    record = probed(model, questions=4)
    assert len(model.asked) == len(record.answers)
    assert {(one.read, one.tries, one.looped) for one in record.answers} == {(False, 1, True)}
    assert record.left_out["answers that repeat themselves up to the limit"] == len(record.answers)


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("[1, 2], " * 40, True),
        ("[1, 2], " * 40 + "[1,", True),
        ("and so on\n" + "." * 60, True),
        ("x = 1\n    ", False),
        ("".join(f"[{i}, {i + 1}], " for i in range(200)), False),
        ("yes", False),
        ("", False),
    ],
)
def test_a_text_that_repeats_itself_is_known_by_its_end(text: str, *, does: bool) -> None:
    assert repeats_itself(text) is does


@pytest.mark.parametrize(
    ("text", "task", "form", "nodes"),
    [
        ('```\n{"ControlDependence": true, "Trace": [1, "3"]}```', "control", "trace", [("", 1), ("", 3)]),
        ('```\n{"x": 1}\n```\n```\n{"DataDependence": false}\n```', "data", "trace", []),
        (
            '{"DataDependence": true, "Trace": [{"from": ["a", 1], "to": ["b", 2]}]}',
            "data",
            "trace",
            [("a", 1), ("b", 2)],
        ),
        (
            '{"InformationFlow": true, "Trace": [{"from": ["a", 1], "to": ["a", 2, "use"], "type": "data"},'
            '{"from": ["a", 2, "use"], "to": ["b", 3], "type": "control"}]}',
            "infoflow",
            "trace",
            [("a", 1), ("a", 2), ("b", 3)],
        ),
        ('{"InfomationFlowSources": [["a", 1]]}', "infoflow", "source", [("a", 1)]),
        ('{"ControlDependenceSources": []}', "control", "source", []),
        ('{"DataDependence": true, "Trace": [{"from": ["a"], "to": ["b", 2]}]}', "data", "trace", None),
        ('{"InformationFlow": true, "Trace": [{"from": ["a"], "to": ["b", 2]}]}', "infoflow", "trace", None),
        (
            '{"DataDependence": true, "Trace": [{"from": ["a", 1], "to": ["b", 2]},'
            '{"from": ["c", 2], "to": ["d", 3]}]}',  # does not go on where it ended
            "data",
            "trace",
            None,
        ),
        ('{"DataDependenceSources": [["a", "1"]]}', "data", "source", None),
        ('{"ControlDependence": true}', "data", "trace", None),
        ("yes", "data", "trace", None),
        ('{"ControlDependence": true, "Trace": [3, "...", 5]}', "control", "trace", None),
        ('{"ControlDependenceSources": [n, ...]} or, here: {"ControlDependenceSources": []}', "control",
         "source", None),
    ],
)  # fmt: skip
def test_answers_are_read_as_core_reads_them(
    text: str, task: str, form: str, nodes: list[CoreNode] | None
) -> None:
    reply = read_reply(text, CoreTask(task), CoreForm(form))
    assert (None if reply is None else list(reply.nodes)) == nodes


def official(task: str, category: str, source: Any, end: Any, true: bool, number: int) -> dict[str, Any]:
    """A record as in CoRe's files, in words of our own."""
    kind = {"data": "data dependence", "control": "control dependence", "infoflow": "information flow"}[task]
    lines = isinstance(end, int)
    last = end if lines else end[1]
    said = [f"line `{node}`" if lines else f"({node[0]}, {node[1]})" for node in (source, end)]
    about = said[1:] if category == "source" else said
    question = f"About {kind}: what of {' over '.join(about)} in function `total`?"
    return {
        "task_id": f"{task}_{NAME}_result_{last}_{number}",
        "category": category,
        "src": source,
        "dst": end,
        "groundtruth": true,
        "prompt": f"[INSTRUCTIONS]\n\n**Question**: {question}\n\n**Output**:\n",
    }


OFFICIAL = [
    official("data", "trace", ["price", 4], ["result", 6], True, 1),
    official("data", "trace", ["rate", 2], ["result", 6], False, 2),
    official("control", "trace", 4, 6, True, 1),
    official("infoflow", "trace", ["rate", 2], ["result", 6], True, 2),
    official("data", "source", ["price", 4], ["result", 6], True, 1),
    official("data", "source", ["rate", 2], ["result", 6], False, 2),
    official("control", "source", 4, 6, True, 1),
    official("infoflow", "source", ["rate", 2], ["result", 6], True, 2),
]


def test_core_s_own_questions_are_asked_in_its_words_and_sources_of_lite_alone() -> None:
    model = Oracle(knows)
    details = {"questions": json.dumps(OFFICIAL), "lite": json.dumps(LIT)}
    record = probed(model, target(**details), questions=None)
    assert set(model.asked) == {
        one["prompt"] for one in OFFICIAL if one["task_id"] != OFFICIAL[1]["task_id"]
    } | {OFFICIAL[1]["prompt"]}
    ids = [(one.id, one.form) for one in record.answers]
    assert (OFFICIAL[5]["task_id"], CoreForm.SOURCE) not in ids  # not of CoRe Lite
    assert len(ids) == len(OFFICIAL) - 1
    assert all(one.own_words and one.labelled for one in record.answers)
    assert figures(record)["pairwise questions"]["all tasks"]["accuracy"] == 1.0
    lite = probed(Oracle(knows), target(**details), questions=None, lite=True)
    assert [one.id for one in lite.answers] == [
        LIT[0], LIT[0], LIT[1], LIT[1], LIT[2], LIT[2],
    ]  # fmt: skip


def test_core_lite_needs_its_list_and_without_the_prompts_gives_the_targets_of_sources() -> None:
    refused = run_probe(
        PROBE,
        Context(Oracle(knows)),  # type: ignore[arg-type]
        target(),
        make(DependenceOptions, {"protocol": "core", "lite": True}),
    )
    assert isinstance(refused, Record)
    assert "CoRe Lite" in refused.reason
    labels = CoreLabels.read(LABELS)
    asked = own_questions(NAME, labels, {"lite": json.dumps(LIT)}, lite=False, limit=4, seed=0)
    sources = [one for one in asked if one.form is CoreForm.SOURCE]
    assert [(one.id, one.target) for one in sources] == [
        (LIT[0], ("result", 6)),
        (LIT[1], ("", 6)),
        (LIT[2], ("result", 6)),
    ]
    assert sum(one.form is CoreForm.TRACE for one in asked) == 12


def test_the_protocol_fixes_the_method_and_nothing_changes_without_it() -> None:
    assert make(DependenceOptions, {"protocol": "core"}).method is InferenceMethod.TRACE
    with pytest.raises(OptionError, match="--protocol core sets --method to trace"):
        make(DependenceOptions, {"protocol": "core", "method": "pairwise"})
    assert make(DependenceOptions, {}).most == 60


@pytest.mark.parametrize("task", list(CoreTask))
@pytest.mark.parametrize("form", list(CoreForm))
def test_the_examples_in_the_templates_are_true(task: CoreTask, form: CoreForm) -> None:
    places = {"lines": "", "function": "", "source": "", "target": ""}
    text = template("counterlens.probes.dependence", f"core-{form}-{task}", "completion").substitute(places)
    numbered = [line for line in text.splitlines() if line[:1].isdigit()]
    source = "\n".join(line[4:] for line in numbered) + "\n"
    name = numbered[0].split()[2].partition("(")[0]
    labels = labels_of_graph(ExaminedFunction.of(dependences(source, name)))
    require_true_examples(text, labels, task, form)


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert not ended.value.code
    return capsys.readouterr().out


def recomputed(folder: Path, *labels: Path) -> dict[str, Any]:
    script = ROOT / "benchmarks" / "recompute" / "core.py"
    command = [sys.executable, str(script), str(folder), *map(str, labels)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_cell_of_a_run_is_computed_again_by_a_script_of_its_own(
    tmp_path: Path,
    serve: Callable[..., Script],  # noqa: F811 - the fixture
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("pyarrow")
    data = tmp_path / "core"
    other = NAME.replace("gcj_1_2", "gcj_1_3")
    old = "gcj_1_4_show_1_2"
    for name, program in ((NAME, PROGRAM), (other, PROGRAM), (old, "def show(a):\n    print a\n")):
        for kind, ending, text in (("code", "py", program), ("label", "yaml", LABELS)):
            (data / kind).mkdir(parents=True, exist_ok=True)
            (data / kind / f"{name}.{ending}").write_text(text)
    (data / "prompts").mkdir()
    told = [{"label_file": f"{NAME}.yaml", **one} for one in OFFICIAL]
    (data / "prompts" / "all_Python_trace.jsonl").write_text("\n".join(map(json.dumps, told)))

    def answer(handler: Handler) -> None:
        """Right about two thirds, in several forms; now and then not to be read."""
        text = handler.script.requests[-1][1]["messages"][-1]["content"]
        chance = sum(map(ord, text)) % 7
        said = [knows, knows, knows, always(True), always(False), wrong_chain, lambda _: "I mumble."][chance](
            text
        )
        body = {"choices": [{"message": {"content": f"So:\n```json\n{said}\n```"}, "finish_reason": "stop"}]}
        handler.reply(200, body)

    script = serve(answer, models=["m"])
    run = tmp_path / "run"
    options = ["--task", "dependence", "--protocol", "core", "--questions", "12"]
    asked = ["--model", "remote:m", "--base-url", script.url, "--api", "chat"]
    said = called(capsys, "bench", "--data", data, "--out", run, *options, *asked)
    assert "1 record not drawn: gcj_1_4_show_1_2 (no Python 3, line 2: " in " ".join(said.split())
    document = json.loads(called(capsys, "report", run, "--format", "json"))
    called(capsys, "export", run, "--output", tmp_path / "parquet")
    compared = 0
    for again in (recomputed(tmp_path / "parquet"), recomputed(tmp_path / "parquet", data)):
        for table in document["tables"]:
            if not table["title"].endswith(" (protocol core)"):
                continue
            rows = again[table["title"].removesuffix(" (protocol core)")]
            for row in table["rows"]:
                cells = dict(zip(table["columns"][2:], row[2:], strict=True))
                expected = rows[row[1]]
                assert cells.keys() == expected.keys()
                for column, cell in cells.items():
                    value = cell["value"] if isinstance(cell, dict) else cell
                    assert value == pytest.approx(expected[column]), (table["title"], row[1], column)
                    compared += 1
    assert compared == 2 * 4 * (8 + 5 + 5 + 8)
    mixed = {round(row["accuracy"], 3) for row in again["pairwise questions"].values()}
    assert mixed - {0.0, 1.0}


def wrong_chain(text: str) -> str:
    """A chain from end to end that leaves out what is between, or leads nowhere."""
    task, nodes = asked_about(text)
    if len(nodes) == 1:
        near = nodes[0][1] - 1
        return json.dumps({f"{KEYS[task]}Sources": [near if task is CoreTask.CONTROL else ["price", near]]})
    steps: list[Any] = [node[1] for node in nodes]
    if task is not CoreTask.CONTROL:
        one, other = map(list, nodes)
        steps = [
            {"from": one, "to": other, "type": "data"},
            {"from": other, "to": ["count", 7], "type": "data"},
        ]
    return json.dumps({KEYS[task]: True, "Trace": steps})


def test_the_labels_of_core_are_read_whole(published: Path) -> None:
    for path in sorted((published / "core" / "label").glob("*.yaml")):
        labels = CoreLabels.read(path.read_text(encoding="utf-8"))
        assert len(labels.by_node) == len(labels.instances) > 5, path.stem
        named = {node for one in labels.instances for node in one.data | one.control}
        assert named <= labels.by_node.keys(), path.stem
        assert all(labels.by_node[node].binds for one in labels.instances for node in one.data), path.stem
