"""The experiments of papers: their populations, and the tables that the papers print."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import counterlens
from counterlens.evaluation.papers import paper_tables
from counterlens.evaluation.reproducing import EXPERIMENTS, experiment_of
from counterlens.metrics.table import Table

PRINTED: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (Path(counterlens.__file__).parent / "evaluation" / "papers.toml").read_text(encoding="utf-8")
)
NAMED = [(protocol, table["table"]) for protocol, tables in PRINTED.items() for table in tables]


def test_data_are_grouped_as_in_the_paper() -> None:
    main, operators = experiment_of("cacp", "2"), experiment_of("cacp", "3")
    by_name = {name: {name} for name in ("humaneval", "mbpp", "codecontests")}
    assert main.groups_of(by_name) == [("humaneval", "mbpp"), ("codecontests",)]
    assert operators.groups_of(by_name) == [("humaneval", "mbpp", "codecontests")]
    # A part of a dataset, a file of it and a variant belong to its population; other data stand alone.
    files = {
        "mbpp-test": {"mbpp-test", "mbpp"},
        "a.jsonl": {"codesearchnet"},
        "humaneval:b.jsonl": {"humaneval"},
        "c.jsonl": {"codesearchnet"},
    }
    assert main.groups_of(files) == [("mbpp-test", "humaneval:b.jsonl"), ("a.jsonl",), ("c.jsonl",)]


def test_data_of_an_experiment_without_common_figures_stand_alone() -> None:
    experiment = experiment_of("codemind", "I")
    files = {"a.jsonl": {"humaneval"}, "b.jsonl": {"humaneval"}, "cruxeval": {"cruxeval"}}
    assert experiment.groups_of(files) == [("a.jsonl",), ("b.jsonl",), ("cruxeval",)]


@pytest.mark.parametrize(("protocol", "name"), NAMED)
def test_a_printed_table_is_whole_and_belongs_to_an_experiment(protocol: str, name: str) -> None:
    assert name in experiment_of(protocol, name).tables
    (table,) = paper_tables(protocol, [name])
    assert table.rows
    assert {len(row) for row in table.rows} == {len(table.columns)}
    low, high = (0, 100) if "in percent" in table.title else (-3, 1000)
    figures = [float(cell) for row in table.rows for cell in row if _is_number(cell)]
    assert figures
    assert low <= min(figures)
    assert max(figures) <= high or "entropies" in table.title or "programs" in table.columns


def _is_number(cell: object) -> bool:
    try:
        float(str(cell))
    except ValueError:
        return False
    return True


def test_tables_of_a_paper_without_printed_ones_are_none() -> None:
    assert paper_tables("core", ["1"]) == []
    tables: list[Table] = paper_tables("cacp", EXPERIMENTS["cacp"][0].tables)
    assert [table.title.partition(":")[0] for table in tables] == [
        "in the paper, Table 1",
        "in the paper, Table 2",
    ]
