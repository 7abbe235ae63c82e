"""The source of Java tests: the classes with their cases, and what it imports.

The tests of a Java method in its project: classes with a `main` or with JUnit tests that name it.

A test file counts if it names the method and its class; the search covers the folder of the file and the
project's test folders. Nothing runs for the search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from counterlens.syntax.definitions import own_name, text_of
from counterlens.syntax.grammars import parser_for
from counterlens.syntax.tree import descendants

TYPES = frozenset(
    [
        *("class_declaration", "interface_declaration", "enum_declaration", "record_declaration"),
        "annotation_type_declaration",
    ]
)
"""The node types of declared types."""
_MARKS = frozenset(["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory"])


@dataclass(frozen=True, slots=True)
class JavaTests:
    """Tests, ready to be compiled together with a program.

    Attributes:
        text: Their text, with missing imports added.
        names: The full names of their classes at the top level.
        cases: Number of cases: a `main`, or the methods that JUnit runs.
        foreign: Imports that are neither the library's nor the program's, such as a test framework.
    """

    text: str
    names: tuple[str, ...]
    cases: int
    foreign: tuple[str, ...] = ()


def read_tests(tests: str, program: str) -> JavaTests:
    """Read the text of tests; without a package and imports of its own, it gets those of a program."""
    tree = parser_for("java").parse(tests.encode()).root_node
    root = parser_for("java").parse(program.encode()).root_node
    own = package_of(root)
    foreign = [
        name for name in _imported_names(tree) if not name.startswith(("java.", "javax.", own or "java."))
    ]
    head, package = "", package_of(tree)
    if not any(node.type in {"import_declaration", "package_declaration"} for node in tree.children):
        package = own
        head = "".join(f"{line} " for line in [f"package {own};" if own else "", *_imports(root)] if line)
    top = [own_name(node) for node in tree.children if node.type in TYPES]
    names = tuple(f"{package}.{name}" if package else name for name in top)
    return JavaTests(head + tests, names, sum(map(_is_case, descendants(tree))), tuple(foreign))


def package_of(root: tree_sitter.Node) -> str:
    """The name of a file's package; empty for the unnamed one."""
    lines = (_line(node) for node in root.children if node.type == "package_declaration")
    declaration = next((line for line in lines if re.fullmatch(r"package [\w.$]+;", line)), "")
    return declaration.removeprefix("package ").removesuffix(";")


def _is_case(node: tree_sitter.Node) -> bool:
    """Whether a runner calls it: `main`, or a method of JUnit, annotated or by its name."""
    if node.type != "method_declaration":
        return False
    name = own_name(node)
    marks = next((child for child in node.children if child.type == "modifiers"), None)
    marked = {
        text_of(mark.named_children[0]).rpartition(".")[2]
        for mark in (marks.named_children if marks is not None else ())
        if mark.named_children
    }
    by_name = name.startswith("test") and "TestCase" in _superclass(node)
    return bool(marked & _MARKS) or name == "main" or by_name


def _superclass(method: tree_sitter.Node) -> str:
    owner = method.parent.parent if method.parent is not None else None
    above = owner.child_by_field_name("superclass") if owner is not None else None
    return text_of(above) if above is not None else ""


def _imports(root: tree_sitter.Node) -> list[str]:
    """The imports from the library, one line each."""
    lines = [_line(node) for node in root.children if node.type == "import_declaration"]
    return [line for line in lines if re.fullmatch(r"import (static )?javax?\.[\w.$]+(\.\*)?;", line)]


def _imported_names(root: tree_sitter.Node) -> list[str]:
    """The imported names."""
    lines = [_line(node) for node in root.children if node.type == "import_declaration"]
    return [re.sub(r"^import (static )?|;$", "", line) for line in lines]


def _line(node: tree_sitter.Node) -> str:
    return re.sub(r" ?([.;*]) ?", r"\1", " ".join(map(text_of, leaves(node))))


def leaves(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The tokens of a declaration's part, without modifiers, annotations and comments."""
    if node.type in {"modifiers", "annotation", "marker_annotation", "line_comment", "block_comment"}:
        return
    if not node.children:
        yield node
    for child in node.children:
        yield from leaves(child)
