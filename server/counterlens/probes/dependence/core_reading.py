"""Reads answers to CoRe's questions as CoRe's own evaluation does (Xie et al. 2025).

The first code block of an answer that is JSON with one of CoRe's keys counts; an answer without a block is
read whole, and if that is not JSON, its last JSON object counts. One with a placeholder of the instruction
cannot be read. Reasoning in `<think>` tags is skipped. Each
step of a trace of variables must begin at the end of the previous one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from counterlens.datasets.core_labels import CoreNode, CoreTask
from counterlens.probes.dependence.core_form import CoreForm
from counterlens.probes.dependence.parsing import has_placeholder
from counterlens.probes.dependence.trace_questions import json_objects

KEYS = {
    CoreTask.DATA: "DataDependence",
    CoreTask.CONTROL: "ControlDependence",
    CoreTask.FLOW: "InformationFlow",
}
"""CoRe's names of the dependences in its answers; `Sources` is added if these are requested."""

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_BLOCK = re.compile(r"```(?:\w+)?\n?(.*?)```", re.DOTALL)
_MISSPELT = "InfomationFlowSources"  # in CoRe's own prompts


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
        value = json.loads(text)
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
