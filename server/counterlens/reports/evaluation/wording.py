"""What every report on a run says, in words."""

from __future__ import annotations

from typing import Any

from counterlens.evaluation.figures import Found
from counterlens.evaluation.plan import Plan


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
    if done == found.total:
        return f"All {done} functions of the plan are done."
    return f"Not finished: {done} of {found.total} functions are done, so every figure is preliminary."


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
    """What will be asked, before it is."""
    origin, settings = plan.dataset.provenance, plan.settings
    functions, models = len(plan.targets), len(settings.models)
    lines = [
        f"{settings.task} on {origin.title}, {origin.version}: {functions} of {origin.records} records",
        f"asked: {', '.join(settings.models)}",
    ]
    each = plan.prompts()
    left = len(plan.items) - done
    if each is not None:
        lines.append(
            f"{left} functions to ask about ({functions} for each of {models} "
            f"model{'' if models == 1 else 's'}{f', {done} done' if done else ''}), about {each * left:.0f} "
            f"prompts of up to {settings.max_tokens} tokens"
        )
    else:
        lines.append(f"{left} functions to ask about")
    return lines
