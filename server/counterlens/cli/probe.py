"""`counterlens probe`: does the model hold when the code changes shape?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from typing import IO

import click

from counterlens.attribution.base import lasting
from counterlens.cli import every_task, tasks
from counterlens.cli.asking import task_options, timeout_option
from counterlens.cli.options import (
    ChosenModel,
    cache_option,
    json_option,
    model_options,
    mutation_option,
    prefix_ratio,
    print_json,
    print_report,
    sandbox_option,
    seed_option,
    split_target,
    steps,
    strong_sandbox,
    without_option,
)
from counterlens.cli.written import Written, written_options
from counterlens.datasets import open_dataset
from counterlens.models.sentences import ModelSentences, SentenceEncoder
from counterlens.mutations.cuts import PREFIX_RATIO, Ratio
from counterlens.probes.completion import MAX_TOKENS
from counterlens.probes.offers import ALL
from counterlens.probes.registry import TASKS
from counterlens.probes.session import Probed, ProbeSession, Variant
from counterlens.probes.subjects import targets_of
from counterlens.probes.task import Request, Target
from counterlens.reports import json as plain
from counterlens.reports.html import probe_html
from counterlens.reports.markdown import probe_markdown
from counterlens.reports.terminal import probe_report
from counterlens.reports.together import together_report
from counterlens.sandbox.base import Sandbox
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function, require_python


@click.command()
@click.argument("target", metavar="PATH[::QUALNAME]", default="")
@model_options
@mutation_option
@without_option
@seed_option
@click.option("--max-tokens", type=click.IntRange(1, 4096), default=MAX_TOKENS, show_default=True)
@click.option(
    "--prefix-ratio",
    "ratio",
    callback=prefix_ratio,
    metavar="RATIO",
    default=str(PREFIX_RATIO),
    show_default=True,
    help="Which part of the function the model is shown, such as 0.6, or the range that it lies in: 0.4-0.6.",
)
@click.option(
    "--task",
    type=click.Choice([*(str(variant) for variant in Variant), *TASKS, ALL]),
    default=str(Variant.COMPLETE),
    show_default=True,
    help="What is probed.",
)
@click.option(
    "--likelihood",
    is_flag=True,
    help="Short for --task likelihood: how likely the true rest is; nothing is written or run.",
)
@written_options
@task_options
@timeout_option
@click.option(
    "--data",
    metavar="NAME_OR_PATH",
    help="The functions of a dataset instead of PATH, judged by its tests.",
)
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="A sample of the dataset, drawn by --seed."
)
@cache_option
@sandbox_option
@json_option
def probe(
    target: str,
    model: ChosenModel,
    mutations: tuple[str, ...],
    without: tuple[str, ...],
    seed: int,
    max_tokens: int,
    ratio: Ratio,
    task: str,
    likelihood: bool,
    markdown: IO[str] | None,
    html: IO[str] | None,
    windows: bool,
    unroll: bool,
    code: str,
    encoder: str | None,
    corpus: str | None,
    method: str | None,
    timeout: float,
    data: str | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Probe a function counterfactually, or every function of a file that has tests.

    The function and equivalent ways of writing it are cut at the same place, the model completes both, and
    the function's own tests judge both. What the model writes runs in a sandbox only.
    """
    written = Written(markdown, html, as_json)
    asked = str(Variant.LIKELIHOOD) if likelihood else task
    sandbox = best_sandbox if asked == Variant.LIKELIHOOD else cache(strong_sandbox)
    limits = lasting(timeout)
    drawn = partial(targets_of, limit=limit, seed=seed, limits=limits)
    subjects: Target | list[Target]
    if asked in list(Variant):
        subjects = _subjects(target, data, Variant(asked), drawn, sandbox())
    else:
        subjects = tasks.targets(asked, target, data=data, limit=limit, seed=seed, limits=limits)
    with ExitStack() as stack:
        with steps("loading the model"):
            loaded = stack.enter_context(model.opened())
        request = Request(
            loaded,
            subjects if isinstance(subjects, list) else (),
            sandbox,
            seed=seed,
            windows=windows,
            corpus=corpus,
            method=method,
            mutations=mutations,
            without=without,
            prefix_ratio=ratio,
            max_tokens=max_tokens,
            limits=limits,
            unroll=unroll,
            code=code,
            encoder=_encoder(stack, encoder, model),
        )
        if asked in list(Variant):
            _probe_pairs(Variant(asked), request, subjects, written)
        elif asked == ALL:
            bugs = partial(tasks.bugs_of, data, drawn) if data is not None else None
            every_task.probe_everything(request, target or data or "", bugs, written)
        else:
            tasks.probe_task(asked, request, target or data or "", written)


def _encoder(stack: ExitStack, name: str | None, model: ChosenModel) -> SentenceEncoder | None:
    """The model that compares sentences, where one is named; it stays open as long as the stack."""
    if name is None:
        return None
    named = replace(model, name=name, options=replace(model.options, api="completions"))
    return ModelSentences(stack.enter_context(named.opened()))


def _probe_pairs(
    variant: Variant, request: Request, subjects: Target | list[Target], written: Written
) -> None:
    """Completion, repair or likelihood of one function, of all in a file, or of a dataset."""
    left_out: dict[str, str] = {}
    with steps("finding the tests") as report:
        session = ProbeSession(replace(request, report=report), variant)
        if isinstance(subjects, list):
            found, left_out = session.probe_targets(subjects)
        elif subjects.qualname:
            found = [session.probe(subjects.document, subjects.qualname)]
        else:
            found = session.probe_all(subjects.document)
    probes = [one.probe for one in found]
    written.write(partial(probe_markdown, probes), partial(probe_html, probes))
    single = isinstance(subjects, Target) and bool(subjects.qualname)
    if written.as_json:
        print_json({**_document(found, session.skipped, single=single), "left_out": left_out})
    elif written.terminal:
        _show(found, None if single else left_out | session.skipped)


def _subjects(
    target: str,
    data: str | None,
    variant: Variant,
    drawn: Callable[..., list[Target]],
    sandbox: Sandbox,
) -> Target | list[Target]:
    """A file, with or without one function of it, or the functions of a dataset."""
    if bool(target) == (data is not None):
        raise click.UsageError("give either PATH[::QUALNAME] or --data")
    if data is not None:
        buggy = variant is Variant.REPAIR
        return drawn(open_dataset(data), sandbox=sandbox, buggy=buggy)
    path, qualname = split_target(target)
    document = require_python(Document.read(path))
    if qualname:
        find_function(document, qualname)  # a wrong name is said before a model is loaded
    return Target(document, qualname or "")


def _show(found: list[Probed], left_out: dict[str, str] | None) -> None:
    """Reports at a terminal; those of a file or a dataset are also summed up."""
    for i, one in enumerate(found):
        if i:
            click.echo()
        print_report(probe_report(one.probe, one.confidence, note=one.note))
    if left_out is not None:
        print_report(together_report([one.probe for one in found], left_out))


def _document(found: list[Probed], skipped: dict[str, str], *, single: bool) -> plain.Json:
    pairs = [(one.probe, one.confidence) for one in found]
    return plain.probe(*pairs[0]) if single else plain.probes(pairs, skipped)
