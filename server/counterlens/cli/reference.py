"""The questions with published scores of `counterlens models test M --reference`: is the set-up right?"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from counterlens.cli.options import print_report, strong_sandbox
from counterlens.cli.progress_lines import steps
from counterlens.cli.saying import say
from counterlens.datasets.registry import open_dataset
from counterlens.errors import DataError
from counterlens.models.base import Model
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.options import plain_options
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import plain
from counterlens.probes.reference.benchmark import asked_by
from counterlens.probes.reference.lines import masked_lines
from counterlens.probes.reference.probe import ReferenceOptions, ReferenceProbe
from counterlens.probes.reference.record import ReferenceRecord
from counterlens.probes.runner import ProbeRun, State, identify
from counterlens.progress import Steps
from counterlens.reports.build.probe_run import probe_report
from counterlens.reports.render import terminal

QUESTIONS = 100
"""The number of questions: half the width of an interval is at most ten points."""
DATA = "humaneval"
_MANY = 0.1


def ask_reference(model: Model, questions: int = QUESTIONS) -> ProbeRun:
    """Ask a model questions of HumanEval whose scores are published: a sample, the same for all models.

    Args:
        questions: Their number: functions that are written, or lines that are filled in.

    Raises:
        DataError: HumanEval is not on this machine.
        ModelError, SandboxError, UnsteadyModelError: as `Probe.run`.
    """
    probe, options, sandbox = ReferenceProbe(), ReferenceOptions(protocol="reference"), strong_sandbox()
    try:
        dataset = open_dataset(DATA)
    except DataError as error:
        hint = "Install it with: pip install 'counterlens[data]'; or give its folder in COUNTERLENS_DATA"
        raise DataError(f"--reference needs HumanEval: {error.message}", hint) from None
    targets = targets_of(dataset, sandbox=sandbox)
    random.Random(options.seed).shuffle(targets)  # noqa: S311 - no secret
    chosen = _first(targets, questions, lines=asked_by(model.info) == "fill")
    with steps("asking questions with published scores", counts_whole=False) as report:
        context = Context(model, lambda: sandbox, Steps(progress=report))
        records = probe.run_together(context, chosen, options)
    named = tuple(
        identify(record, probe, model.info, target, options)
        for record, target in zip(records, chosen, strict=True)
    )
    return ProbeRun(probe, options, State.DONE, model=model.info, records=named)


def _first(targets: Sequence[Target], questions: int, *, lines: bool) -> list[Target]:
    """The first functions with about as many questions."""
    chosen: list[Target] = []
    for target in targets:
        if questions <= 0:
            break
        chosen.append(target)
        questions -= sum(1 for _ in masked_lines(target.problem)) if lines and target.problem else 1
    return chosen


def print_reference(run: ProbeRun) -> None:
    """Print the scores, and what to check if they do not agree with the published ones."""
    print_report(terminal.render(probe_report(run, f"{len(run.records)} functions of HumanEval")))
    for advice in advice_on(run):
        say(advice)


def advice_on(run: ProbeRun) -> list[str]:
    """What to check, from the most certain fault to the least; or that the set-up is right."""
    answers = [
        answer for record in run.probed if isinstance(record, ReferenceRecord) for answer in record.answers
    ]
    (table,) = run.tables
    agrees = {row[table.columns.index("agrees")] for row in table.rows}
    cut = sum(answer.finish == "length" for answer in answers)
    empty = sum(not answer.said.strip() for answer in answers)
    said = []
    if cut > _MANY * len(answers):
        said.append(
            f"{cut} of {len(answers)} answers reached the token limit: the model does not end its answers; "
            "check the chat template, and the end of a turn that the server uses"
        )
    if empty > _MANY * len(answers):
        said.append(f"{empty} of {len(answers)} answers are empty: check --api and the stop texts")
    if agrees == {"yes"}:
        said.append("the set-up reproduces what is published, as far as so many questions can tell")
    elif agrees & {"no, lower", "no, higher"}:
        said.append(
            "the published score is outside the interval: believe no figure before the cause is known, such "
            "as the prompt format (--api), the chat template, or the quantisation"
        )
    else:
        said.append("no score of this model is known here: compare yours with what its authors publish")
    return said


def reference_document(run: ProbeRun) -> dict[str, Any]:
    """The same for programs."""
    return {
        "options": plain_options(run.options),
        "summary": run.summary,
        "advice": advice_on(run),
        "records": [plain(record) for record in run.records],
    }
