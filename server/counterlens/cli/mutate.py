"""`counterlens mutate`: counterfactuals of a file, without a model."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from counterlens.cli.flags import declared_options
from counterlens.cli.options import (
    json_option,
    print_report,
    sandbox_option,
    split_target,
    strong_sandbox,
)
from counterlens.cli.progress_lines import steps
from counterlens.cli.saying import say_json
from counterlens.judging import settlement
from counterlens.judging.base import Setting
from counterlens.judging.languages import judging_of
from counterlens.languages.language import Feature
from counterlens.mutations import AnyMutation, mutated, parse_document, survey
from counterlens.probes.common_options import Mutations, Without
from counterlens.probes.execution.language import execution_of
from counterlens.probes.options import ProbeOptions
from counterlens.reports.build.mutations import mutation_report, settled_report
from counterlens.reports.export.counterfactuals import counterfactuals_json
from counterlens.reports.render import terminal
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, function_named, require_feature


@dataclass(frozen=True, slots=True, kw_only=True)
class MutateOptions(ProbeOptions):
    """The choice of counterfactuals: as for probes, and also breaking ones."""

    mutations: Mutations = ()
    without: Without = ()


@click.command()
@click.argument("target", metavar="PATH[::QUALNAME]")
@declared_options(MutateOptions)
@click.option(
    "--call",
    metavar="EXPRESSION",
    help="Run this call in the sandbox and unroll its loops as they were executed (loop-unroll).",
)
@click.option(
    "--settle",
    is_flag=True,
    help=(
        "Run each counterfactual in the sandbox to verify that it preserves or breaks the meaning, as "
        "claimed."
    ),
)
@click.option("--explain", is_flag=True, help="Also show refused sites, with the reasons.")
@sandbox_option
@json_option
def mutate(
    target: str,
    mutations: tuple[str, ...],
    without: tuple[str, ...],
    seed: int,
    call: str | None,
    settle: bool,
    explain: bool,
    as_json: bool,
) -> None:
    """Show the counterfactuals of a file or of one of its functions.

    `PATH::<module>` takes the file as a whole program that no other code imports: its module-level code
    changes, too.
    """
    path, qualname = split_target(target)
    document = Document.read(path)
    if settle:
        judging_of(document.language)
    if call is not None:
        require_feature(document, Feature.LOOPS)
        unrolls = execution_of(document.language).unrolls
        if mutations and unrolls not in mutations:
            raise click.UsageError(f"--call is for {unrolls}, which --mutation leaves out")
    module = parse_document(document)
    functions = (module.program, *module.functions) if qualname == MODULE else module.functions
    function = function_named(functions, qualname, path).qualname if qualname else None
    chosen: list[str | AnyMutation] | None = list(mutations) or None
    if call is not None:
        setting = Setting(strong_sandbox(path), Path(sys.executable), Limits())
        unroll = execution_of(document.language).unrolling(document, call, setting)
        asked = mutations or mutated(document.language).mutations
        chosen = [unroll if mutation == unroll.id else mutation for mutation in asked]
    with steps(f"looking for sites in {path.name}", total_known=False):
        surveyed = survey(module, mutations=chosen, function=function, seed=seed, without=without)
    counterfactuals, refused = surveyed.counterfactuals, surveyed.refusals if explain else ()
    settled = []
    if settle:
        with steps("running the counterfactuals") as progress:
            settled = settlement.settle(document, counterfactuals, strong_sandbox(path), progress=progress)
    if not as_json:
        report = (
            settled_report(settled, refused, explain=explain)
            if settle
            else mutation_report(counterfactuals, refused, explain=explain)
        )
        print_report(terminal.render(report))
        return
    bom = document.decoded is not None and document.decoded.bom
    say_json(counterfactuals_json(settled if settle else counterfactuals, refused, bom=bom))
