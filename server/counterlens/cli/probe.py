"""`counterlens probe`: any probe on a function, on the functions of a file, or on a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from counterlens.cli.flags import DurationType
from counterlens.cli.options import (
    ChosenModel,
    cache_option,
    exact_option,
    model_options,
    print_json,
    print_report,
    refuse_given,
    require_trusted,
    sandbox_option,
    split_target,
    strong_sandbox,
)
from counterlens.cli.probe_options import ProbeCommand, parameters_from_file, taken_from, task_option
from counterlens.cli.progress_lines import steps
from counterlens.cli.report_output import ReportOutput, output_options
from counterlens.cli.saying import say
from counterlens.confidence.scoring import MEASURING, FunctionConfidence, measure_function
from counterlens.counting import plural
from counterlens.errors import OptionError
from counterlens.judging.base import LIMITS, lasting
from counterlens.probes.common_options import source_language
from counterlens.probes.options import ProbeOptions, distribute
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.wording import follows_sentence
from counterlens.probes.probe import Context, Need, Probe, Target
from counterlens.probes.recognition.record import distinguishing_rates
from counterlens.probes.registry import ALL, PROBES, choose
from counterlens.probes.runner import (
    ProbeRun,
    attempt,
    is_suited,
    require_probed,
    require_suited,
    run_targets,
)
from counterlens.probes.subjects import given_judge, targets_in
from counterlens.progress import Steps, TimeBudget
from counterlens.reports.build.probe_run import probe_report
from counterlens.reports.render import terminal
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function, require_functions

if TYPE_CHECKING:
    from counterlens.models.sentences import SentenceEncoder

AnyProbe = Probe[Any, Any]
_LIKELIHOOD, _COMPLETION = "likelihood", "completion"
_USUAL = {
    "Model": ("model", "base-url", "api"),
    "Functions": ("data", "tests", "limit"),
    "Questions": ("task", "mutation", "samples", "timeout", "budget"),
    "Report": ("html", "json"),
    "Permissions": ("trust", "allow-weaker-sandbox"),
}


def _task_of(values: Mapping[str, Any]) -> str:
    return _LIKELIHOOD if values.get("likelihood") else values.get("task", _COMPLETION)


@click.command(cls=ProbeCommand, usual=_USUAL, task=_task_of)
@click.argument("target", metavar="PATH[::QUALNAME]", default="")
@model_options
@task_option(help="The probe to run.", more=(ALL,), default=_COMPLETION, show_default=True)
@click.option(
    "--likelihood",
    is_flag=True,
    help="The same as --task likelihood: score the true rest; no code is generated or run.",
)
@output_options
@click.option(
    "--data", metavar="NAME_OR_PATH", help="The functions of a dataset instead of PATH, judged by its tests."
)
@click.option(
    "--tests",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Tests that judge the functions of PATH, instead of those found automatically. In Java: a class "
    "with a `main` that throws if a function is wrong.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Sample size; --seed draws the sample.")
@click.option(
    "--budget",
    type=DurationType(),
    metavar="TIME",
    help="End after this time, such as 60s or 2m, with what there is; the most telling pairs come first.",
)
@cache_option
@exact_option
@sandbox_option
def probe(
    target: str,
    model: ChosenModel,
    task: str,
    likelihood: bool,
    output: ReportOutput,
    given: dict[str, Any],
    data: str | None,
    tests: Path | None,
    limit: int | None,
    budget: float | None,
) -> None:
    """Probe a function counterfactually, or every function of a file.

    By default the function and equivalent versions of it are cut at the same place, the model completes both,
    and the function's own tests judge both. Code that the model writes runs only in a sandbox. An option that
    the chosen task does not take is refused; with --task all it applies to the tasks that take it.
    """
    if bool(target) == (data is not None):
        raise click.UsageError("give either PATH[::QUALNAME] or --data")
    if data is not None and tests is not None:
        raise click.UsageError("a dataset has its own tests: give --tests with PATH")
    if likelihood:
        refuse_given(("task",), "not with --likelihood, which is the task likelihood")
    if data is None:
        refuse_given(("limit",), "only with --data")
    task = _LIKELIHOOD if likelihood else task
    if budget is not None and task != _COMPLETION:
        refuse_given(("budget",), "only with the task completion")
    time_budget = None if budget is None else TimeBudget(budget)
    probes = choose([task])
    if tests is not None and not any(probe.runs_programs for probe in probes):
        raise click.UsageError(f"the task {probes[0].id} runs no programs, so it takes no --tests")
    taken = {*taken_from(given, parameters_from_file(), probes)}
    options = distribute(probes, {name: given[name] for name in given if name in taken}, PROBES.values())
    if budget is not None and getattr(options[_COMPLETION], "drawing", None):
        refuse_given(("budget",), "not with --samples, whose number limits the time")
    subject = Subject(target, data, limit, tests)
    if task != ALL:
        subject.require_trusted(probes)
        targets = subject.targets(probes[0], options[probes[0].id])
    with ExitStack() as stack:
        with steps("loading the model"):
            loaded = stack.enter_context(model.opened())
        context = Context(
            loaded,
            cache(subject.sandbox),
            encoder=_encoder(stack, options, model),
            unjudged=data is not None or subject.single,
            vetted=not subject.single,
        )
        if task == ALL:
            from counterlens.cli.every_probe import probe_everything

            probe_everything(context, probes, options, subject, output)
        else:
            watched = replace(context, steps=Steps(budget=time_budget))
            _probe_one(probes[0], watched, targets, options[probes[0].id], subject, output)


@dataclass(frozen=True, slots=True)
class Subject:
    """The source of the functions, as the user named it.

    Attributes:
        target: `PATH[::QUALNAME]`; empty if a dataset is named.
        data: The dataset.
        limit: Maximum number of its functions.
        tests: A file of tests for the functions of a file; None to search for tests.
    """

    target: str
    data: str | None
    limit: int | None
    tests: Path | None = None

    def __str__(self) -> str:
        return self.target or self.data or ""

    @property
    def single(self) -> bool:
        """Whether one function is named."""
        return "::" in self.target

    @property
    def is_file(self) -> bool:
        """Whether the user named a file, or a function of one."""
        return self.data is None

    @property
    def places(self) -> tuple[Path, ...]:
        """The files and folders whose programs need trust."""
        if self.data is not None:
            from counterlens.datasets.registry import absolute, repository_in

            return repository_in(absolute(self.data))
        return (split_target(self.target)[0], *((self.tests,) if self.tests is not None else ()))

    def require_trusted(self, probes: Iterable[AnyProbe]) -> None:
        """Require that programs may run, if a probe runs any; called before a model is opened.

        Raises:
            TrustError: they may not run.
        """
        if any(probe.runs_programs for probe in probes):
            require_trusted(*self.places)

    def sandbox(self) -> Sandbox:
        """The sandbox for the programs.

        Raises:
            SandboxError: there is none, or only a weak one.
            TrustError: the user does not trust the repository.
        """
        return strong_sandbox(*self.places)

    def targets(self, probe: AnyProbe, options: ProbeOptions) -> list[Target]:
        """Return the functions for a probe.

        Raises:
            SourceError: there is no such file or function, or the file has no functions.
            DataError: the dataset cannot be read, or has no programs with bugs where the probe needs some, or
                none in the language to translate from.
            OptionError: the functions of a file are to be translated, or an option does not apply to any.
        """
        timeout: float | None = getattr(options, "timeout", None)
        limits = LIMITS if timeout is None else lasting(timeout)
        language = source_language(options)
        if self.data is None:
            if language is not None:
                raise OptionError(
                    f"{self.target} has no counterpart in another language for --from {language}",
                    "Name a dataset with --data, such as humaneval-x",
                )
            path, qualname = split_target(self.target)
            document = require_functions(Document.read(path))
            functions = targets_in(document, qualname, root=Path.cwd())
            require_suited(probe, functions, options)
            return (
                [self._judged(target, limits) for target in functions] if probe.runs_programs else functions
            )
        # Imported here: the functions of a file need no datasets.
        from counterlens.datasets import open_dataset
        from counterlens.datasets.counterparts import counterparts
        from counterlens.probes.dataset_subjects import targets_of

        dataset = open_dataset(self.data)
        functions = targets_of(
            dataset,
            limit=self.limit,
            seed=options.seed,
            sandbox=self.sandbox() if probe.runs_programs else None,
            buggy=Need.BUG in probe.needs,
            limits=limits,
            translated_from=None if language is None else counterparts(dataset, language),
            suited=lambda target: is_suited(probe, target, options),
        )
        require_suited(probe, functions, options)
        return functions

    def _judged(self, target: Target, limits: Limits) -> Target:
        """A function with its judge from the given tests, if there are any."""
        if self.tests is None:
            return target
        document, tests = target.document, Document.read(self.tests).text
        judge = given_judge(tests, target.qualname, document.text, document.language, self.sandbox(), limits)
        return replace(target, judge=judge)


def _probe_one(
    probe: AnyProbe,
    context: Context,
    targets: list[Target],
    options: ProbeOptions,
    subject: Subject,
    output: ReportOutput,
) -> None:
    """Run one probe and report it."""
    with steps("reading the functions", counts_whole=False) as report:
        facts = report.state if subject.single and output.terminal else None
        watched = replace(context, steps=Steps(None, report, facts, context.steps.budget))
        run = run_targets(probe, watched, targets, options)
        require_probed(run)
        has_time = watched.steps.has_time(share=MEASURING)
        wanted = has_time and subject.is_file and (output.terminal or output.as_json)
        confidence = _confidence(watched, run, targets) if wanted else {}
        evidence = _evidence(watched, run, targets) if wanted and subject.single else {}
    if output.files:
        from counterlens.reports.formats import write_probes

        output.write(lambda form: write_probes(form, [run], f"{subject}: {probe.id}", about(run)))
    if output.as_json:
        from counterlens.reports.export.json import probe_document

        means = {name: _mean(target, rating) for name, (target, rating) in confidence.items()}
        further = {name: value for name, value in (("confidence", means), ("evidence", evidence)) if value}
        print_json(probe_document(run) | further)
    elif output.terminal:
        ratings = {name: rating for name, (_, rating) in confidence.items()}
        print_report(terminal.render(probe_report(run, str(subject), confidence=ratings)))
        for question, sentence in evidence.items():
            say(f"\n{question.capitalize()}? {sentence}")


def _confidence(
    context: Context, run: ProbeRun, targets: list[Target]
) -> dict[str, tuple[Target, FunctionConfidence]]:
    """Measure the confidence in the functions whose pairs are shown, by id."""
    if not issubclass(run.probe.record, PairsRecord):
        return {}
    probed = {record.target for record in run.probed}
    return {
        target.name: (
            target,
            measure_function(context.model, target.document, target.qualname, context.steps),
        )
        for target in targets
        if target.name in probed
    }


def _evidence(context: Context, run: ProbeRun, targets: list[Target]) -> dict[str, str]:
    """What suggests that the model has seen a completed function, and what that it follows it; by question.

    Recognition is left out unless the model's error rates allow to say anything.
    """
    record = run.records[0]
    if not isinstance(record, PairsRecord) or run.probe.id != _COMPLETION:
        return {}
    model, (target,) = context.model, targets
    understood = {"understood": follows_sentence(record)}
    if not distinguishing_rates(model.info.identity, target.document.language):
        return understood
    from counterlens.probes.recognition.probe import RecognitionOptions, RecognitionProbe

    seen = attempt(RecognitionProbe(), context, [target], RecognitionOptions()).summary
    return {"recognised": seen, **understood}


def _mean(target: Target, confidence: FunctionConfidence) -> float | None:
    """The mean confidence of a function."""
    function = find_function(target.document, target.qualname)
    return confidence.scored.within(function.start, function.end) if confidence.scored else None


def about(run: ProbeRun) -> str:
    """State the number of functions and the model."""
    functions = plural(len(run.records), "function")
    return f"{functions}, asked of {run.model.name} ({run.model.where})" if run.model else functions


def _encoder(
    stack: ExitStack, options: Mapping[str, ProbeOptions], model: ChosenModel
) -> SentenceEncoder | None:
    """The model for sentence similarity, if one is named; it stays open as long as the stack."""
    name = next(
        (named for probe_options in options.values() if (named := getattr(probe_options, "encoder", None))),
        None,
    )
    if name is None:
        return None
    from counterlens.models.sentences import ModelSentences

    return ModelSentences(stack.enter_context(model.named(name).opened()))
