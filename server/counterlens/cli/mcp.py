"""`counterlens mcp`: evidence for assistants, over the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import click

from counterlens.cli.options import ChosenModel, model_options
from counterlens.errors import SourceError


@click.command()
@model_options
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    help="The only folder to read files and run tests in. Default: the current folder.",
)
@click.option("--allow-weaker-sandbox", is_flag=True, help="Also run programs in a weak sandbox.")
@click.option(
    "--trust",
    is_flag=True,
    envvar="COUNTERLENS_TRUST",
    help="Trust --root: its tests and what they import may run, in the sandbox, when an assistant probes.",
)
def mcp(root: Path, model: ChosenModel, allow_weaker_sandbox: bool, trust: bool) -> None:
    """Offer confidence and probes to assistants, over standard input and output.

    Options choose the examined model. An assistant cannot choose another, and can read no file outside
    --root.
    """
    try:
        from counterlens.mcp.server import create_server
        from counterlens.mcp.workspace import ToolWorkspace
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("counterlens"):
            raise
        raise SourceError(
            "the Model Context Protocol is not installed", "pip install 'counterlens[mcp]'"
        ) from error
    workspace = ToolWorkspace(root, model.name, model.opening, allow_weaker_sandbox, trust)
    try:
        create_server(workspace).run("stdio")
    finally:
        workspace.close()
