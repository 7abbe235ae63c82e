"""Expected duration of a run before it begins: from the pace of earlier runs, or of a trial of each model.

A pace is seconds per prompt and per function of one model and task, on this machine. Each run records its
paces. A few prompts are timed if none is known, which gives a rough estimate.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Event, Timer

from counterlens.errors import Cancelled
from counterlens.evaluation.engines.base import EvaluationEngine
from counterlens.evaluation.estimate import PromptCounts
from counterlens.evaluation.item_time import ItemTime
from counterlens.evaluation.plan import Plan
from counterlens.evaluation.remaining import Paces, RemainingTime, Which
from counterlens.evaluation.settings import RunSettings
from counterlens.models.base import Capability, Model, Prompt, Stop
from counterlens.models.files import known, note
from counterlens.probes.probe import Need, Target
from counterlens.probes.registry import PROBES
from counterlens.syntax.functions import find_function

TRIED = 3
"""Functions per trial."""
SECONDS = 12.0
"""Time limit of a trial of one task, in seconds."""
TOKENS = 48
"""Maximum number of tokens of a completion in a trial; most functions end before their limit, too."""
_MEMORY = "run-paces.json"
_SAME_DATA, _OTHER_DATA = 12.0, 2.0  # weights of a pace, in items: tests differ in their time
_OVERHEAD = 0.5  # seconds per function beside those of its prompts, in prompts of a trial
_SHOWN = 0.6  # share of a function in the prompt of a trial
_COUNTED = ("max_tokens", "samples", "ways")  # options that change the cost of a prompt


@dataclass(frozen=True, slots=True)
class ExpectedTime:
    """The expected duration of a run.

    Attributes:
        seconds: The whole duration, or the remaining one.
        rough: Whether it comes from a trial, not from earlier runs.
    """

    seconds: float
    rough: bool

    def __str__(self) -> str:
        way = "by a trial of a few prompts" if self.rough else "at the pace of earlier runs"
        return f"it takes about {duration(self.seconds)}, {way}"


def duration(seconds: float) -> str:
    """A duration in words, as exact as an estimate: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{max(5, 5 * round(seconds / 5))} s"
    minutes = math.ceil(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def known_paces(settings: RunSettings) -> dict[Which, ItemTime]:
    """The paces of earlier runs with the same model and the same way to ask it, best on the same data."""
    found = {}
    for model in settings.models:
        for task in settings.tasks:
            for data, weight in ((settings.data, _SAME_DATA), (None, _OTHER_DATA)):
                noted = known(_MEMORY, _key(settings, model, task, data))
                parts = noted.split() if isinstance(noted, str) else []
                if len(parts) == 2:
                    found[model, task] = ItemTime(float(parts[0]), float(parts[1]), weight)
                    break
    return found


def note_paces(settings: RunSettings, remaining: RemainingTime) -> None:
    """Store the paces of a run."""
    for (model, task), pace in remaining.paces().items():
        for data in (settings.data, None):
            noted = f"{pace.per_prompt:.4g} {pace.per_function:.4g}"
            note(_MEMORY, _key(settings, model, task, data), noted)


def tried_paces(
    plan: Plan, engine: EvaluationEngine, *, measured: Iterable[Which] = ()
) -> dict[Which, ItemTime]:
    """Measure the paces of models in a trial; takes seconds per model.

    Args:
        plan: The plan.
        engine: The engine of the models.
        measured: Models and tasks whose pace is known.

    Raises:
        ModelError: a model cannot be opened, or lacks a capability that a task needs.
    """
    passed, found = set(measured), dict[Which, ItemTime]()
    for model in plan.settings.models:
        tasks = [task for task in plan.targets if (model, task) not in passed and plan.targets[task]]
        if not tasks:
            continue
        with engine.open(model, plan.settings) as opened:
            for task in tasks:
                pace = _tried(opened, plan, task)
                if pace is not None:
                    found[model, task] = pace
    return found


def expected_time(
    plan: Plan,
    counted: Mapping[str, PromptCounts],
    paces: Paces,
    *,
    done: Iterable[int] = (),
    rough: bool = False,
) -> ExpectedTime | None:
    """The expected duration of a run; None if the pace of a model or task is unknown.

    Args:
        plan: The plan.
        counted: The prompts of each task.
        paces: Paces by model and task.
        done: Positions of finished items.
        rough: Whether some of the paces come from a trial.
    """
    prompts = {task: counted[task].of_each(functions) for task, functions in plan.targets.items()}
    passed, total = set(done), 0.0
    for item in plan.items:
        if item.position in passed:
            continue
        pace = paces.get((item.model, item.task))
        if pace is None:
            return None
        total += pace.of(prompts[item.task][item.problem])
    minutes = plan.settings.minutes
    return ExpectedTime(total if minutes is None else min(total, 60 * minutes), rough)


def _tried(
    model: Model, plan: Plan, task: str, *, clock: Callable[[], float] = time.perf_counter
) -> ItemTime | None:
    """The pace of a model for completions or scores, as a task needs; None if it needs neither."""
    targets, needs = list(plan.targets[task].values())[:TRIED], PROBES[task].needs
    cancel = Event()
    if Need.COMPLETE in needs:
        model.offers(Capability.EXACT, cancel=cancel)  # the exactness test is not part of a prompt
    elif Need.SCORE not in needs:
        return None
    late = Timer(SECONDS, cancel.set)
    late.daemon = True
    late.start()
    started = clock()
    try:
        _ask(model, plan, task, targets, cancel)
    except Cancelled:
        pass  # it takes at least that long
    finally:
        late.cancel()
    seconds = (clock() - started) / len(targets)
    return ItemTime(seconds, _OVERHEAD * seconds)


def _ask(model: Model, plan: Plan, task: str, targets: list[Target], cancel: Event) -> None:
    if Need.COMPLETE in PROBES[task].needs:
        most = min(TOKENS, int(getattr(plan.settings.options_of(task), "max_tokens", None) or TOKENS))
        model.complete([_prompt(target, most) for target in targets], cancel=cancel)
        return
    for target in targets:
        model.score(_text(target, 1.0), cancel=cancel)


def _prompt(target: Target, most: int) -> Prompt:
    return Prompt(_text(target, _SHOWN), most, Stop(indent=0))


def _text(target: Target, share: float) -> str:
    """The first part of a function, in whole lines."""
    function = find_function(target.document, target.qualname)
    data = target.document.data[function.start : function.end]
    lines = data.decode("utf-8", "replace").splitlines()
    return "\n".join(lines[: max(2, round(share * len(lines)))])


def _key(settings: RunSettings, model: str, task: str, data: str | None) -> str:
    api, base_url = settings.served(model)
    options = settings.options.get(task, {})
    costs = {name: options[name] for name in _COUNTED if options.get(name)}
    key = [model, base_url, api, task, settings.threads, settings.gpu_layers, costs]
    return json.dumps(key if data is None else [*key, data], sort_keys=True)
