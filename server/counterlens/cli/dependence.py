"""`counterlens dependence`: the dependences of each statement, and those that a model infers."""

from __future__ import annotations

import click

from counterlens.cli.options import (
    MODEL_OPTIONS,
    ChosenModel,
    cache_option,
    json_option,
    model_options,
    print_json,
    print_report,
    refuse_given,
    show,
    split_target,
)
from counterlens.cli.progress_lines import steps
from counterlens.dependence import MODULE, Rules, analyse
from counterlens.probes.dependence.inferred import InferenceMethod, infer, require_inferred
from counterlens.progress import Steps
from counterlens.reports.build.dependences import dependence_report, inferred_report
from counterlens.reports.export.dependences import dependences_json, inferred_json
from counterlens.reports.render import terminal
from counterlens.syntax.definitions import FINDERS
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function


@click.command()
@click.argument("target", metavar="PATH[::QUALNAME]")
@click.option(
    "--implicit-exceptions",
    is_flag=True,
    help="Include control dependences on statements that may raise, which decide whether the next one runs.",
)
@click.option(
    "--infer",
    "method",
    type=click.Choice([str(method) for method in InferenceMethod]),
    help=(
        "Compare with a model's inference. interventional: from the changes of its expectations when "
        "statements are changed; prompted: asks for all pairs; pairwise, core: ask about one pair at a time, "
        "in our wording or CoRe's; trace: also asks for the steps of the chain. Needs PATH::QUALNAME."
    ),
)
@click.option(
    "--limit",
    type=click.IntRange(2),
    metavar="N",
    help="Maximum number of pairwise questions of each kind: a sample, half of it true.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed for the sample of --limit.")
@model_options
@cache_option
@json_option
def dependence(
    target: str,
    implicit_exceptions: bool,
    method: str | None,
    limit: int | None,
    seed: int,
    model: ChosenModel,
    as_json: bool,
) -> None:
    """Show what each statement depends on: control, and data through names and objects.

    Python and Java are supported. Without a name, all functions are analysed, and the top-level
    statements of a Python file (as <module>). Only --infer uses a model; it supports Python and Java.
    """
    _refuse_untaken(method, limit)
    path, qualname = split_target(target)
    document = Document.read(path)
    if qualname is not None and document.language in FINDERS:
        find_function(document, qualname)
    if method is not None:
        require_inferred(document)
    program = analyse(document.text, document.language, Rules(implicit_exceptions=implicit_exceptions))
    if method is not None:
        if qualname is None:
            raise click.UsageError("--infer needs a function: PATH::QUALNAME")
        wanted = program.dependences(qualname)  # a wrong name is reported before a model is loaded
        with (
            steps("loading the model") as report,
            model.opened() as loaded,
        ):
            inferred = infer(
                loaded, wanted, InferenceMethod(method), limit=limit, seed=seed, steps=Steps(progress=report)
            )
        show(inferred_report(inferred, path), lambda: inferred_json(inferred), as_json=as_json)
        return
    if qualname is not None:
        dependences = program.dependences(qualname)
        shown = dependence_report(dependences, path)
        show(shown, lambda: dependences_json(dependences), as_json=as_json)
        return
    if as_json:
        functions = [dependences_json(analysis) for analysis in program.all()]
        print_json({**functions[0], "functions": functions[1:]})
        return
    for graph in program.all():
        if graph.function != MODULE or graph.edges:
            print_report(terminal.render(dependence_report(graph, path)))


def _refuse_untaken(method: str | None, limit: int | None) -> None:
    """Refuse options that have no effect on this analysis."""
    if method is None:
        refuse_given(("limit", "seed", *MODEL_OPTIONS), "only with --infer")
    elif method in {InferenceMethod.INTERVENTIONAL, InferenceMethod.PROMPTED}:
        refuse_given(("limit", "seed"), "only for pairwise questions")
    elif limit is None:
        refuse_given(("seed",), "only with --limit")
