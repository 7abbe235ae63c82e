"""The probes by name. To add one: write its file, and name it here."""

from __future__ import annotations

from counterlens.probes.concepts import ConfidenceTask
from counterlens.probes.embedding import EmbeddingTask
from counterlens.probes.execution.coherence import CoherenceTask
from counterlens.probes.execution.dependent import DependentTask
from counterlens.probes.execution.specification import SpecificationTask
from counterlens.probes.execution.task import ExecutionTask
from counterlens.probes.inference.task import DependenceTask
from counterlens.probes.memorisation import MemorisationTask
from counterlens.probes.operator.task import OperatorTask
from counterlens.probes.pairs import PAIR_TASKS
from counterlens.probes.task import Task
from counterlens.probes.understanding.asking import QUESTIONS
from counterlens.probes.understanding.task import UnderstandingTask

_ALL: tuple[Task, ...] = (
    ConfidenceTask(),
    OperatorTask(),
    MemorisationTask(),
    EmbeddingTask(),
    ExecutionTask(),
    DependentTask(),
    SpecificationTask(),
    CoherenceTask(),
    DependenceTask(),
    *map(UnderstandingTask, QUESTIONS),
)

TASKS = {task.id: task for task in _ALL}

BENCHABLE: dict[str, Task] = {task.id: task for task in (*PAIR_TASKS, *_ALL)}
"""What an evaluation asks about one function after the other: the probes of pairs, and all others."""
