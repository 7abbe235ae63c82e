"""What every report on a run says, in words."""

from __future__ import annotations

from typing import Any

from counterlens.counting import plural
from counterlens.evaluation.asking import asks
from counterlens.evaluation.figures import Found
from counterlens.evaluation.plan import Plan
from counterlens.probes.pairs import PairTask
from counterlens.probes.registry import BENCHABLE
from counterlens.probes.task import Need


def title(found: Found) -> str:
    """One line: the task and the data."""
    return f"{found.settings.task} on {dataset(found)}"


def dataset(found: Found) -> str:
    """The data with its version and hash, as the manifests have it."""
    for manifest in found.manifests.values():
        one = manifest["dataset"]
        return f"{one['title']} ({one['version']}, {one['licence']}, sha256 {one['sha256'][:12]})"
    return found.settings.data


def state(found: Found) -> str:
    """How far the run is."""
    done = len(found.records)
    once = len(found.settings.tasks) == len(found.models) == 1
    what, about = ("function", "") if once else ("question", " about functions")
    every = f"{plural(found.total, what)}{about}"
    if done == found.total:
        return f"All {every} of the plan are done." if done != 1 else f"The {every} of the plan is done."
    return f"Not finished: {done} of {every} are done, so every figure is preliminary."


def circumstances(found: Found) -> list[str]:
    """One line for each model: who was asked, where programs ran, with which versions."""
    lines = []
    for digest, one in found.manifests.items():
        model: Any = one["model"]
        lines.append(
            f"{model['asked_as']}: {model['name']} ({model['where']}, {model['identity'][:12]}); "
            f"Counterlens {one['counterlens']}, Python {one['python']}, {one['platform']}, "
            f"sandbox {one['sandbox']}; manifest {digest[:12]}"
        )
    return lines


def plan_lines(plan: Plan, done: int = 0) -> list[str]:
    """What will be asked, before it is: task by task, with how much that is."""
    origin, settings = plan.dataset.provenance, plan.settings
    models = len(settings.models)
    lines = [
        f"{settings.task} on {origin.title}, {origin.version}, of {plural(origin.records, 'record')}",
        f"asked: {', '.join(settings.models)}",
    ]
    for task, functions in plan.targets.items():
        line = f"{task}: {plural(len(functions), 'function')} for each of {plural(models, 'model')}"
        found = asks(plan, task)
        if found is not None:
            line += f", about {found.total * models:.0f} {_asked(task, settings.max_tokens)}"
            if found.counted < found.functions:
                line += f" ({found.low * models:.0f} to {found.high * models:.0f}, estimated from "
                line += f"{plural(found.counted, 'function')})"
        lines.append(line)
    if done:
        lines.append(f"{done} of {len(plan.items)} are done already")
    return lines


def _asked(task: str, max_tokens: int) -> str:
    needs = BENCHABLE[task].needs
    if Need.COMPLETE in needs:
        capped = isinstance(BENCHABLE[task], PairTask)
        return f"prompts of up to {max_tokens} tokens" if capped else "prompts"
    return "texts to score" if Need.SCORE in needs else "questions"
