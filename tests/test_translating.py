"""Texts in a language that there is a catalogue of: with values, numbers as they are written, sentences."""

from __future__ import annotations

import pytest

from counterlens.translating import ENGLISH, Translator

GERMAN = Translator(
    {
        "1,234.5": "1.234,5",
        "{count} of {n} changed": "{count} von {n} änderten sich",
        "there is no function {0}": "es gibt keine Funktion {0}",
        "there is no function {0} in {1}": "in {1} ist keine Funktion {0}",
        "Try again": "Noch einmal",
        "both touch `{0}`": "beide berühren `{0}`",
        "the operands: {0}": "die Operanden: {0}",
        "it took {0} s": "es dauerte {0} s",
        "control": "Steuerung",
        "Of {0} it shows {1}, and {2} that are none.": "Von {0} zeigt es {1}, dazu {2}, die keine sind.",
        "{0} edges": "{0} Kanten",
    }
)


def test_a_text_has_its_values_in_either_language() -> None:
    assert GERMAN("{count} of {n} changed", count=2, n=5) == "2 von 5 änderten sich"
    assert ENGLISH("{count} of {n} changed", count=2, n=5) == "2 of 5 changed"


def test_what_has_no_translation_is_said_in_english() -> None:
    assert GERMAN("{n} more", n=3) == "3 more"


def test_a_value_with_braces_stays() -> None:
    assert GERMAN("{count} of {n} changed", count="{n}", n="{0}") == "{n} von {0} änderten sich"


@pytest.mark.parametrize(
    ("value", "form", "english", "german"),
    [
        (0.5, ".2f", "0.50", "0,50"),
        (12345.5, ",.1f", "12,345.5", "12.345,5"),
        (-2.31, "+.2f", "-2.31", "-2,31"),
    ],
)
def test_numbers_are_written_as_the_language_does(value: float, form: str, english: str, german: str) -> None:
    assert ENGLISH.number(value, form) == english
    assert GERMAN.number(value, form) == german


@pytest.mark.parametrize(
    ("text", "german"),
    [
        ("there is no function total", "es gibt keine Funktion total"),
        ("there is no function total in a.py", "in a.py ist keine Funktion total"),
        ("there is no function total in a.py. Try again", "in a.py ist keine Funktion total. Noch einmal"),
        ("the operands: both touch `x`", "die Operanden: beide berühren `x`"),
        ("both touch `x`; both touch `y`", "beide berühren `x`; beide berühren `y`"),
        ("it took 1.5 s", "es dauerte 1,5 s"),
        (
            "Of 3 edges it shows 2, and 1 that are none. Of 4 edges it shows 0, and 5 that are none.",
            "Von 3 Kanten zeigt es 2, dazu 1, die keine sind. "
            "Von 4 Kanten zeigt es 0, dazu 5, die keine sind.",
        ),
        ("completion: it took 2 s", "completion: es dauerte 2 s"),
        ("there is no function control", "es gibt keine Funktion control"),
        ("both touch `x`. Nobody knows this", "both touch `x`. Nobody knows this"),
        ("control", "control"),
    ],
)
def test_a_sentence_from_below_is_recognised_by_its_pattern(text: str, german: str) -> None:
    assert GERMAN.recognised(text) == german
    assert ENGLISH.recognised(text) == text


def test_what_others_have_written_at_length_stays() -> None:
    for text in ("File a, line 3. " * 200, "there is no function " + "a: b. " * 300, "boom " * 400):
        assert GERMAN.recognised(text) == text
