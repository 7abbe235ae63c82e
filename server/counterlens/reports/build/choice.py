"""The first sentences of a report on models: which of them to choose, or what would tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from counterlens.counting import enumeration, plural
from counterlens.evaluation.choice import ModelChoice, choice_in
from counterlens.evaluation.effects import judged_parts, observations_of
from counterlens.evaluation.results import RunResults
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.significance import Adequacy, adequacy
from counterlens.metrics.summary import Observation, completions, summarize
from counterlens.reports.document import Block, Paragraph

_LEAD = "Which model"


def answer(results: RunResults) -> Iterator[Block]:
    """The answer of a run: which model, if it has several, and which are too weak to say."""
    for part in judged_parts(results):
        if choice := choice_in(part):
            task = f", {part.settings.task}" if len(results.settings.tasks) > 1 else ""
            yield choice_block(choice, task)
        yield from map(Paragraph, _weakness_lines(observations_of(part)))


def choice_block(choice: ModelChoice, task: str = "") -> Paragraph:
    """Which model to choose.

    Args:
        task: What the choice is about, if a report has several.
    """
    return Paragraph(choice_sentence(choice), lead=f"{_LEAD}{task}:")


def choice_sentence(choice: ModelChoice) -> str:
    """Which model to choose, how sure that is, and what would tell more."""
    if not choice.functions:
        return "cannot be told: no function has been asked of all of them."
    over = f"over {plural(choice.functions, 'function')}"
    if choice.best is None:
        return f"none: not one writes anything right, {over}."
    right = f"{choice.best} writes {choice.right[choice.best].value or 0:.0%} of its completions right"
    others = enumeration([_other(choice, model) for model in choice.differences], "and")
    facts = f"{right}, {others}, {over}."
    if choice.decided:
        return f"{choice.best}. {facts}"
    models = enumeration([choice.best, *choice.rivals], "and")
    return f"cannot be told between {models}: {_further_functions(choice)}. {facts}"


def _other(choice: ModelChoice, model: str) -> str:
    return f"{model} {choice.right[model].value or 0:.0%} ({_points(choice.differences[model])})"


def _points(difference: Estimate) -> str:
    """The difference to the best model, with its interval if there is one: `30 points less (12 to 45)`."""
    low, high = difference.low, difference.high
    interval = "" if low is None or high is None else f", {100 * low:.0f} to {100 * high:.0f}"
    return f"{100 * (difference.value or 0.0):.0f} points less{interval}"


def _further_functions(choice: ModelChoice) -> str:
    if choice.more is None:
        return "they differ too little for any number of functions that is worth asking"
    time = ""
    if choice.seconds is not None:
        minutes = max(1, round(choice.seconds / 60))
        time = f", {plural(minutes, 'minute')} at the pace of this run"
    return f"about {plural(choice.more, 'more function')}{time}"


def _weakness_lines(pairs: Mapping[str, Sequence[Observation]]) -> Iterator[str]:
    for model, some in pairs.items():
        summary = summarize(some)
        grade, right = adequacy(summary), summary.original_accuracy
        if grade is Adequacy.ADEQUATE or right.value is None or right.low is None or right.high is None:
            continue
        written = completions(some)
        if not any(passed for _, passed in written):
            yield (
                f"{model} writes nothing right here: none of its {plural(len(written), 'completion')} "
                "passes, so its other figures show nothing about understanding."
            )
            continue
        certain = grade is Adequacy.WEAK
        yield (
            f"{model} {'is' if certain else 'may be'} too weak here: it completes {right.value:.0%} "
            f"({right.low:.0%} to {right.high:.0%}) of the originals correctly, so "
            f"{plural(summary.average.n, 'pair')} of {summary.pairs} can show an effect. "
            + (
                "A larger model would be more informative."
                if certain
                else "More functions would show whether."
            )
        )
