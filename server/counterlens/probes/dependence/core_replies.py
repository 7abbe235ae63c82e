"""Replies to CoRe's questions (Xie et al. 2025), in CoRe's words if the data has them, else in ours.

As in CoRe's runs, the model writes freely, at temperature 0 and with a token limit. An unreadable answer is
requested again, at most twice, with the previous answer in the prompt, unless it repeats itself up to the
limit: it would do so again, at the full cost. A question in our words prescribes the form of the answer if
the server can do that.

Answers are read as by CoRe's own evaluation: the first code block of an answer that is JSON with one of
CoRe's keys counts; an answer without a block is read whole, and if that is not JSON, its last JSON object
counts. One with a placeholder of the instruction cannot be read. Reasoning in `<think>` tags is skipped. Each
step of a trace of variables must begin at the end of the previous one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from counterlens.datasets.core import CoreNode, CoreTask
from counterlens.models.base import Model, ModelInfo, Prompt, Reply, Stop
from counterlens.models.cache import past_cache
from counterlens.models.stopping import repeats_itself
from counterlens.nested_text import parse_json
from counterlens.probes.dependence.core_form import CoreForm, OwnQuestion
from counterlens.probes.dependence.core_questions import lines
from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.prompted import has_placeholder
from counterlens.probes.dependence.prompts import asked_in
from counterlens.probes.dependence.trace_questions import json_objects
from counterlens.probes.prompts.templates import chats, repeats_example
from counterlens.probes.sanity import require_repeatable
from counterlens.progress import Steps

KEYS = {
    CoreTask.DATA: "DataDependence",
    CoreTask.CONTROL: "ControlDependence",
    CoreTask.FLOW: "InformationFlow",
}
"""CoRe's names of the dependences in its answers; `Sources` is added if these are requested."""

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_BLOCK = re.compile(r"```(?:\w+)?\n?(.*?)```", re.DOTALL)
_MISSPELT = "InfomationFlowSources"  # in CoRe's own prompts
TRIES = 3
ANSWER_TOKENS = 2048
"""Maximum new tokens of one answer, including reasoning, as in CoRe's runs."""
_CHECKED = 3
"""Number of questions per function that a remote model is asked twice; local decoding is deterministic."""
_MOST_NODES = 20
_SHOWN_AGAIN = 1000  # characters of an unreadable answer: one that repeats itself up to the limit is longer
_AGAIN = (
    "\n\nThis was answered before, and is not of the form that was asked for:\n\n{answer}\n\n"
    "Give the answer as JSON of that form, in one code block, and nothing else.\n"
)


@dataclass(frozen=True, slots=True)
class CoreReply:
    """One answer.

    Attributes:
        yes: Whether it is yes; None if sources were asked for.
        nodes: The trace, or the sources.
    """

    yes: bool | None
    nodes: tuple[CoreNode, ...]


def read_reply(text: str, task: CoreTask, form: CoreForm) -> CoreReply | None:
    """Read an answer; None if it cannot be read."""
    said = _THOUGHT.sub("", text)
    if has_placeholder(said):
        return None
    blocks = _BLOCK.findall(said) or [said]
    objects = [block for block in map(_object, blocks) if block is not None]
    objects = objects or list(json_objects(said))[::-1]
    for answer in objects:
        if form is CoreForm.SOURCE:
            for key in (f"{KEYS[task]}Sources", _MISSPELT):
                if key in answer:
                    nodes = _sources(answer[key], task)
                    return None if nodes is None else CoreReply(None, nodes)
        elif KEYS[task] in answer:
            return _trace(answer, task)
    return None


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _sources(sources: Any, task: CoreTask) -> tuple[CoreNode, ...] | None:
    if not isinstance(sources, list):
        return None
    nodes = [_line(source) if task is CoreTask.CONTROL else _node(source, exact=True) for source in sources]
    return None if None in nodes else tuple(node for node in nodes if node is not None)


