"""The shown part of a function: never its docstring, and never its name if the name is the question."""

from __future__ import annotations

import ast

from counterlens.probes.prompts.function_text import MASK, definition, mask
from counterlens.syntax.document import Document

SOURCE = '''\
import os


class Tree:
    def depth(self, other, level=1):
        """Depth of the tree: Tree.depth(x)."""
        if self.left:  # depth counts from one; depth_of is another word
            return self.depth(other) + Tree.depth(self.left, depth=2) + other.depth
        return f"no depth here {level}"


def factorial(n):
    """factorial(3) is 6."""
    return n * factorial(n - 1) if n else os.factorial


def test_factorial():
    assert factorial(3) == 6
'''


def test_the_definition_alone_is_shown() -> None:
    text = definition(Document(SOURCE), "Tree.depth")
    assert text.startswith("def depth(self, other, level=1):\n    if self.left:  # depth")
    assert "Depth of the tree" not in text
    assert "factorial" not in text
    ast.parse(text)


def test_the_name_is_hidden_wherever_it_gives_itself_away() -> None:
    assert mask(Document(SOURCE), "factorial") == (
        f"def {MASK}(n):\n    return n * {MASK}(n - 1) if n else os.factorial"
    )
    text = mask(Document(SOURCE), "Tree.depth")
    assert f"return self.{MASK}(other) + Tree.{MASK}(self.left, depth=2) + other.depth" in text
    assert f"# {MASK} counts from one; depth_of is another word" in text
    assert f'f"no {MASK} here' in text
    assert "Depth of the tree" not in text


def test_decorators_and_line_ends_stay_in_order() -> None:
    source = "@wraps\r\ndef f(a):\r\n    '''Says f.'''\r\n    return f\r\n"
    assert mask(Document(source), "f") == f"@wraps\ndef {MASK}(a):\n    return {MASK}"
    lone = "def f():\n    '''Says f.'''\n"
    assert mask(Document(lone), "f") == f"def {MASK}():\n    '''Says {MASK}.'''"
