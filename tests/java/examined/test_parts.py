"""Methods of Java are examined as functions of Python are: statements, names, interventions, questions."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import pairwise

import pytest

from counterlens.datasets.core import CoreTask
from counterlens.dependence import Kind, dependences
from counterlens.errors import SourceError
from counterlens.models.base import Api, ModelInfo
from counterlens.probes.dependence.core_form import CoreForm
from counterlens.probes.dependence.examined import ExaminedFunction, Intervention, Relation
from counterlens.probes.dependence.prompted import read_pairs
from counterlens.probes.dependence.prompts import all_pairs, asked_in
from counterlens.probes.dependence.published import labels_of_graph
from counterlens.probes.dependence.reactions import lead_of, readings
from counterlens.probes.dependence.trace_questions import direct_steps, read_trace
from counterlens.probes.prompts.templates import template
from tests.probes.dependence.core_examples import require_true_examples

PACKAGE = "counterlens.probes.dependence"
INFO = ModelInfo("m", "m", "m", "local", frozenset())
METHOD = """\
class Most {
    int limit;
    /** The largest one. */
    @Deprecated
    int most(int[] values, String... names) {
        int most = 0, unset;
        for (int i = 0; i < values.length; i++) {
            if (values[i] > most && !seen.contains(most)) {
                most = values[i];
            } else if (values[i] == Math.max(most, LIMIT)) {
                this.limit += most;
            }
            values[i]--;
        }
        for (String name : names)
            seen.add(name);
        Runnable later = () -> { int most2 = 1; use(most2, most); };
        try (Reader reader = open(names)) { reader.read(); } catch (IOException e) { return -1; }
        return most;
    }
}
"""


def subject(source: str = METHOD, function: str = "most") -> ExaminedFunction:
    return ExaminedFunction.of(dependences(source, function, language="java"))


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_statements_and_names_are_where_they_are_said_to_be(ends: str) -> None:
    one = subject(METHOD.replace("\n", ends))
    assert one.text.startswith("    @Deprecated\n    int most(")
    assert one.text.endswith("return most;\n    }")
    for part in one.parts:
        assert one.data[slice(*part.span)].decode() == part.statement.text
        for occurrence in part.occurrences:
            assert one.data[slice(*occurrence.span)].decode() == occurrence.name


def test_what_a_statement_reads_binds_and_changes_is_that_of_its_syntax() -> None:
    found = {
        part.statement.text: (
            " ".join(sorted(part.binds)),
            " ".join(sorted({read.name for read in part.reads})),
            part.branch,
        )
        for part in subject().parts
    }
    assert found == {
        "int most(int[] values, String... names)": ("names values", "", False),
        "int most = 0, unset;": ("most", "", False),
        "for (int i = 0; i < values.length; i++)": ("", "i values", True),
        "int i = 0;": ("i", "", False),
        "i++": ("i", "i", False),
        "if (values[i] > most && !seen.contains(most))": ("", "i most seen values", True),
        "most = values[i];": ("most", "i values", False),
        "if (values[i] == Math.max(most, LIMIT))": ("", "LIMIT i most values", True),
        "this.limit += most;": ("limit", "limit most", False),
        "values[i]--;": ("values", "i values", False),
        "for (String name : names)": ("name", "names", True),
        "seen.add(name);": ("seen", "name seen", False),
        "Runnable later = () -> { int most2 = 1; use(most2, most); };": ("later", "most", False),
        "try (Reader reader = open(names))": ("reader", "names", False),
        "reader.read();": ("reader", "reader", False),
        "catch (IOException e)": ("e", "", True),
        "return -1;": ("", "", False),
        "return most;": ("", "most", False),
    }


def changed(text: str, kind: Intervention) -> str:
    one = subject()
    (part,) = (part for part in one.parts if part.statement.text.startswith(text))
    found = readings(one, part, kind)
    return found[-1].data.decode() if found else ""


@pytest.mark.parametrize(
    ("text", "kind", "before", "after"),
    [
        ("if (values[i] >", "negate", "values[i] > most && !seen.contains(most)", "!({})"),
        ("if (values[i] ==", "negate", "values[i] == Math", "values[i] != Math"),
        ("for (int i", "negate", "i < values.length", "i >= values.length"),
        ("for (String", "negate", ": names)", ": List.of())"),
        ("for (String", "neutralise", "for (String name : names)", "synchronized (lock)"),
        ("int most = 0", "rename", "int most = 0", "int other = 0"),
    ],
)
def test_a_changed_statement_leaves_all_that_follows(text: str, kind: str, before: str, after: str) -> None:
    assert (
        changed(text, Intervention(kind))
        == subject().text.rpartition("most;")[0].replace(before, after.format(before), 1) + "most;"
    )


def test_a_hidden_name_is_hidden_up_to_its_next_binding() -> None:
    text = changed("int most = 0", Intervention.HIDE)
    assert "> other && !seen.contains(other)" in text
    assert "most = values[i];" in text
    assert "return most;" in text


def test_what_is_for_python_alone_changes_nothing() -> None:
    assert changed("seen.add", Intervention.DELETE) == changed("seen.add", Intervention.REPLACE) == ""


def test_the_model_reads_and_is_shown_java() -> None:
    assert (lead_of("python"), lead_of("java")) == ("# Python\n", "// Java\n")
    chat = ModelInfo("m", "m", "m", "local", frozenset(), api=Api.CHAT)
    for info in (INFO, chat):
        prompt = all_pairs(info, subject(), Relation.DATA)
        turns = prompt.reply.turns if prompt.reply else ()
        asked = "\n".join([*(text for turn in turns for text in turn), prompt.text])
        assert "for (double price : prices)" in asked
        assert "def total" not in asked
    filled = asked_in(chat, subject(), "data-pair", statements="", source="", target="")
    assert "a Java function" in filled.instruction
    with pytest.raises(SourceError, match="not probed"):
        lead_of("c")


def test_a_template_that_shows_python_has_a_twin_that_shows_java() -> None:
    every = {file.name: file.read_text() for file in (files(PACKAGE) / "templates").iterdir()}
    own = {name for name, text in every.items() if re.search(r"^\d.*\bdef ", text, re.MULTILINE)}
    twins = {name.replace(".", "-java.", 1) for name in own}
    assert {name for name in every if "-java." in name} == twins
    assert not [name for name in twins if "Python" in every[name] or "def " in every[name]]
    assert not [name for name in every.keys() - own if "Python" in every[name]]


def shown(text: str) -> tuple[str, str]:
    """The program in a template of CoRe's form as a class, and the name of its method."""
    lines = [line[4:] for line in text.splitlines() if line[:1].isdigit()]
    name = re.search(r"(\w+)\(", lines[0])
    assert name is not None
    return "class A { " + "\n".join(lines) + " }\n", name[1]