def _trace(answer: dict[str, Any], task: CoreTask) -> CoreReply | None:
    yes = bool(answer[KEYS[task]])
    steps = (answer.get("Trace") or []) if yes else []
    if not isinstance(steps, list):
        return None
    if task is CoreTask.CONTROL:
        lines = [_line(step) for step in steps]
        return None if None in lines else CoreReply(yes, tuple(line for line in lines if line is not None))
    nodes = _steps(steps, typed=task is CoreTask.FLOW)
    return None if nodes is None else CoreReply(yes, tuple(nodes))


def _steps(steps: Sequence[Any], *, typed: bool) -> list[CoreNode] | None:
    """The nodes of the steps; None if one is malformed, or does not begin at the end of the previous one."""
    nodes: list[CoreNode] = []
    for step in steps:
        if not isinstance(step, dict) or (typed and step.get("type") not in {"data", "control"}):
            return None
        start, end = (_node(step.get(key), exact=not typed) for key in ("from", "to"))
        if start is None or end is None or (nodes and nodes[-1][0] != start[0]):
            return None
        if not nodes or nodes[-1] != start:
            nodes.append(start)
        nodes.append(end)
    return nodes


def _line(line: Any) -> CoreNode | None:
    try:
        return None if isinstance(line, bool | float) else ("", int(line))
    except (TypeError, ValueError):
        return None


def _node(node: Any, *, exact: bool) -> CoreNode | None:
    """A variable and a line; for information flow, `use` may follow."""
    match node:
        case [str(name), int(line), *rest] if not isinstance(line, bool) and not (rest and exact):
            return name, line
        case _:
            return None


@dataclass(frozen=True, slots=True)
class ReadReply:
    """The last reply to a question.

    Attributes:
        reply: Its content; None if it cannot be read.
        tries: Number of requests.
        cut_off: Whether the token limit ended it.
        looped: Whether it repeats itself up to the token limit; it is then not requested again.
        copied: Whether it has the nodes of a worked example of the prompt.
    """

    reply: CoreReply | None = None
    tries: int = 0
    cut_off: bool = False
    looped: bool = False
    copied: bool = False


