"""The tables that papers print, from the data file that Counterlens has of them; imports nothing of it."""

from __future__ import annotations

import tomllib
from math import floor
from pathlib import Path

FILE = Path(__file__).parents[2] / "server" / "counterlens" / "evaluation" / "papers.toml"


def printed(protocol, number):
    """A table of a paper: for each row, its cells by column, as text."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))[protocol]
    (text,) = (table["text"] for table in tables if table["table"] == number)
    head, *rows = (line.split(" | ") for line in text.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


def percent(cell):
    """A share that a paper prints in percent, as the pages write it."""
    return f"{floor(float(cell) + 0.5)} %" if cell else ""
