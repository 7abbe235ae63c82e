"""Code that reveals the answer is cut from the shown program."""

from __future__ import annotations

import ast

import pytest

from counterlens.errors import SourceError
from counterlens.probes.prompts.function_text import visible_part
from counterlens.python.execution.unanswered import without_answer
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

PROGRAM = '''\
def half(n, by=2):
    """Give a part of a number.

    >>> half(17)
    8
    """
    return n // by


def other(x):
    return half(x) + 1
'''


def left(source: str, call: str = "half(17)") -> str:
    document = Document(source)
    cut = without_answer(document, find_function(document, "half"), call)
    ast.parse(cut.text)
    return visible_part(cut, find_function(cut, "half"))


@pytest.mark.parametrize(
    "leak",
    [
        "assert half(17) == 8\n",
        "assert half(17) == 8  # which is 8\n",
        "assert 8 == half(n=17), 'half'\n",
        "assert half(by=2, n=17) == 8\n",
        "print(half(17))\n# 8\n",
        "print(half(17))  # 8\n",
        "EIGHT = 8 or half(17)\n",
        "# half(17) gives 8\n",
        "# For example,\n# half(17)\n# 8\n",
        "if __name__ == '__main__':\n    assert half(17) == 8\n",
        "if __name__ == '__main__':\n    for n, want in [(17, 8)]:\n        assert half(n) == want\n",
        "for n, want in [(17, 8)]:\n    assert half(n) == want\n",
        "CASES = [(17, 8)]\nfor n, want in CASES:\n    assert half(n) == want\n",
        "def test_half():\n    assert half(17) == 8\n",
        "def test_half():\n    n = 17\n    assert half(n) == 8\n",
        "import pytest\n@pytest.mark.parametrize(('n', 'want'), [(17, 8)])\ndef test_it(n, want):\n"
        "    assert half(n) == want\n",
        "class HalfTest(TestCase):\n    def test_it(self):\n        self.assertEqual(half(17), 8)\n",
        "def check(candidate):\n    assert candidate(17) == 8\ncheck(half)\n",
        "def verify(call):\n    assert call(17) == 8\nverify(half)\n",
        "assert list(map(half, [17])) == [8]\n",
        "h = half\nassert h(17) == 8\n",
        "try:\n    pass\nexcept E if half(17) == 8 else F:\n    pass\n",
        "x = 1; assert half(17) == 8\n",
        "__test__ = {'half': '>>> half(17)\\n8'}\n",
        "def more():\n    '''Do more.\n\n    >>> half(17)\n    8\n    '''\n",
        "def more():\n    '''Where half( 17 ) is 8.'''\n    return 1\n",
    ],
)
def test_what_shows_the_answer_is_cut(leak: str) -> None:
    for source in (PROGRAM + "\n\n" + leak, "import os\n\n" + leak + "\n" + PROGRAM):
        text = left(source)
        assert "17" not in text
        assert "8" not in text
        assert "return n // by" in text
        assert "return half(x) + 1" in text


def test_the_docstring_of_the_module_is_cut() -> None:
    text = left('"""Numbers.\n\n>>> n = 17\n>>> half(n)\n8\n"""\n' + PROGRAM)
    assert text.startswith("def half")


@pytest.mark.parametrize(
    "kept",
    [
        "assert half(18) == 9\n",
        "# half(18) is 9\n",
        "def test_half():\n    assert half(18) == 9\n",
        "def uses(n):\n    return [half(one) for one in n]\n",
        "TABLE = [half(n) for n in range(9)]\n",
        "X = 17\n",
        '"""Numbers, such as 17."""\n',
    ],
)
def test_what_does_not_is_kept_byte_for_byte(kept: str) -> None:
    document = Document(kept + PROGRAM)
    assert without_answer(document, find_function(document, "half"), "half(17)") is document


def test_a_test_keeps_what_is_of_another_input() -> None:
    text = left(PROGRAM + "\ndef test_it():\n    assert half(18) == 9\n    assert half(17) == 8\n")
    assert "assert half(18) == 9" in text
    assert "17" not in text


def test_a_comment_inside_of_the_function_is_cut_and_its_code_is_not() -> None:
    text = left(
        "def half(n):\n    # half(17) is 8\n"
        "    if n == 1:  # as half(17)\n        return half(17)\n    return n\n"
    )
    assert text == "def half(n):\n    if n == 1:\n        return half(17)\n    return n\n"


def test_line_ends_and_wide_characters_survive() -> None:
    source = ("NAME = '😀é'\n" + PROGRAM + "'é'; assert half(17) == 8\n").replace("\n", "\r\n")
    document = Document(source)
    cut = without_answer(document, find_function(document, "half"), "half(17)")
    assert cut.text == source.replace("; assert half(17) == 8", "; pass")


def test_what_cannot_be_read_stays() -> None:
    for source, call in (
        ("def half(n):\n  return (\n", "half(17)"),
        (PROGRAM, "half(x)"),
        (PROGRAM, "half("),
    ):
        document = Document(source)
        assert without_answer(document, find_function(Document(PROGRAM), "half"), call) is document


def test_a_program_that_would_be_another_is_refused() -> None:
    source = "if True or half(17) == 8:\n    def half(n):\n        return n\n"
    document = Document(source)
    with pytest.raises(SourceError, match="cannot be removed"):
        without_answer(document, find_function(document, "half"), "half(17)")
