"""What code looks up by name: each such statement reads every variable of its block."""

from __future__ import annotations

import pytest

from counterlens.dependence import MODULE, dependences

LOOKS_UP = {
    "locals": "text = '{a}'.format(**locals())",
    "eval": "text = eval('a + 1')",
    "eval without a namespace": "text = eval('a + 1', None)",
    "a namespace that may be None": "text = eval('a + 1', n)",
    "a frame": "text = sys._getframe().f_locals['a']",
    "a given frame": "text = peek(sys._getframe())",
    "another name": "text = run('a + 1')",
    "an imported name": "text = ev('a + 1')",
    "an attribute": "text = builtins.eval('a + 1')",
    "getattr": "text = getattr(builtins, 'eval')('a + 1')",
    "a function of the file": "text = look('a')",
    "a method of the file": "text = Asked().ask('a')",
    "in a comprehension": "text = [eval(part) for part in n]",
    "given to map": "text = list(map(eval, n))",
    "vars": "text = vars()",
    "capture_locals": "text = traceback.TracebackException(n, n, n, capture_locals=True)",
}
BEFORE = """\
import builtins, inspect, sys, traceback
from builtins import eval as ev
run = eval
def look(name):
    return sys._getframe(1).f_locals[name]
class Asked:
    def ask(self, name):
        return inspect.currentframe().f_back.f_locals[name]
def f(n):
    a = 1
    a = n
"""


@pytest.mark.parametrize("statement", LOOKS_UP.values(), ids=LOOKS_UP)
def test_a_lookup_reads_every_variable_that_reaches_it(statement: str) -> None:
    found = dependences(f"{BEFORE}    {statement}\n    b = 2\n    return text\n", "f").data
    assert {edge for edge in found if edge[1] == 12} >= {(9, 12, "n"), (11, 12, "a")}
    assert not {edge for edge in found if edge[0] == 10}
    assert (13, 14, "b") not in found or "peek" in statement  # which may return the frame that it is given


READS_NOTHING = {
    "its own namespace": "text = eval('a', {})",
    "an object's attributes": "text = vars(sys)",
    "a name for it": "text = eval",
    "a text": "text = 'eval'",
}


@pytest.mark.parametrize("statement", READS_NOTHING.values(), ids=READS_NOTHING)
def test_what_looks_like_a_lookup_reads_nothing(statement: str) -> None:
    assert not {edge for edge in dependences(f"{BEFORE}    {statement}\n", "f").data if edge[1] == 12}


def test_a_parameter_of_that_name_is_no_lookup() -> None:
    found = dependences("def f(dir, vars):\n    a = 1\n    return dir(vars)\n", "f").data
    assert found == {(1, 3, "dir"), (1, 3, "vars")}


def test_super_reads_the_first_parameter() -> None:
    source = "class A(B):\n    def f(me, n):\n        me = n\n        return super().f()\n"
    assert dependences(source, "A.f").data == {(2, 3, "n"), (3, 4, "me")}


def test_exec_in_a_module_may_bind_what_is_used() -> None:
    source = "x = 1\nexec('x = 2')\nglobals()['y'] = 3\nprint(x, y)\n"
    assert dependences(source, MODULE).data >= {(1, 2, "x"), (1, 4, "x"), (2, 4, "x"), (3, 4, "y")}


def test_globals_reads_what_a_function_declares_global() -> None:
    source = "def f():\n    global x\n    x = y = 1\n    return globals()['x']\n"
    assert dependences(source, "f").data == {(3, 4, "x")}


def test_locals_in_a_class_body_reads_the_variables_of_the_class() -> None:
    source = "def f(n):\n    class A:\n        x = 1\n        y = locals()\n    return n\n"
    assert {edge for edge in dependences(source, "f").data if edge[1] == 4} == {(3, 4, "x")}
