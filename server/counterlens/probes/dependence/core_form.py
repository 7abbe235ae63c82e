"""CoRe's questions about one function (Xie et al. 2025): its own if the data has them, else a sample.

There are three tasks (data dependence, control dependence, information flow) in two forms: whether one
instance depends on another, with the steps; and all the sources of an instance.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from counterlens.datasets.core import CoreLabels, CoreNode, CoreTask
from counterlens.errors import SourceError
from counterlens.probes.dependence.instances import balance


class CoreForm(StrEnum):
    """The form of the question; the values are CoRe's categories."""

    TRACE = "trace"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    """One question.

    Attributes:
        id: CoRe's, or one of the same form.
        source: The possible source; None if all sources are asked for.
        target: The possible target.
        true: Whether yes is true; None if the sources are asked for.
        prompt: CoRe's prompt; empty if the question is ours.
        lite: Whether it is in CoRe Lite.
    """

    id: str
    task: CoreTask
    form: CoreForm
    source: CoreNode | None
    target: CoreNode
    true: bool | None
    prompt: str = ""
    lite: bool = False


def own_questions(
    name: str, labels: CoreLabels, details: Mapping[str, str], *, lite: bool, limit: int | None, seed: int
) -> list[OwnQuestion]:
    """The questions about a function, task by task, traces before sources.

    Args:
        name: The name of the function in ids.
        details: Its data in the dataset: CoRe's own questions (`questions`), those in CoRe Lite (`lite`).
        lite: Whether to use only CoRe Lite.
        limit: Maximum questions of each task and form; None for all of CoRe's own.
        seed: Random seed of samples.

    Raises:
        SourceError: only CoRe Lite is requested, and the data has none of it.
    """
    ids = json.loads(details.get("lite", "[]"))
    if lite and not ids:
        raise SourceError(
            "CoRe Lite's questions about this function are not known",
            "Put CoRe's lite.json next to the folders code and label, or pass CoRe's repository as --data",
        )
    given = [_official(question, set(ids)) for question in json.loads(details.get("questions", "[]"))]
    questions: list[OwnQuestion] = []
    for task in CoreTask:
        for form in CoreForm:
            asked = [question for question in given if (question.task, question.form) == (task, form)]
            if form is CoreForm.SOURCE:
                asked = asked or list(_of_ids(ids, name, task, labels))
                if ids:  # CoRe asks for sources only in CoRe Lite
                    asked = [question for question in asked if question.lite]
            if lite:
                asked = [question for question in asked if question.lite]
            if asked:
                questions += balance(asked, _yes, limit, seed)
            elif not given or form is CoreForm.SOURCE:
                ours = _pairs if form is CoreForm.TRACE else _targets
                questions += ours(name, labels, task, limit, seed)
    return questions


def _yes(question: OwnQuestion) -> bool:
    return question.true is not False


def _official(record: Mapping[str, Any], lite: set[str]) -> OwnQuestion:
    """A question of CoRe's files: nodes are lines, or a variable and its line (and its use)."""
    task = CoreTask(str(record["task_id"]).partition("_")[0])
    form = CoreForm.SOURCE if "source" in str(record["category"]) else CoreForm.TRACE
    source, target = (_node(record[key]) for key in ("src", "dst"))
    trace = form is CoreForm.TRACE
    return OwnQuestion(
        str(record["task_id"]),
        task,
        form,
        source if trace else None,
        target,
        bool(record["groundtruth"]) if trace else None,
        str(record["prompt"]),
        record["task_id"] in lite,
    )


def _node(node_label: Any) -> CoreNode:
    return ("", int(node_label)) if isinstance(node_label, int) else (str(node_label[0]), int(node_label[1]))


def _of_ids(ids: Sequence[str], name: str, task: CoreTask, labels: CoreLabels) -> Iterator[OwnQuestion]:
    """Questions for the sources of each target in CoRe Lite; ids are `TASK_NAME_VARIABLE_LINE_NUMBER`."""
    seen: set[CoreNode] = set()
    for identifier in ids:
        head = f"{task}_{name}_"
        if not identifier.startswith(head):
            continue
        variable, line, _ = identifier.removeprefix(head).rsplit("_", 2)
        node = ("", int(line)) if task is CoreTask.CONTROL else (variable, int(line))
        if node not in seen and node in set(labels.targets(task)):
            seen.add(node)
            yield OwnQuestion(identifier, task, CoreForm.SOURCE, None, node, None, lite=True)


def _pairs(name: str, labels: CoreLabels, task: CoreTask, limit: int | None, seed: int) -> list[OwnQuestion]:
    """Pairs on different lines, half of them dependent if there are enough."""
    every: list[OwnQuestion] = []
    for target in labels.targets(task):
        true = labels.sources(task, target)
        every += [
            OwnQuestion(_id(name, task, target, number), task, CoreForm.TRACE, source, target, source in true)
            for number, source in enumerate(labels.candidates(task), 1)
            if source[1] != target[1]
        ]
    return balance(every, _yes, limit, seed)


def _targets(
    name: str, labels: CoreLabels, task: CoreTask, limit: int | None, seed: int
) -> list[OwnQuestion]:
    targets = labels.targets(task)
    if limit is not None and limit < len(targets):
        drawn = random.Random(seed).sample(range(len(targets)), limit)  # noqa: S311 - a sample, no secret
        targets = [targets[at] for at in sorted(drawn)]
    return [
        OwnQuestion(_id(name, task, target, 0), task, CoreForm.SOURCE, None, target, None)
        for target in targets
    ]


def _id(name: str, task: CoreTask, target: CoreNode, number: int) -> str:
    variable, line = target
    return "_".join(part for part in (str(task), name, variable, str(line), str(number)) if part)
