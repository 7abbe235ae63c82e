"""The probes by name. To add one: write its file, and name it here."""

from __future__ import annotations

from counterlens.probes.execution.task import ExecutionTask
from counterlens.probes.inference.task import DependenceTask
from counterlens.probes.memorisation import MemorisationTask
from counterlens.probes.operator.task import OperatorTask
from counterlens.probes.task import Task
from counterlens.probes.understanding.asking import QUESTIONS
from counterlens.probes.understanding.task import UnderstandingTask

_ALL: tuple[Task, ...] = (
    OperatorTask(),
    MemorisationTask(),
    ExecutionTask(),
    DependenceTask(),
    *map(UnderstandingTask, QUESTIONS),
)

TASKS = {task.id: task for task in _ALL}
