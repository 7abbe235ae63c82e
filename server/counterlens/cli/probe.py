"""`counterlens probe`: does the model hold when the code changes shape?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import IO

import click

from counterlens.cli import every_task, tasks
from counterlens.cli.options import (
    cache_option,
    json_option,
    model_options,
    mutation_option,
    opened,
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
from counterlens.datasets import open_dataset
from counterlens.models.sentences import ModelSentences, SentenceEncoder
from counterlens.mutations.cuts import PREFIX_RATIO, Ratio
from counterlens.probes.completion import MAX_TOKENS
from counterlens.probes.inference.inferred import Method
from counterlens.probes.offers import ALL
from counterlens.probes.registry import TASKS
from counterlens.probes.session import Probed, ProbeSession, Variant
from counterlens.probes.subjects import targets_of
from counterlens.probes.task import Request, Target
from counterlens.probes.understanding.programs import Code
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
@click.option("--markdown", type=click.File("w", lazy=True), help="Write the report as Markdown (- to show).")
@click.option("--html", type=click.File("w", lazy=True), help="Write the report as a page of its own.")
@click.option("--windows", is_flag=True, help="Also with less context (operator).")
@click.option("--unroll", is_flag=True, help="Also with loops written out as they run (execution).")
@click.option(
    "--code",
    type=click.Choice([str(code) for code in Code]),
    default=str(Code.GIVEN),
    show_default=True,
    help="Which programs are asked about (summary, name, output): the given, also the same with the bugs "
    "that a dataset gives, or what the model itself writes of them.",
)
@click.option(
    "--encoder",
    metavar="M",
    help="The model whose embeddings compare summaries, named as with --model (summary); otherwise MiniLM.",
)
@click.option(
    "--corpus",
    metavar="NAME_OR_PATH",
    help="Python files or a dataset to count operators in (operator, memorisation).",
)
@click.option(
    "--method",
    type=click.Choice([str(method) for method in Method]),
    help="How dependences are found out (dependence); without it, as the model allows.",
)
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
    model: str,
    base_url: str | None,
    api: str,
    threads: int,
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
    data: str | None,
    limit: int | None,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Probe a function counterfactually, or every function of a file that has tests.

    The function and equivalent ways of writing it are cut at the same place, the model completes both, and
    the function's own tests judge both. What the model writes runs in a sandbox only.
    """
    if task == ALL or (task in TASKS and not likelihood):
        chosen = tasks.targets(task, target, data=data, limit=limit, seed=seed)
        with ExitStack() as stack:
            with steps("loading the model"):
                loaded = stack.enter_context(opened(model, threads, base_url, api, no_cache=no_cache))
            request = Request(
                loaded,
                chosen,
                strong_sandbox,
                seed=seed,
                windows=windows,
                corpus=corpus,
                method=method,
                mutations=mutations,
                without=without,
                prefix_ratio=ratio,
                max_tokens=max_tokens,
                unroll=unroll,
                code=code,
                encoder=_encoder(stack, encoder, threads, base_url, no_cache=no_cache),
            )
            if task == ALL:
                bugs = partial(tasks.bugs_of, data, limit=limit, seed=seed) if data is not None else None
                _probe_everything(request, bugs, as_json=as_json)
            else:
                with steps("looking at the functions") as report:
                    result = tasks.run(task, replace(request, report=report))
                tasks.show(result, as_json=as_json)
        return
    variant = Variant.LIKELIHOOD if likelihood else Variant(task)
    sandbox = best_sandbox() if variant is Variant.LIKELIHOOD else strong_sandbox()
    subjects = _subjects(target, data, variant, limit=limit, seed=seed, sandbox=sandbox)
    left_out: dict[str, str] = {}
    with (
        steps("loading the model", total_known=True) as report,
        opened(model, threads, base_url, api, no_cache=no_cache) as loaded,
    ):
        request = Request(
            loaded,
            (),
            lambda: sandbox,
            seed=seed,
            mutations=mutations,
            without=without,
            prefix_ratio=ratio,
            max_tokens=max_tokens,
            report=report,
        )
        session = ProbeSession(request, variant)
        if isinstance(subjects, list):
            found, left_out = session.probe_targets(subjects)
        elif subjects.qualname:
            found = [session.probe(subjects.document, subjects.qualname)]
        else:
            found = session.probe_all(subjects.document)
    probes = [one.probe for one in found]
    if markdown:
        markdown.write(probe_markdown(probes))
    if html:
        html.write(probe_html(probes))
    if as_json:
        single = isinstance(subjects, Target) and bool(subjects.qualname)
        print_json({**_document(found, session.skipped, single=single), "left_out": left_out})
    elif not (markdown and markdown.name == "-"):
        _show(
            found, None if isinstance(subjects, Target) and subjects.qualname else left_out | session.skipped
        )


def _encoder(
    stack: ExitStack, name: str | None, threads: int, base_url: str | None, *, no_cache: bool
) -> SentenceEncoder | None:
    """The model that compares sentences, where one is named; it stays open as long as the stack."""
    if name is None:
        return None
    return ModelSentences(
        stack.enter_context(opened(name, threads, base_url, "completions", no_cache=no_cache))
    )


def _probe_everything(
    request: Request, bugs: Callable[[], Sequence[Target]] | None, *, as_json: bool
) -> None:
    """Every task; what is found is shown as it comes, or as JSON at the end, also when interrupted."""
    found = every_task.run_all(
        request, bugs=bugs, show=(lambda _: None) if as_json else every_task.show_outcome
    )
    if as_json:
        every_task.print_everything(found)
    every_task.show_end(found)
    if found.interrupted:
        raise click.exceptions.Exit(every_task.INTERRUPTED)


def _subjects(
    target: str,
    data: str | None,
    variant: Variant,
    *,
    limit: int | None,
    seed: int,
    sandbox: Sandbox,
) -> Target | list[Target]:
    """A file, with or without one function of it, or the functions of a dataset."""
    if bool(target) == (data is not None):
        raise click.UsageError("give either PATH[::QUALNAME] or --data")
    if data is not None:
        buggy = variant is Variant.REPAIR
        return targets_of(open_dataset(data), limit=limit, seed=seed, sandbox=sandbox, buggy=buggy)
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
