"""The probes by name. To add one: write its file, and add it to `TASKS`."""

from __future__ import annotations

from counterlens.probes.execution.task import ExecutionTask
from counterlens.probes.inference.task import DependenceTask
from counterlens.probes.memorisation import MemorisationTask
from counterlens.probes.operator.task import OperatorTask
from counterlens.probes.task import Task

TASKS: dict[str, Task] = {
    task.id: task for task in (OperatorTask(), MemorisationTask(), ExecutionTask(), DependenceTask())
}
