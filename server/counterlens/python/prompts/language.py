"""Python functions in prompts: indentation ends them, and their docstrings are statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import tree_sitter

from counterlens.models.base import Stop
from counterlens.probes.prompts.language import PromptLanguage, definition_node, indentation
from counterlens.python.judging.layout import Layout, layout_of
from counterlens.python.syntax.parsing import first_line, parse_module
from counterlens.regular_file import read_text
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, Function
from counterlens.text import line_start

MOST_CHARACTERS = 4096
"""Maximum length of all definitions together."""
_LONGEST = 30  # lines of a definition that is shown whole; of a longer one, headers and docstrings
_FARTHEST = 4  # files that a name is followed through, such as the `__init__.py` that imports it again
_LARGEST = 1 << 20  # bytes of a file that is read
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
STAND_INS = ("pass", "return 42")
"""Statements with which every function's tests should fail."""
PRINTING_STAND_INS = ("pass", "print(42)")
"""The same for whole programs."""
_OWNERS = {"self", "cls"}
_BEFORE_TEXT = {"import_statement", "import_from_statement", "comment"}


def imported_definitions(document: Document, function: Function) -> str:
    """The definitions that a function uses from other files of its project, each below the name of its file.

    Functions, classes and constants are followed through `import` and `from … import`, also through files
    that import them again. They come in the order in which the function uses them, until
    `MOST_CHARACTERS` are full; one that does not fit is left out.

    Returns:
        Text that ends in an empty line; empty if there are none.
    """
    if document.path is None:
        return ""
    place = layout_of(document.path, document.text)
    tree = parse_module(document.text)
    imports = _imports(tree, place)
    blocks, size = list[str](), 0
    for module, name in dict.fromkeys(_used_names(tree, function, imports)):
        definition = _definition(place, module, name, _FARTHEST)
        if definition is not None and size + len(definition) <= MOST_CHARACTERS and definition not in blocks:
            blocks.append(definition)
            size += len(definition)
    return "".join(f"{block}\n\n" for block in blocks)


def _imports(tree: ast.AST, place: Layout) -> dict[str, tuple[str, str]]:
    """The imported names of a file: the module of each, and its name there, empty for a module."""
    names: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name] = alias.name, ""
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(node, place)
            names |= {alias.asname or alias.name: (source, alias.name) for alias in node.names}
    return names


def _absolute(node: ast.ImportFrom, place: Layout) -> str:
    """The dotted path of the module that a statement imports from."""
    if not node.level:
        return node.module or ""
    package = place.package.split(".") if place.package else []
    above = package[: max(len(package) + 1 - node.level, 0)]
    return ".".join([*above, *([node.module] if node.module else [])])


