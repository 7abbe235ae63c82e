"""The end of a completion."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.models.base import Stop
from counterlens.models.stopping import cut, open_braces

INSIDE = "        total += 1\n    return total\n"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (INSIDE + "\n\nprint(f(3))\n", INSIDE),
        (INSIDE + "\n# Test it\nprint(f(3))", INSIDE),
        (INSIDE + "def g", INSIDE),
        ("    s = '''\nnot code\n'''\n    return s\nx", "    s = '''\nnot code\n'''\n    return s\n"),
        ("    s = (\n1,\n)\n    return s\nx", "    s = (\n1,\n)\n    return s\n"),
        ("    s = 1 + \\\n2\n    return s\nx", "    s = 1 + \\\n2\n    return s\n"),
        ("    a = 'it\\'s'  # don't (\n    return a\nx", "    a = 'it\\'s'  # don't (\n    return a\n"),
        ("    if a:\n# left\n        b\n    return\nx", "    if a:\n# left\n        b\n    return\n"),
        ("\treturn 1\nx", "\treturn 1\n"),
        ("print(1)", ""),
    ],
)
def test_a_block_ends_before_code_that_is_indented_no_deeper(text: str, kept: str) -> None:
    assert cut(text, Stop(indent=0), at_line_start=True) == kept


@pytest.mark.parametrize("text", ["", INSIDE, INSIDE + "\n\n", INSIDE + "# still?\n", INSIDE + "  "])
def test_a_block_goes_on_until_something_else_has_begun(text: str) -> None:
    assert cut(text, Stop(indent=0), at_line_start=True) is None


def test_a_completion_may_begin_in_the_middle_of_a_line() -> None:
    assert cut(" a + b\n\nx", Stop(indent=0)) == " a + b\n"
    assert cut("x\nx", Stop(indent=0)) == "x\n"


def test_a_method_ends_where_the_next_one_begins() -> None:
    text = "        return 1\n\n    def other(self):\n"
    assert cut(text, Stop(indent=4), at_line_start=True) == "        return 1\n"


@pytest.mark.parametrize(
    ("text", "braces", "kept"),
    [
        ("return 1;\n}\nint g() {}", 1, "return 1;\n}"),
        ("if (a) { b(); }\n} }\nx", 2, "if (a) { b(); }\n} }"),
        ('c = \'}\'; d = "}\\"}"; // }\n/* } */ e = """\n } " }\n"""; } x', 1, None),
        ('s = "}\n}', 1, 's = "}\n}'),
    ],
)
def test_a_block_in_braces_ends_behind_the_one_that_closes_it(
    text: str, braces: int, kept: str | None
) -> None:
    assert cut(text, Stop(braces=braces)) == (kept or text.removesuffix(" x"))


@pytest.mark.parametrize("text", ["", "return 1;\n", "if (a) { b(); }", "/* }", 'a = "}', 'a = """\n}\n'])
def test_a_block_in_braces_goes_on_until_it_is_closed(text: str) -> None:
    assert cut(text, Stop(braces=1)) is None


@given(st.lists(st.sampled_from(["{", "}", "'}'", '"{"', "// }\n", "/* { */", "x;\n"]), max_size=12))
def test_what_is_stopped_at_braces_stays_so_when_more_comes(parts: list[str]) -> None:
    text = "".join(parts)
    found = cut(text, Stop(braces=1))
    if found is not None:
        assert cut(text + "} more", Stop(braces=1)) == found
        assert open_braces("{" + found) == 0


def test_stop_texts_end_at_the_first_of_them() -> None:
    assert cut("abc<end>def###", Stop(texts=("###", "<end>"))) == "abc"
    assert cut("abc", Stop(texts=("###",))) is None


LINES = st.lists(
    st.sampled_from(["    a = 1", "", "        b", "# c", "    # d", "    s = '('", "    t = [1,", "2]"]),
    max_size=8,
)


@given(LINES)
def test_it_never_matters_how_the_text_arrived(lines: list[str]) -> None:
    text = "\n".join(lines) + "\nend = 1\n"
    final = cut(text, Stop(indent=0), at_line_start=True)
    for size in range(len(text)):
        early = cut(text[:size], Stop(indent=0), at_line_start=True)
        if early is not None:
            assert early == final
            break


@given(LINES)
def test_what_is_kept_is_a_prefix_of_whole_lines(lines: list[str]) -> None:
    text = textwrap.dedent("\n".join(lines)) + "\nend = 1\n"
    kept = cut(text, Stop(indent=0), at_line_start=True)
    if kept is not None:
        assert text.startswith(kept)
        assert kept == "" or kept.endswith("\n")