@pytest.mark.parametrize("task", list(CoreTask))
@pytest.mark.parametrize("form", list(CoreForm))
def test_the_examples_of_core_are_true(task: CoreTask, form: CoreForm) -> None:
    places = {"lines": "", "function": "", "source": "", "target": ""}
    text = template(PACKAGE, f"core-{form}-{task}-java", "completion").substitute(places)
    labels = labels_of_graph(subject(*shown(text)))
    require_true_examples(text, labels, task, form)


@pytest.mark.parametrize("relation", list(Relation))
def test_the_examples_of_pairs_and_traces_are_true(relation: Relation) -> None:
    text = template(PACKAGE, f"core-trace-{relation}-java", "completion").substitute(
        lines="", function="", source="", target=""
    )
    direct = direct_steps(subject(*shown(text)), relation)
    traces = [read_trace(line, relation)[1] for line in text.splitlines() if '"Trace"' in line]
    assert len(traces) == 2
    assert all(after in direct[before] for nodes in traces for before, after in pairwise(nodes))
    yes_or_no = template(PACKAGE, f"core-{relation}-java", "completion").substitute(
        lines="", function="", source="", target=""
    )
    task = CoreTask.CONTROL if relation is Relation.CONTROL else CoreTask.DATA
    labels = labels_of_graph(subject(*shown(yes_or_no)))
    for line in yes_or_no.splitlines():
        if line.endswith((" yes", " no")):
            found = re.findall(r"line ()(\d+)|\((\w+), (\d+)\)", line)
            nodes = [(name, int(own or other)) for _, own, name, other in found]
            assert (nodes[0] in labels.sources(task, nodes[1])) == line.endswith("yes"), line


@pytest.mark.parametrize("form", ["completion", "chat"])
@pytest.mark.parametrize("relation", list(Relation))
def test_the_listed_pairs_are_true(relation: Relation, form: str) -> None:
    text = template(PACKAGE, f"{relation}-java", form).substitute(statements="")
    lines = [line.partition(": ")[2] for line in text.splitlines() if line[:1].isdigit() and ": " in line]
    name = re.search(r"(\w+)\(", lines[0])
    assert name is not None
    source = "class A { " + lines[0] + " {\n" + "\n".join(lines[1:]) + "\n}}"
    found = dependences(source, name[1], language="java")
    (listed,) = re.findall(r'\{"pairs": (\[\[\d.*\]\])\}', text)
    control = relation is Relation.CONTROL
    true = {(e.source, e.target) for e in found.edges if (e.kind is Kind.CONTROL) == control}
    assert read_pairs(listed, range(len(lines))).pairs == true