def _used_names(
    tree: ast.Module, function: Function, imports: dict[str, tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """The imported names that a function uses: the module and the name in it, in the order of the text."""
    lines = range(function.start_line, function.end_line + 1)
    body = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and node.lineno in lines]
    for node in sorted(body, key=lambda node: (node.lineno, node.col_offset)):
        dotted = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        module, name = imports.get(dotted, ("", ""))
        if name:
            yield module, name
        owner, _, attribute = dotted.rpartition(".")
        module, name = imports.get(owner, ("", ""))
        if attribute and module:
            yield f"{module}.{name}" if name else module, attribute


def _definition(place: Layout, module: str, name: str, steps: int) -> str | None:
    """The definition of a name in a module of the project, below the name of its file."""
    path = _file_of(place, module)
    if path is None or path == place.path or not steps:
        return None
    text, tree = _parse_file(path, path.stat().st_mtime_ns)
    for node in tree.body if tree else ():
        if name in _defines(node):
            return f"# {path.relative_to(place.project).as_posix()}\n{_shorten(text, node)}"
    imports = _imports(tree, layout_of(path, text)) if tree else {}
    further, there = imports.get(name, ("", ""))
    return _definition(place, further, there, steps - 1) if there else None


def _file_of(place: Layout, module: str) -> Path | None:
    """The file of a module of the project; None if it is not of the project."""
    parts = module.split(".")
    for root in place.roots if all(part.isidentifier() for part in parts) else ():
        for path in (root.joinpath(*parts, "__init__.py"), root.joinpath(*parts).with_suffix(".py")):
            if path.is_file() and path.resolve().is_relative_to(place.project):
                return path
    return None


@lru_cache(maxsize=64)
def _parse_file(path: Path, _changed: int) -> tuple[str, ast.Module | None]:
    """The text of a file, and its tree; None if it cannot be read or does not parse."""
    text = ""
    try:
        text = read_text(path, _LARGEST, errors="replace")
        return text, parse_module(text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return text, None


def _defines(node: ast.stmt) -> list[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, _FUNCTION | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [node.target.id] if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else []


def _shorten(text: str, node: ast.stmt) -> str:
    """The lines of a definition; of a long one, the headers and docstrings of its functions."""
    lines = text.split("\n")  # a form feed ends no line of the parser
    if (node.end_lineno or node.lineno) - node.lineno < _LONGEST:
        return "\n".join(lines[first_line(node) - 1 : node.end_lineno])
    if isinstance(node, _FUNCTION):
        return "\n".join(_outline(lines, node))
    if isinstance(node, ast.ClassDef):
        parts = (_outline(lines, each) for each in node.body if isinstance(each, _FUNCTION))
        return "\n".join([*_header(lines, node), *(line for part in parts for line in part)])
    return "\n".join([*lines[node.lineno - 1 : node.lineno + 1], "..."])


def _outline(lines: list[str], node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    indentation = " " * node.body[0].col_offset
    return [*_header(lines, node), f"{indentation}..."]


def _header(lines: list[str], node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[str]:
    """The lines of a definition up to its first statement after the docstring."""
    last = node.body[0].lineno - 1
    if ast.get_docstring(node, clean=False) is not None:
        last = node.body[0].end_lineno or last
    return lines[first_line(node) - 1 : max(last, node.lineno)]


class PythonPrompts(PromptLanguage):
    """See the module."""

    texts = frozenset({"comment", "string_content"})

    def described(self, text: str) -> str:
        return f'"""\n{_quotable(text)}\n"""\n'

    def imported(self, document: Document, function: Function) -> str:
        return imported_definitions(document, function)

    def docstring(self, document: Document, function: Function) -> tuple[int, int]:
        """Like `PromptLanguage.docstring`; none if the function has no other statement."""
        body = _body(document, function)
        following = next((node for node in body[1:] if node.type != "comment"), None)
        if following is None or not _is_text(body[0]):
            return function.end, function.end
        return body[0].start_byte, following.start_byte

    def behind_docstring(self, document: Document, function: Function) -> int:
        body = _body(document, function)
        if not body:
            return function.body
        # HumanEvalPack has imports before some docstrings, which are then strings like any other.
        lead = next((i for i, node in enumerate(body) if node.type not in _BEFORE_TEXT), len(body))
        described = lead + 1 < len(body) and _is_text(body[lead])
        return line_start(document.data, body[lead + 1 if described else 0].start_byte)

    def hollow(self, document: Document, function: Function, text: str = "") -> Document:
        data = document.data
        if function.name == MODULE:
            described = f'"""{_quotable(text)}"""\n' if text else ""
            return replace(document, text=f"{described}raise NotImplementedError\n")
        margin = data[line_start(data, function.header) : function.header].decode()
        indent = f"{margin}    "
        quoted = _quotable(text)
        lines = "\n".join(f"{indent}{line}" if line else "" for line in quoted.splitlines())
        closing = f"\n{indent}" if "\n" in quoted or quoted.endswith('"') else ""
        described = f'{indent}"""{lines.strip()}{closing}"""\n' if text else ""
        node = definition_node(document, function)
        header_end = next(child.end_byte for child in node.children if child.type == ":")
        before = data[:header_end].decode().rstrip()
        after = data[function.end :].decode() or "\n"
        return replace(document, text=f"{before}\n{described}{indent}raise NotImplementedError{after}")

    def alone(self, text: str) -> str:
        return text

    def stop(self, document: Document, function: Function, cut: int) -> Stop:  # noqa: ARG002 - the same at any cut
        """Like `PromptLanguage.stop`: before the next line that is not indented deeper than the header."""
        if function.name == MODULE:
            return Stop()
        data = document.data
        margin = data[line_start(data, function.header) : function.header].decode("utf-8", "replace")
        return Stop(indent=len(margin.expandtabs(8)))

    def inner_stop(self, document: Document, start: int, end: int) -> Stop:
        """Like `PromptLanguage.inner_stop`: before the end of their block, or the next line of it."""
        margin = indentation(document.data[start:end].decode())
        after = document.data[end:].decode().splitlines()
        following = next((line for line in after if line.strip() and line.lstrip()[0] != "#"), "")
        texts = (f"\n{following}\n",) if indentation(following) == margin else ()
        return Stop(indent=len(margin.expandtabs(8)) - 1, texts=texts)

    def stand_ins(self, document: Document, function: Function) -> tuple[str, ...]:  # noqa: ARG002 - of any type
        return PRINTING_STAND_INS if function.name == MODULE else STAND_INS

    def emptied(self, rest: str, stand_in: str, stop: Stop) -> tuple[str, ...]:  # noqa: ARG002 - ended by indentation
        return (f"{indentation(rest)}{stand_in}\n",)

    def names(self, node: tree_sitter.Node, owners: set[str]) -> bool:
        """Like `PromptLanguage.names`: another object's attribute or an argument's name does not count."""
        parent = node.parent
        if parent is None:
            return True
        if parent.type == "keyword_argument":
            return parent.child_by_field_name("name") != node
        if parent.type == "attribute" and parent.child_by_field_name("attribute") == node:
            owner = parent.child_by_field_name("object")
            return owner is not None and (owner.text or b"").decode("utf-8", "replace") in owners | _OWNERS
        return True


def _quotable(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _is_text(statement: tree_sitter.Node) -> bool:
    return bool(statement.children) and statement.children[0].type == "string"


def _body(document: Document, function: Function) -> Sequence[tree_sitter.Node]:
    """The statements of a function's body, and the comments between them; the first is a statement."""
    if function.name == MODULE:
        nodes = document.tree.root_node.named_children
        first = next((i for i, node in enumerate(nodes) if node.type != "comment"), len(nodes))
        return nodes[first:]
    body = definition_node(document, function).child_by_field_name("body")
    return body.named_children if body is not None else ()


PROMPTS = PythonPrompts()
