"""Reading the continuation out of the many shapes of chat replies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.models.base import Stop
from counterlens.models.chat.replies import continuation
from counterlens.models.stopping import cut

PROMPT = '''def total(prices, tax):
    """Add up."""
    result = 0
    for price in prices:
'''
BODY = "        result += price\n    return result * (1 + tax)\n"
HEADER, DOCSTRING, START, LOOP = PROMPT.splitlines(keepends=True)
WHOLE = PROMPT + BODY


def dedent(text: str, by: int) -> str:
    return "".join(line[by:] for line in text.splitlines(keepends=True))


SHAPES = {
    "a block": f"```python\n{BODY}```",
    "a block without a language": f"```\n{BODY}```",
    "a block of tildes": f"~~~\n{BODY}~~~",
    "talk around it": f"Sure! Here is the rest:\n\n```py\n{BODY}```\n\nIt `sums` up.\n\n```\nother\n```",
    "an unfinished block": f"```python\n{BODY}",
    "no block": BODY,
    "no block, blank lines before": f"\n\n{BODY}",
    "CRLF": f"```python\n{BODY}```".replace("\n", "\r\n"),
    "thoughts before": f"<think>\n```\nno\n```\n</think>\n\n```python\n{BODY}```",
    "the whole function": f"```python\n{WHOLE}```",
    "the whole function without a block": WHOLE,
    "the last line again": f"```python\n{LOOP}{BODY}```",
    "the last two lines again": f"```python\n{START}{LOOP}{BODY}```",
    "the last lines again, moved to the margin": f"```\n{dedent(START + LOOP + BODY, 4)}```",
    "the last line again, first line stripped": f"```\n{(LOOP + BODY).lstrip()}```",
    "the last line again, moved to the margin": f"```\n{dedent(LOOP + BODY, 4)}```",
    "the whole function with another docstring": f'```\n{HEADER}    """Sum."""\n{START}{LOOP}{BODY}```',
    "the whole function without its docstring": f"```\n{HEADER}{START}{LOOP}{BODY}```",
    "the whole function with blank lines": f"```\n{HEADER}{DOCSTRING}\n{START}\n{LOOP}{BODY}```",
    "the first line stripped": f"```\n{BODY.lstrip()}```",
    "blanks at the ends of lines": f"```\n{HEADER.rstrip()}  \n{DOCSTRING}{START}{LOOP}{BODY}```",
    "deeper than the prompt": "```\n" + "".join(f"  {line}" for line in WHOLE.splitlines(True)) + "```",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_gives_the_same_continuation(shape: str) -> None:
    text = continuation(SHAPES[shape], PROMPT, 0, complete=True)
    assert text is not None
    assert text.rstrip("\n") == BODY.rstrip("\n")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_growing_reply_is_cut_only_where_the_whole_one_would_be(shape: str) -> None:
    reply = SHAPES[shape].replace("```\n\nIt", "\n\nprint(total([1], 0))\n```\n\nIt")
    stop = Stop(indent=0)
    whole = continuation(reply, PROMPT, 0, complete=True)
    assert whole is not None
    expected = cut(whole, stop, at_line_start=True)
    for length in range(len(reply)):
        early = continuation(reply[:length], PROMPT, 0, complete=False)
        end = None if early is None else cut(early, stop, at_line_start=True)
        assert end is None or end == expected, reply[:length]


@pytest.mark.parametrize(
    ("prompt", "reply", "text"),
    [
        ("def add(a, b):\n", "```\nreturn a + b\n```", "    return a + b\n"),
        ("def add(a, b):\n\t", "```\nreturn a + b\n```", "return a + b\n"),
        ("def add(a, b):\n    ", "```\n    return a + b\n```", "return a + b\n"),
        ("def add(a, b):\n    ", "```\ndef add(a, b):\n    return a + b\n```", "return a + b\n"),
        ("def add(a, b):", "```\n    return a + b\n```", "\n    return a + b\n"),
        ("def add(a, b):\n    return ", "```\na + b\n```", "a + b\n"),
        ("def add(a, b):\n    return ", "```\nreturn a + b\n```", "a + b\n"),
        ("def add(a, b):\n    return", "```\n    return a + b\n```", " a + b\n"),
        ("def add(a, b):\n    return a", "```\ndef add(a, b):\n    return a + b\n```", " + b\n"),
        ("def add(a, b):\n    return ", "```a + b```", "a + b"),
        ("", "```\nx = 1\n```", "x = 1\n"),
        ("\n", "```\nx = 1\n```", "x = 1\n"),
        ("x = 1\n", "", ""),
        ("x = 1\n", "```\n```", ""),
        (
            "def f(x):\n    if x:\n        y = 1\n",
            "```\n    else:\n        y = 2\n```",
            "    else:\n        y = 2\n",
        ),
        ("def f(x):\n    if x:\n        y = 1\n", "```\n    return y\n```", "    return y\n"),
    ],
)
def test_other_prompts(prompt: str, reply: str, text: str) -> None:
    assert continuation(reply, prompt, 0, complete=True) == text


LOOP = "def best(rows):\n    top = rows[0]\n    for row in rows:\n        if row > top:\n"


@pytest.mark.parametrize(
    ("prompt", "reply", "text"),
    [
        (LOOP, "        top = row\n    return top\n", "            top = row\n    return top\n"),
        (LOOP, "        top = row\n\n    return top\n", "            top = row\n\n    return top\n"),
        (
            LOOP,
            "        top = row\n        print(top)\n    return top\n",
            "            top = row\n            print(top)\n    return top\n",
        ),
        (
            LOOP,
            "        top = row\n    else:\n        pass\n",
            "            top = row\n        else:\n            pass\n",
        ),
        (LOOP, "        top = row\n", "            top = row\n"),
        (LOOP, "            top = row\n    return top\n", "            top = row\n    return top\n"),
    ],
)
def test_lines_after_a_block_that_began_too_shallow_stay_where_they_are(
    prompt: str, reply: str, text: str
) -> None:
    """The replies of Qwen2.5-Coder 0.5B give the first line the depth of the header before it."""
    assert continuation(f"```python\n{reply}```", prompt, 0, complete=True) == text
    whole = f"```python\n{reply}"
    for length in range(len(whole)):
        early = continuation(whole[:length], prompt, 0, complete=False)
        assert early is None or text.startswith(early)


def test_another_function_is_not_squeezed_into_this_one() -> None:
    other = "def product(prices):\n    return 1\n"
    assert continuation(f"```\n{other}```", PROMPT, 0, complete=True) == other
    rewritten = f"{HEADER}    return sum(prices) * (1 + tax)\n"
    assert continuation(f"```\n{rewritten}```", PROMPT, 0, complete=True) == rewritten


def test_text_in_a_prompt_with_code_blocks_stays() -> None:
    prompt = 'def f():\n    """Use it:\n\n    ```\n    f()\n    ```\n    """\n'
    assert continuation("```python\n    return 1\n```", prompt, 0, complete=True) == "    return 1\n"


@given(st.text("`~ \n:def#\"'x\t", max_size=60), st.text("def x:\n \t\"'", max_size=30), st.booleans())
def test_no_reply_is_too_strange(reply: str, prompt: str, complete: bool) -> None:
    text = continuation(reply, prompt, 0, complete=complete)
    assert text is not None or not complete
