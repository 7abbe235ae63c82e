"""Texts whose words a library looks up among its caller's variables: programs that run before and after."""

from __future__ import annotations

import sys

import pytest

from counterlens.mutations.base import ASSUMPTIONS, NAMES_UNREAD
from tests.python.mutations.results import altered, library_of_frames, lines, made

IMPORTS = "import framelib\nfrom framelib import Table\n"


@pytest.fixture(autouse=True)
def framelib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "framelib", library_of_frames())


TEXTS = {
    "q enum": """\
import enum
class Q(enum.Enum):
    A = "x > @limit"
def f(rows):
    limit = 2
    return Table(rows).query(Q.A.value)
result = f([1,2,3])
""",
    "q passed kw": """\
def run(t, *, q):
    limit = 2
    other = 1
    return t.query(q)
def f(rows):
    return run(Table(rows), q="x > @limit")
result = f([1,2,3])
""",
    "q method passed": """\
class C:
    def run(self, rows, q):
        limit = 2
        other = 3
        return Table(rows).query(q)
    def m(self):
        return self.run([1,2,3], "x > @limit")
result = C().m()
""",
    "query swap": """\
def f(rows):
    table = Table(rows)
    limit = 2
    big = table.query("x > @limit")
    return big
result = f([1,2,3])
""",
    "query const": """\
Q = "x > @limit"
def f(rows):
    table = Table(rows)
    limit = 2
    return table.query(Q)
result = f([1,2,3])
""",
    "query fstring": """\
def f(rows):
    table = Table(rows)
    op = ">"
    limit = 2
    return table.query(f"x {op} @limit")
result = f([1,2,3])
""",
    "query join": """\
def f(rows):
    table = Table(rows)
    limit = 2
    parts = ["x", ">"]
    parts.append("@limit")
    return table.query(" ".join(parts))
result = f([1,2,3])
""",
    "query attr": """\
class Q: pass
def f(rows):
    q = Q()
    q.text = "x > @limit"
    table = Table(rows)
    limit = 2
    return table.query(q.text)
result = f([1,2,3])
""",
    "query loop": """\
def f(rows):
    table = Table(rows)
    limit = 2
    out = []
    for q in ["x > @limit", "y > @limit"]:
        out += table.query(q)
    return out
result = f([1,2,3])
""",
    "sql": """\
def f(rows):
    frame = rows
    other = frame
    total = framelib.sql("select sum from frame")
    return total, other
result = f([1,2,3])
""",
    "pd eval param": """\
def g(left, right):
    n = 1
    return framelib.evaluate("left + right"), n
def f(a):
    return g(a, 2)
result = f(1)
""",
    "query lambda": """\
def f(rows):
    limit = 2
    run = Table(rows).query
    return run("x > @limit")
result = f([1,2,3])
""",
}


@pytest.mark.parametrize("source", TEXTS.values(), ids=TEXTS)
def test_no_counterfactual_renames_or_moves_what_a_text_names(source: str) -> None:
    assert not altered(IMPORTS + source, excused={NAMES_UNREAD})


HARMLESS = {
    "a message": lines("name = 1", "print('the name', name)", "return name"),
    "an exception": lines("name = 1", "if not xs: raise ValueError('no name')", "return name"),
    "a key": lines("name = {'name': 1}", "return name['name']"),
    "a docstring": lines("'''The name.'''", "name = 1", "return name"),
    "a test": lines("name = 1", "return name if 'name' in xs else 2"),
    "a log": "import logging\n" + lines("name = 1", "logging.debug('the name')", "return name"),
}


@pytest.mark.parametrize("source", HARMLESS.values(), ids=HARMLESS)
def test_a_name_in_a_text_for_people_costs_nothing(source: str) -> None:
    (pair,) = made(IMPORTS + source, "rename-generic")
    assert not pair.assumptions


def test_a_file_that_imports_no_code_of_others_needs_no_assumption() -> None:
    source = "import re\nfrom . import own\n" + lines("name = re.sub('name', 'x', own.text)", "return name")
    (pair,) = made(source, "rename-generic")
    assert not pair.assumptions


def test_a_method_that_reads_names_needs_the_assumption_without_an_import() -> None:
    source = lines("limit = 2", "table = xs", "return table.query('x > @limit')").rpartition("result")[0]
    (pair,) = made(source, "rename-generic")
    assert pair.description == "renamed `limit` to `var1`, `table` to `var2`"
    assert pair.assumptions == (NAMES_UNREAD,)
    assert NAMES_UNREAD in ASSUMPTIONS
