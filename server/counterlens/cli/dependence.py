"""`counterlens dependence`: what each statement depends on, without asking any model."""

from __future__ import annotations

import click

from counterlens.cli.options import json_option, print_json, print_report, split_target
from counterlens.dependence import MODULE, Program, Rules
from counterlens.reports.dependence import dependence_report, plain
from counterlens.syntax.document import Document
from counterlens.syntax.functions import require_python


@click.command()
@click.argument("target", metavar="PATH[::QUALNAME]")
@click.option(
    "--implicit-exceptions",
    is_flag=True,
    help="Let every statement that may raise decide about what follows it.",
)
@json_option
def dependence(target: str, implicit_exceptions: bool, as_json: bool) -> None:
    """Show what each statement depends on: control, and data through names and objects.

    Without a name, the module's own statements are analysed (as <module>), and every function in it.
    """
    path, qualname = split_target(target)
    document = require_python(Document.read(path))
    program = Program(document.text, Rules(implicit_exceptions=implicit_exceptions))
    if qualname is not None:
        found = program.dependences(qualname)
        if as_json:
            print_json(plain(found))
        else:
            print_report(dependence_report(found, path))
        return
    if as_json:
        functions = [plain(one) for one in program.all()]
        print_json({**functions[0], "functions": functions[1:]})
        return
    for one in program.all():
        if one.function != MODULE or one.edges:
            print_report(dependence_report(one, path))
