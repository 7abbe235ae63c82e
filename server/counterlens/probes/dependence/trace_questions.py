"""CoRe's question with its trace (Xie et al. 2025): is there a dependence, and by which steps?

The answer is CoRe's: `{"DataDependence": true, "Trace": [{"from": ["a", 1], "to": ["b", 2]}]}`, for control a
list of lines, `{"ControlDependence": true, "Trace": [1, 3]}`; without a dependence there is no trace. Models
write the answer; servers enforce its format if they can. `metrics/traces.py` judges a trace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from counterlens.metrics.traces import Trace, judge
from counterlens.models.base import Completion, Model, ModelInfo, Prompt, Stop
from counterlens.probes.dependence.core_questions import KEYS, lines, read_answer, words
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.instances import DependenceQuestion, Instance, graph
from counterlens.probes.dependence.prompted import has_placeholder
from counterlens.probes.prompts.templates import chats
from counterlens.progress import Steps

TraceNode = tuple[str, int]
"""A variable and its line; for control an empty name and the line."""

_MOST_STEPS = 20
_STEP_TOKENS = {Relation.CONTROL: 6, Relation.DATA: 30}


@dataclass(frozen=True, slots=True)
class TraceAnswer:
    """One answer.

    Attributes:
        yes: Whether the answer is yes; None if it cannot be read.
        nodes: The trace; empty if there is none.
        trace: Its correct parts.
    """

    yes: bool | None
    nodes: tuple[TraceNode, ...]
    trace: Trace


def answers(
    model: Model, subject: ExaminedFunction, asked: Sequence[DependenceQuestion], steps: Steps | None = None
) -> Mapping[DependenceQuestion, TraceAnswer]:
    """Ask some questions about one function, all of one relation.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    if not asked:
        return {}
    steps, relation = steps or Steps(), asked[0].relation
    listing, form = lines(subject), grammar(subject, relation)
    prompts = [prompt(model.info, subject, question, listing, form) for question in asked]
    completions = model.complete(prompts, **steps.request(f"asking about {relation}", len(asked)))
    direct = direct_steps(subject, relation)
    return {
        question: _trace_answer(subject, question, completion, direct)
        for question, completion in zip(asked, completions, strict=True)
    }


def prompt(
    info: ModelInfo, subject: ExaminedFunction, question: DependenceQuestion, listing: str, form: str
) -> Prompt:
    """The prompt of one question.

    Args:
        info: The model's information.
        listing: The result of `core_questions.lines` for the function.
        form: The grammar of the answer, from `grammar`.
    """
    wording = words(info, f"core-trace-{question.relation}", subject, question, listing)
    written = _STEP_TOKENS[question.relation] * _MOST_STEPS + 24
    stop = Stop() if chats(info) else Stop(texts=("\n",))
    return wording.question(written, stop, form, _schema(question.relation))


def direct_steps(subject: ExaminedFunction, relation: Relation) -> dict[TraceNode, set[TraceNode]]:
    """Return, for each node, the nodes that depend directly on it, by the dependence graph."""
    steps: dict[TraceNode, set[TraceNode]] = {}
    for instance, after in graph(subject, relation).direct.items():
        steps.setdefault(_node(subject, instance), set()).update(_node(subject, each) for each in after)
    return steps


def read_trace(
    text: str, relation: Relation, *, cut_off: bool = False
) -> tuple[bool | None, tuple[TraceNode, ...]]:
    """The content of a written answer: CoRe's JSON, the last one if there are several.

    An answer with a placeholder of the instruction, or one that the token limit ended, is unreadable.

    An answer whose trace is malformed counts as unreadable, as in CoRe's evaluation; one without JSON has no
    trace. The gap also counts as a step if a step does not begin at the end of the previous one.
    """
    if has_placeholder(text):
        return None, ()
    answers = [answer for answer in json_objects(text) if isinstance(answer.get(KEYS[relation]), bool)]
    if not answers:
        return (None if cut_off else read_answer(text)), ()
    yes, trace = answers[-1][KEYS[relation]], answers[-1].get("Trace") or []
    if not yes:
        return False, ()
    read = _line_nodes if relation is Relation.CONTROL else _step_nodes
    nodes = read(trace) if isinstance(trace, list) else None
    return (None, ()) if nodes is None else (True, tuple(nodes))


def grammar(subject: ExaminedFunction, relation: Relation) -> str:
    """GBNF: CoRe's answer, with the lines and variables of the function."""
    first = subject.starts.index(0) + 1
    numbers = range(first, first + len(subject.text.rstrip("\n").split("\n")))
    names = sorted({name for part in subject.parts for name in (*part.binds, *part.names)})
    rules = [
        f'root ::= " "? "{{\\"{KEYS[relation]}\\": " ("false" | "true, \\"Trace\\": [" trace "]") "}}"',
        f'trace ::= step (", " step){{0,{_MOST_STEPS - 1}}}',
        "line ::= " + " | ".join(f'"{number}"' for number in numbers),
    ]
    if relation is Relation.CONTROL:
        return "\n".join([*rules, "step ::= line"])
    variables = " | ".join(json.dumps(f'"{name}"', ensure_ascii=False) for name in names)
    return "\n".join(
        [
            *rules,
            'step ::= "{\\"from\\": " node ", \\"to\\": " node "}"',
            'node ::= "[" name ", " line "]"',
            f"name ::= {variables}",
        ]
    )


def _schema(relation: Relation) -> str:
    """A JSON schema for chat endpoints; a trace is required, because some of them require every key."""
    if relation is Relation.CONTROL:
        step: dict[str, Any] = {"type": "integer"}
    else:
        either = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
        node = {"type": "array", "items": either, "minItems": 2, "maxItems": 2}
        step = {
            "type": "object",
            "properties": {"from": node, "to": node},
            "required": ["from", "to"],
            "additionalProperties": False,
        }
    trace = {"type": "array", "items": step, "maxItems": _MOST_STEPS}
    return json.dumps(
        {
            "type": "object",
            "properties": {KEYS[relation]: {"type": "boolean"}, "Trace": trace},
            "required": [KEYS[relation], "Trace"],
            "additionalProperties": False,
        }
    )


def _trace_answer(
    subject: ExaminedFunction,
    question: DependenceQuestion,
    completion: Completion,
    direct: Mapping[TraceNode, Set[TraceNode]],
) -> TraceAnswer:
    yes, nodes = read_trace(completion.text, question.relation, cut_off=completion.finish == "length")
    ends = _node(subject, question.source), _node(subject, question.target)
    return TraceAnswer(yes, nodes, judge(nodes, direct, *ends))


def _node(subject: ExaminedFunction, instance: Instance) -> TraceNode:
    return instance.variable, subject.parts[instance.statement].statement.line


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, outermost first."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            end = at + 1
        else:
            if isinstance(value, dict):
                yield value
        at = text.find("{", end)


def _line_nodes(trace: Sequence[object]) -> list[TraceNode] | None:
    lines = [line for line in trace if isinstance(line, int) and not isinstance(line, bool)]
    return [("", line) for line in lines] if len(lines) == len(trace) else None


def _step_nodes(trace: Sequence[object]) -> list[TraceNode] | None:
    nodes: list[TraceNode] = []
    for step in trace:
        match step:
            case {"from": [str(name), int(line)], "to": [str(after), int(later)]}:
                if not nodes or nodes[-1] != (name, line):
                    nodes.append((name, line))
                nodes.append((after, later))
            case _:
                return None
    return nodes
