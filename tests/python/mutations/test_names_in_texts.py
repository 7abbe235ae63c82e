"""Texts whose words a library looks up among its caller's variables: programs that run before and after."""

from __future__ import annotations

import sys

import pytest

from counterlens.mutations.base import ASSUMPTIONS, NAMES_UNREAD
from tests.python.mutations.results import altered, library_of_frames, lines, made, reasons

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
    "q zip loop": """\
def f(rows):
    limit = 2
    out = []
    for q, _ in zip(["x > @limit"], [1]):
        out += Table(rows).query(q)
    return out
result = f([1,2,3])
""",
    "q nested fn": """\
def f(rows):
    limit = 2
    def run(t):
        limit
        return t.query("x > @limit")
    return run(Table(rows))
result = f([1,2,3])
""",
    "query swap": """\
def f(rows):
    table = Table(rows)
    limit = 2
    big = table.query("x > @limit")
    return big
result = f([1,2,3])
""",
    "query var": """\
def f(rows):
    table = Table(rows)
    q = "x > @limit"
    limit = 2
    return table.query(q)
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
    "query class const": """\
class C:
    Q = "x > @limit"
    def f(self, rows):
        table = Table(rows)
        limit = 2
        return table.query(self.Q)
result = C().f([1,2,3])
""",
    "query default": """\
def f(rows, q="x > @limit"):
    table = Table(rows)
    limit = 2
    return table.query(q)
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
    "query format": """\
def f(rows):
    table = Table(rows)
    limit = 2
    return table.query("x {} @limit".format(">"))
result = f([1,2,3])
""",
    "query concat": """\
def f(rows):
    table = Table(rows)
    limit = 2
    return table.query("x > " + "@limit")
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
    "query dict": """\
QS = {"a": "x > @limit"}
def f(rows):
    table = Table(rows)
    limit = 2
    return table.query(QS["a"])
result = f([1,2,3])
""",
    "query helper": """\
def text(): return "x > @limit"
def f(rows):
    table = Table(rows)
    limit = 2
    return table.query(text())
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
    "query dedent": """\
import textwrap
def f(rows):
    table = Table(rows)
    limit = 2
    q = textwrap.dedent('''
        x > @limit
    ''').strip()
    return table.query(q)
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
    "pd eval": """\
def f(a, b):
    left = a
    right = b
    return framelib.evaluate("left + right")
result = f(1, 2)
""",
    "pd eval defuse": """\
def f(a, b):
    left = a
    left = left + 1
    right = b
    return framelib.evaluate("left + right")
result = f(1, 2)
""",
    "pd eval param": """\
def g(left, right):
    n = 1
    return framelib.evaluate("left + right"), n
def f(a):
    return g(a, 2)
result = f(1)
""",
    "query match": """\
def f(rows):
    match rows:
        case [limit, *rest]:
            return Table(rest).query("x > @limit")
result = f([1,2,3])
""",
    "query for var": """\
def f(rows):
    out = []
    for limit in range(2):
        out.append(Table(rows).query("x > @limit"))
    return out
result = f([1,2,3])
""",
    "query for iter": """\
def f(rows):
    out = []
    for limit in rows:
        out.append(Table(rows).query("x > @limit"))
    return out
result = f([1,2,3])
""",
    "query while": """\
def f(rows):
    out = []
    limit = 0
    while limit < 3:
        out.append(Table(rows).query("x > @limit"))
        limit += 1
    return out
result = f([1,2,3])
""",
    "query tuple unpack": """\
def f(rows):
    q, limit = "x > @limit", 2
    return Table(rows).query(q)
result = f([1,2,3])
""",
    "query getattr": """\
def f(rows):
    limit = 2
    return getattr(Table(rows), "query")("x > @limit")
result = f([1,2,3])
""",
    "query lambda": """\
def f(rows):
    limit = 2
    run = Table(rows).query
    return run("x > @limit")
result = f([1,2,3])
""",
    "query kw": """\
def f(rows):
    limit = 2
    opts = dict(text="x > @limit")
    return Table(rows).query(**opts)
result = f([1,2,3])
""",
    "query cond": """\
def f(rows, c=1):
    limit = 2
    q = "x > @limit" if c else "x > @rows"
    return Table(rows).query(q)
result = f([1,2,3])
""",
    "query shuffle single": """\
limit = 9
def g(limit): return limit
def f(rows):
    only = 2
    return [only] + Table(rows).rows
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
    "a comparison": lines("name = 1", "return name if 'name' in ['name'] else 'name'"),
    "the standard library": "import re\n" + lines("name = re.sub('name', 'x', 'name')", "return name"),
    "a function of the file": "def g(text): return len(text)\n" + lines("name = g('name')", "return name"),
    "a log": "import logging\n" + lines("name = 1", "logging.debug('the name')", "return name"),
}


@pytest.mark.parametrize("source", HARMLESS.values(), ids=HARMLESS)
def test_a_name_in_a_text_that_nobody_looks_up_costs_nothing(source: str) -> None:
    (pair,) = made(source, "rename-generic")
    assert not pair.assumptions
    assert not any("text" in reason for reason in reasons(source, "rename-generic"))


def test_the_other_variables_are_renamed() -> None:
    source = "from framelib import Table\n" + lines(
        "limit = 2", "table = Table(xs)", "return table.query('x > @limit')"
    )
    (pair,) = made(source, "rename-generic")
    assert pair.description == "renamed `table` to `var1`"
    assert reasons(source, "rename-generic") == [
        "the code that gets a text with the word `limit` may look the variable up by name"
    ]


def test_a_text_that_is_kept_needs_an_assumption() -> None:
    source = lines(
        "limit = 2", "xs.append(1)", "holder = type('H', (), {})", "holder.q = '@limit'", "return limit"
    )
    (pair,) = made(source, "rename-generic")
    assert NAMES_UNREAD in pair.assumptions
    assert NAMES_UNREAD in ASSUMPTIONS
