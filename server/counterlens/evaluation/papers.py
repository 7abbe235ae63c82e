"""The tables that papers print, from `papers.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from counterlens.metrics.table import Table
from counterlens.probes.protocols import PROTOCOLS


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """A table of a paper.

    Attributes:
        table: Its name in the paper.
        title: Its content.
        text: A line for its columns, and one for each row; cells are separated by ` | `.
    """

    table: str
    title: str
    text: str


@cache
def _paper_tables() -> dict[str, tuple[PaperTable, ...]]:
    text = (files(__package__) / "papers.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, tuple[PaperTable, ...]])


def paper_tables(protocol: str, names: Collection[str]) -> list[Table]:
    """The tables of a paper with some names, as far as they are known.

    Args:
        protocol: The protocol of the paper.
    """
    return [
        _table_of(table, f"in the paper, Table {table.table}: {table.title}", PROTOCOLS[protocol].paper)
        for table in _paper_tables().get(protocol, ())
        if table.table in names
    ]


def _table_of(table: PaperTable, title: str, paper: str) -> Table:
    columns, *rows = (tuple(line.split(" | ")) for line in table.text.splitlines())
    return Table(title, columns, tuple(rows), f"as printed by {paper}")
