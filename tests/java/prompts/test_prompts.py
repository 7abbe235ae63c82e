"""Java's methods in prompts: where they begin and end, and what stands in for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterlens.models.base import Stop
from counterlens.probes.pairs.sensitivity import empty_programs
from counterlens.probes.prompts.function_text import (
    behind_docstring,
    definition,
    docstring,
    hollow,
    mask,
    visible_part,
)
from counterlens.probes.prompts.gap import Gap, View
from counterlens.probes.prompts.language import prompting_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

TEXT = """\
import java.util.*;

class Tree extends Plant {
    private int depth;

    Tree(int depth) {
        super(depth);
        this.depth = depth;
    }

    /** The height: height() of the lower one, and one. */
    public int height(Tree other) {
        // height is counted
        int height = 0;
        while (other.height() > height) {
            if (height > 9) {
                return "}".length();
            }
            height += this.height(null) - 1;
        }
        return height(other) + height;
    }

    boolean empty() { return true; }

    void grow() {
    }
}

class Forest {
    String name(int n) {
        String name = "";
        return name;
    }
}
"""
DOCUMENT = Document(TEXT, language="java")


def named(name: str) -> Function:
    return find_function(DOCUMENT, name)


def at(text: str) -> int:
    return TEXT.index(text)


def test_the_documentation_stands_above_a_method() -> None:
    start, end = docstring(DOCUMENT, named("height"))
    assert TEXT[start:end] == "    /** The height: height() of the lower one, and one. */\n"
    assert docstring(DOCUMENT, named("empty"))[0] == named("empty").end
    assert definition(DOCUMENT, "height").startswith("public int height(Tree other) {\n    // height is")
    assert "/**" not in visible_part(DOCUMENT, named("height"))


def test_the_body_begins_at_its_first_statement() -> None:
    assert behind_docstring(DOCUMENT, named("height")) == at("        int height = 0;")
    assert behind_docstring(DOCUMENT, named("empty")) == at("return true;")
    assert behind_docstring(DOCUMENT, named("grow")) == at("void grow() {") + len("void grow() {")


def test_a_name_is_masked_where_it_means_the_method() -> None:
    assert mask(DOCUMENT, "height") == (
        "public int <FILL>(Tree other) {\n"
        "    // <FILL> is counted\n"
        "    int height = 0;\n"
        "    while (other.height() > height) {\n"
        "        if (height > 9) {\n"
        '            return "}".length();\n'
        "        }\n"
        "        height += this.<FILL>(null) - 1;\n"
        "    }\n"
        "    return <FILL>(other) + height;\n"
        "}"
    )


@pytest.mark.parametrize("name", ["height", "empty", "grow", "Tree", "name"])
def test_a_hollow_method_does_nothing_but_fail(name: str) -> None:
    made = hollow(DOCUMENT, named(name), "What it does */ here.\nMore.")
    assert not made.tree.root_node.has_error
    function = find_function(made, name)
    body = made.text[function.start : function.end]
    assert "throw new UnsupportedOperationException();" in body
    assert ("super(depth);" in body) == (name == "Tree")
    assert made.text[slice(*docstring(made, function))].split() == (
        ["/**", "*", "What", "it", "does", "*", "/", "here.", "*", "More.", "*/"]
    )
    assert not hollow(DOCUMENT, named(name)).tree.root_node.has_error


@pytest.mark.parametrize(
    ("text", "braces"), [("        int height", 1), ("            if (height > 9", 2), ('return "}"', 3)]
)
def test_a_completion_ends_with_the_brace_that_closes_the_method(text: str, braces: int) -> None:
    gap = Gap.of(DOCUMENT, named("height"), at(text))
    assert gap.prompt(9).stop == Stop(braces=braces)
    assert gap.fill(gap.rest) == TEXT
    assert gap.removed.endswith("return height(other) + height;\n    }")


def test_the_class_around_a_method_is_shown() -> None:
    first = Gap.of(DOCUMENT, named("height"), at("        while"))
    assert first.shown == TEXT[: at("        while")]
    second = Gap.of(DOCUMENT, named("name"), at("        return name"))
    assert second.shown.endswith('\n\nclass Forest {\n    String name(int n) {\n        String name = "";\n')


def test_an_escape_that_does_not_compile_is_broken_in_a_comment() -> None:
    r"""The compiler reads escapes in comments, too: `\u` needs four hexadecimal digits."""
    made = hollow(DOCUMENT, named("name"), r"Split at \user, \uuser and \u00e9.")
    assert r"Split at \ user, \ uuser and \u00e9." in made.text


def test_a_description_is_a_comment() -> None:
    view = View("Say */ the name.", preceding=True)
    gap = Gap.of(DOCUMENT, named("name"), at("        return name"), view)
    assert gap.shown.startswith("/*\nSay * / the name.\n*/\nimport java.util")


def test_a_method_to_repair_is_told_of_in_a_comment() -> None:
    gap = Gap.repair(DOCUMENT, named("name"))
    told = "    // name has a bug. Here is the mended version:\n"
    assert gap.shown.endswith(f"{told}    String name(int n) {{\n")
    assert gap.prompt(9).stop == Stop(braces=1)


@pytest.mark.parametrize(
    ("header", "stand_ins"),
    [
        ("int", ("return 42;",)),
        ("boolean", ()),
        ("void", ("return;",)),
        ("char", ("return '#';",)),
        ("List<String>", ("return null;",)),
        ("int[]", ("return null;",)),
    ],
)
def test_what_stands_in_for_a_method_has_its_type(header: str, stand_ins: tuple[str, ...]) -> None:
    document = Document(f"class A {{ {header} f() {{ throw x; }} }}", language="java")
    found = prompting_of("java").stand_ins(document, find_function(document, "f"))
    assert found[1:] == stand_ins


def test_a_stand_in_closes_what_is_open() -> None:
    gap = Gap.of(DOCUMENT, named("height"), at("                return"))
    programs = empty_programs(DOCUMENT, gap, "return 42;")
    for program in programs:
        made = replace(DOCUMENT, text=program)
        assert not made.tree.root_node.has_error
        assert program.endswith(TEXT[named("height").end :])
    assert [program.count("return 42;") for program in programs] == [1, 2]