def replies(
    model: Model, subject: ExaminedFunction, asked: Sequence[OwnQuestion], limit: int, steps: Steps
) -> list[ReadReply]:
    """Ask some questions about one function.

    Args:
        limit: Maximum new tokens of an answer.

    Returns:
        The reply to each.

    Raises:
        UnsteadyModelError: a remote model answers the same questions in two ways.
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    listing = lines(subject)
    prompts = [_prompt(model.info, subject, question, listing, limit) for question in asked]
    first = list(prompts)
    answered = [ReadReply()] * len(asked)
    left = list(range(len(asked)))
    for count in range(1, TRIES + 1):
        if not left:
            break
        what = "asking CoRe's questions" if count == 1 else "asking again for unreadable answers"
        completions = model.complete([prompts[at] for at in left], **steps.request(what, len(left)))
        for at, completion in zip(left, completions, strict=True):
            read = partial(read_reply, task=asked[at].task, form=asked[at].form)
            answered[at] = ReadReply(
                read(completion.text),
                count,
                completion.finish == "length",
                completion.finish == "length" and repeats_itself(completion.text),
                repeats_example(prompts[at], completion.text, read),
            )
            again = prompts[at].text + _AGAIN.format(answer=completion.text.strip()[:_SHOWN_AGAIN])
            prompts[at] = replace(prompts[at], text=again)
        if count == 1 and not model.info.local:
            _require_repeatable(model, asked[:_CHECKED], first, [each.reply for each in answered], steps)
        left = [at for at in left if answered[at].reply is None and not answered[at].looped]
    return answered


def _require_repeatable(
    model: Model,
    asked: Sequence[OwnQuestion],
    prompts: Sequence[Prompt],
    first_replies: Sequence[CoreReply | None],
    steps: Steps,
) -> None:
    """Ask the first questions again, without the cache."""

    def again() -> list[CoreReply | None]:
        completions = past_cache(model).complete(prompts[: len(asked)], cancel=steps.cancel)
        return [
            read_reply(completion.text, question.task, question.form)
            for question, completion in zip(asked, completions, strict=True)
        ]

    require_repeatable(model, "answer the same question", list(first_replies[: len(asked)]), again)


def _prompt(
    info: ModelInfo, subject: ExaminedFunction, question: OwnQuestion, listing: str, limit: int
) -> Prompt:
    if question.prompt:
        stop = (
            Stop() if chats(info) else Stop(texts=("```\n",))
        )  # a completion model continues after its answer
        return Prompt(question.prompt, limit, stop, Reply("", ""))
    wording = asked_in(
        info,
        subject,
        f"core-{question.form}-{question.task}",
        lines=listing,
        function=subject.dependences.function,
        target=shown_node(question.target),
        **({"source": shown_node(question.source)} if question.source else {}),
    )
    stop = Stop() if chats(info) else Stop(texts=("\n",))
    return wording.question(limit, stop, grammar(subject, question), _schema(question))


def shown_node(node: CoreNode) -> str:
    """A node as questions name it: `(total, 3)`, or the line."""
    variable, line = node
    return f"({variable}, {line})" if variable else str(line)


def grammar(subject: ExaminedFunction, question: OwnQuestion) -> str:
    """GBNF: CoRe's answer to a question in our words, with the lines and variables of the function."""
    first = subject.starts.index(0) + 1
    numbers = range(first, first + len(subject.text.rstrip("\n").split("\n")))
    names = sorted({name for part in subject.parts for name in (*part.binds, *part.names)}) or ["x"]
    rules = ["line ::= " + " | ".join(f'"{number}"' for number in numbers)]
    if question.task is CoreTask.CONTROL:
        rules.append("node ::= line")
    else:
        variables = " | ".join(json.dumps(f'"{name}"', ensure_ascii=False) for name in names)
        rules += ['node ::= "[" name ", " line "]"', f"name ::= {variables}"]
    if question.task is CoreTask.CONTROL or question.form is CoreForm.SOURCE:
        rules.append("step ::= node")
    else:
        kind = ' ", \\"type\\": \\"" ("data" | "control") "\\""' if question.task is CoreTask.FLOW else ""
        rules.append(f'step ::= "{{\\"from\\": " node ", \\"to\\": " node{kind} "}}"')
    several = f'step (", " step){{0,{_MOST_NODES - 1}}}'
    key = KEYS[question.task]
    if question.form is CoreForm.SOURCE:
        return "\n".join([f'root ::= " "? "{{\\"{key}Sources\\": [" ({several})? "]}}"', *rules])
    yes = f'"true, \\"Trace\\": [" {several} "]"'
    return "\n".join([f'root ::= " "? "{{\\"{key}\\": " ("false" | {yes}) "}}"', *rules])


def _schema(question: OwnQuestion) -> str:
    """A JSON schema for chat endpoints; a trace is required, because some of them require every key."""
    either = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    node: dict[str, Any] = {"type": "array", "items": either, "minItems": 2, "maxItems": 2}
    if question.task is CoreTask.CONTROL:
        node = {"type": "integer"}
    step = node
    if question.task is not CoreTask.CONTROL and question.form is CoreForm.TRACE:
        parts: dict[str, Any] = {"from": node, "to": node}
        if question.task is CoreTask.FLOW:
            parts["type"] = {"type": "string", "enum": ["data", "control"]}
        step = _closed_object(parts)
    several = {"type": "array", "items": step, "maxItems": _MOST_NODES}
    key = KEYS[question.task]
    if question.form is CoreForm.SOURCE:
        return json.dumps(_closed_object({f"{key}Sources": several}))
    return json.dumps(_closed_object({key: {"type": "boolean"}, "Trace": several}))


def _closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
