"""Describes the facts of a run for every report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from counterlens.counting import plural
from counterlens.datasets.base import UNKNOWN
from counterlens.evaluation.estimate import PromptCounts, cost_lines, counted_prompts
from counterlens.evaluation.plan import Plan
from counterlens.evaluation.results import RunResults, model_labels
from counterlens.metrics.significance import POWER, detectable_difference, functions_needed
from counterlens.models.base import ASKED, COMPLETIONS
from counterlens.probes.options import flag_of
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.probe import Need
from counterlens.probes.protocols import in_words
from counterlens.probes.registry import PROBES
from counterlens.reports.wording import shorten


def title(results: RunResults) -> str:
    """One line: the tasks, with their protocols, and the data."""
    settings = results.settings
    followed = {task: settings.options_of(task).chosen_protocol for task in settings.tasks}
    tasks = (f"{task}{in_words(protocol, ' (protocol {})')}" for task, protocol in followed.items())
    return f"{', '.join(tasks)} on {dataset(results)}"


def dataset(results: RunResults) -> str:
    """The data with its version, if known."""
    named = (_with_version(str(data["title"]), str(data["version"])) for data in _data(results))
    return " and ".join(named) or results.settings.data


def _with_version(data: str, version: str) -> str:
    return data if version == UNKNOWN else f"{data} ({version})"


def progress_of(results: RunResults) -> str:
    """The progress of a run."""
    done = len(results.records)
    once = len(results.settings.tasks) == len(results.models) == 1
    what, about = ("function", "") if once else ("question", " about functions")
    every = f"{plural(results.total, what)}{about}"
    lost = ""
    if results.unverified:
        record = plural(results.unverified, "record")
        lost = f" An earlier version stored {record} without a checksum, so damage would not be noticed."
    if done == results.total:
        whole = f"All {every} of the plan are done." if done != 1 else f"The {every} of the plan is done."
        return " ".join(filter(None, (whole, excess_words(results)))) + lost
    if results.lost:
        record = plural(len(results.lost), "record")
        lost += f" {record} cannot be read ({shorten(results.lost[0], 80)}): --resume repeats them."
    if results.excess:
        return f"{done} of {every} are done. {excess_words(results)}{lost}"
    if results.settings.minutes is not None and not done:
        return (
            f"The time limit of {results.settings.minutes:g} minutes was too short to start: raise it.{lost}"
        )
    if results.settings.minutes is not None:
        return f"The time limit sufficed for {done} of {every}: figures describe these.{lost}"
    return f"Not finished: {done} of {every} are done, so all figures are preliminary.{lost}"


def excess_words(results: RunResults) -> str:
    """What is known of each model's main figure, if the run goes on until it differs from chance."""
    several = len(results.excess) > 1
    said = []
    for (model, task), excess in results.excess.items():
        what = f"{model}, {task}: the main figure" if several else "The main figure"
        low, high = excess.low, excess.high
        side = "above chance" if low > 0 else "below chance" if high < 0 else "not told from chance yet"
        said.append(
            f"{what} is {side} after {plural(excess.n, 'function')}: "
            f"{excess.mean:+.2f} [{low:+.2f}, {high:+.2f}], valid however often one looks"
        )
    return f"{'; '.join(said)}." if said else ""


def circumstances(results: RunResults) -> tuple[str, ...]:
    """One line for the data, and one per model: the model, the sandbox, and the versions."""
    lines = [
        f"data: {_with_version(data['title'], data['version'])}, licence {data['licence']}, "
        f"sha256 {data['sha256'][:12]}"
        for data in _data(results)
    ]
    for digest, manifest in results.manifests.items():
        model: Any = manifest["model"]
        said = model["details"].get(COMPLETIONS)
        exact = f", completions {said}" if said else ""
        asked = f", asked {model['details'][ASKED]}" if ASKED in model["details"] else ""
        origin = f"{model['where']}, {model['identity'][:12]}{exact}{asked}"
        lines.append(
            f"{results.label(model['asked_as'])}: {model['name']} ({origin}); "
            f"Counterlens {manifest['counterlens']}, Python {manifest['python']}, {manifest['platform']}, "
            f"sandbox {manifest['sandbox']}; manifest {digest[:12]}"
        )
    return tuple(lines)


def _data(results: RunResults) -> list[Any]:
    """The data of the manifests, each dataset once."""
    datasets: list[Any] = [manifest["dataset"] for manifest in results.manifests.values()]
    return list({(data["title"], data["version"]): data for data in datasets}.values())


def not_drawn(results: RunResults) -> list[str]:
    """State in a line which records of the data were not sampled, and why; empty if all could be."""
    dropped: Any = next((manifest.get("not_drawn", {}) for manifest in results.manifests.values()), {})
    return _not_drawn(dropped)


def plan_lines(plan: Plan, done: int = 0, counted: Mapping[str, PromptCounts] | None = None) -> list[str]:
    """Describe the plan of a run, task by task, with the amount of work.

    Args:
        done: Number of finished items.
        counted: The prompts of each task, if counted.
    """
    origin, settings = plan.dataset.provenance, plan.settings
    models = len(settings.models)
    dataset = _with_version(origin.title, origin.version)
    lines = [
        f"{settings.task} on {dataset}, {plural(origin.records, 'record')}",
        f"models: {', '.join(model_labels(settings.models).values())}",
    ]
    lines += _not_drawn(plan.not_drawn)
    for task, functions in plan.targets.items():
        line = f"{task}: {plural(len(functions), 'function')} for each of {plural(models, 'model')}"
        prompts = counted[task] if counted else counted_prompts(plan, task)
        if prompts.countable:
            line += f", about {prompts.total * models:.0f} {_prompt_noun(plan, task)}"
            if len(prompts.counts) < len(prompts.lines):
                line += f" (estimated from {plural(len(prompts.counts), 'function')})"
        lines.append(line)
        if issubclass(PROBES[task].record, PairsRecord):
            lines.append(_power(len(functions)))
    lines += cost_lines(plan, counted)
    for name, tasks in settings.applied().items():
        lines.append(f"{flag_of(PROBES.values(), name)} applies to {', '.join(tasks)}")
    if done:
        lines.append(f"{done} of {len(plan.items)} are already done")
    return lines


def _power(functions: int) -> str:
    """The smallest difference that a run of pairs can show if every function has an informative pair."""
    least, ten = detectable_difference(functions), f"10 points take {functions_needed(0.1)} functions"
    if least is None:
        return f"too few functions to distinguish two models, or an effect from 0; {ten}"
    return (
        f"it can detect a difference of {100 * least:.0f} points or more, between two models or of an effect "
        f"from 0 ({POWER:.0%} power, if every function is informative); {ten}"
    )


def _not_drawn(dropped: Mapping[str, str]) -> list[str]:
    """State which problems no sample can contain, and why; empty if there are none."""
    reasons = "; ".join(f"{name} ({reason})" for name, reason in dropped.items())
    return [f"{plural(len(dropped), 'record')} not drawn: {reasons}"] if dropped else []


def _prompt_noun(plan: Plan, task: str) -> str:
    needs = PROBES[task].needs
    if Need.COMPLETE in needs:
        most = plan.settings.options[task].get("max_tokens")
        return f"prompts of up to {most} tokens" if most else "prompts"
    return "texts to score" if Need.SCORE in needs else "questions"
