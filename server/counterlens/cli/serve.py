"""`counterlens serve`: the language server."""

from __future__ import annotations

import sys
from typing import BinaryIO, cast

import click

from counterlens.cli.lazy import without_collection


@click.command()
@click.option("--stdio", is_flag=True, help="Communicate over standard input and output (the default).")
@click.option("--tcp", metavar="HOST:PORT", help="Listen on a TCP address instead.")
def serve(stdio: bool, tcp: str | None) -> None:
    """Run the language server."""
    if stdio and tcp:
        raise click.UsageError("choose one of --stdio and --tcp")
    with without_collection():
        from counterlens.lsp.server import create_server
        from counterlens.lsp.transport import FrameReader

    if tcp is None:
        create_server().start_io(cast("BinaryIO", FrameReader(sys.stdin.buffer)))
        return
    host, colon, port = tcp.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65_535:
        raise click.UsageError(f"{tcp!r} is not of the form HOST:PORT")
    create_server().start_tcp(host, int(port))
