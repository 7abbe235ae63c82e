"""Expectations, worded for a reader."""

from __future__ import annotations

from counterlens.reports.expected import code, expected_texts


def test_a_word_is_named_once_and_its_shares_are_added() -> None:
    found = expected_texts([(" >=", 0.4), (">", 0.3), (">=", 0.21), (" ", 0.05), ("  ", 0.02)])
    assert found == ["`>=` 61 %", "`>` 30 %", "*blank* 7 %"]


def test_the_likeliest_come_first_and_few() -> None:
    assert expected_texts([("a", 0.1), ("b", 0.2), (" a", 0.15), ("c", 0.01)], limit=2) == [
        "`a` 25 %",
        "`b` 20 %",
    ]


def test_nothing_was_expected_where_nothing_is_known() -> None:
    assert expected_texts([("a", float("nan")), ("", 0.5)]) == []


def test_blanks_have_names_and_backticks_break_nothing() -> None:
    assert [code(text) for text in ("\n", "    ", "\t", " \n", "")] == [
        "*line end*",
        "*blank*",
        "*tab*",
        "*line end*",
        "*nothing*",
    ]
    assert code(" a`b ") == "`` a`b ``"
    assert code("a\nb") == "`a⏎b`"


def test_plain_text_has_no_italics() -> None:
    found = expected_texts([("\n", 0.5), (" *", 0.25)], markdown=False)
    assert found == ["line end 50 %", "`*` 25 %"]
