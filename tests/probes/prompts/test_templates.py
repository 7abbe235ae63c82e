"""Templates: the texts of a chat, the worked examples in them, and answers that repeat these."""

from __future__ import annotations

import importlib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from counterlens.models.base import Api, Capability, ModelInfo
from counterlens.probes.prompts.templates import fill, fill_text, repeats_example, template

PACKAGES = [f"counterlens.probes.{name}" for name in ("dependence", "execution", "robustness")]
TEMPLATES = sorted(
    (package, *file.name.removesuffix(".txt").rsplit(".", 1))
    for package in PACKAGES
    for file in (files(package) / "templates").iterdir()
)
PLAIN = ModelInfo("m", "m", "m", "local", frozenset({Capability.COMPLETE}))
CHAT = replace(PLAIN, api=Api.CHAT)
INSTRUCTED = replace(PLAIN, capabilities=frozenset({Capability.COMPLETE, Capability.INSTRUCT}))


def test_a_model_with_a_chat_template_is_asked_through_it_whatever_its_format() -> None:
    asked = [
        fill(info, "counterlens.probes.execution", "direct", 9, (), source="def f(): return 1", call="f()")
        for info in (PLAIN, CHAT, INSTRUCTED)
    ]
    plain, chat, instructed = (prompt.reply for prompt in asked)
    assert plain is None
    assert chat is not None
    assert not chat.by_template  # so that what it answered before is still known
    assert instructed == replace(chat, by_template=True)
    assert asked[1].text == asked[2].text == "def f(): return 1\n\nWhat does f() return?"


def places(package: str, name: str, form: str) -> dict[str, str]:
    return dict.fromkeys(template(package, name, form).get_identifiers(), "HERE-IT-IS")


@pytest.mark.parametrize(("package", "name", "form"), TEMPLATES)
def test_a_template_ends_with_the_question_and_shows_no_mark(package: str, name: str, form: str) -> None:
    wording = fill_text(CHAT if form == "chat" else PLAIN, package, name, **places(package, name, form))
    seen = [wording.instruction, wording.text, *(text for turn in wording.turns for text in turn)]
    assert not any(mark in text for text in seen for mark in "⟦⟧")
    assert all(text for turn in wording.turns for text in turn)
    assert "HERE-IT-IS" in wording.text
    assert all(answer in "\n".join(seen) for answer in wording.examples)


@pytest.mark.parametrize(
    ("package", "name"),
    [
        (package, name)
        for package, name, form in TEMPLATES
        if form == "chat" and (package, name, "completion") in TEMPLATES
    ],
)
def test_both_forms_have_the_same_worked_examples(package: str, name: str) -> None:
    chat = fill_text(CHAT, package, name, **places(package, name, "chat"))
    plain = fill_text(PLAIN, package, name, **places(package, name, "completion"))
    if name.startswith("core-"):  # CoRe asks chat models without an example
        assert not chat.examples
        return
    if name.endswith("-pair"):  # yes and no are no copies
        assert chat.examples == plain.examples == ()
        return
    assert len(chat.examples) == len(plain.examples)
    for answer, same in zip(chat.examples, plain.examples, strict=True):
        uncommented = [line.removeprefix("//").removeprefix("#").strip() for line in same.splitlines()]
        assert answer.removeprefix("It ") == "\n".join(uncommented)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "marked_probe" / "templates"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "sum.completion.txt").write_text("1 + 1 = ⟦2⟧\n$source =\n")
    (folder / "sum.chat.txt").write_text("Add.\n---\n1 + 1?\n---\n2\n---\n$source?\n")
    (folder / "odd.chat.txt").write_text("Add.\n---\n1 + 1?\n---\n2\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    return "marked_probe"


def test_examples_of_a_chat_are_earlier_turns(package: str) -> None:
    asked = fill(CHAT, package, "sum", 9, (), source="3 + 4")
    assert asked.text == "3 + 4?"
    assert asked.reply is not None
    assert (asked.reply.instruction, asked.reply.turns) == ("Add.", (("1 + 1?", "2"),))
    plain = fill(PLAIN, package, "sum", 9, (), source="3 + 4")
    assert (plain.text, plain.reply) == ("1 + 1 = 2\n3 + 4 =", None)
    assert asked.examples == plain.examples == ("2",)


def test_a_program_with_the_line_between_the_texts_is_one_message(package: str) -> None:
    program = 'def f():\n    """F.\n---\nG.\n⟦H⟧ costs $5.\n---\nI.\n"""'
    asked = fill(CHAT, package, "sum", 9, (), source=program)
    assert asked.text == f"{program}?"
    plain = fill(PLAIN, package, "sum", 9, (), source=program)
    assert plain.text == f"1 + 1 = 2\n{program} ="
    assert plain.examples == ("2",)


def test_a_template_that_ends_with_an_answer_is_an_error(package: str) -> None:
    with pytest.raises(ValueError, match=r"odd\.chat\.txt does not end with a message of the user"):
        fill(CHAT, package, "odd", 9, ())


def test_an_answer_is_compared_with_the_examples_as_it_is_read(package: str) -> None:
    asked = fill(PLAIN, package, "sum", 9, (), source="3 + 4")
    assert repeats_example(asked, " 2\n")
    assert not repeats_example(asked, "7")
    assert repeats_example(asked, "2.0", float)
    assert not repeats_example(asked, "none", lambda _: None)
