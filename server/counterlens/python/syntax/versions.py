"""The version of Python that a text needs, for texts that the running Python cannot parse.

LibCST's parser reads the syntax of every version, so a text that it reads is valid Python, unless the reason
why the running version refuses it is not that the text is newer.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
import tree_sitter
from libcst.metadata import MetadataWrapper, PositionProvider

from counterlens.errors import SourceError
from counterlens.syntax.grammars import parser_for
from counterlens.syntax.tree import SPLIT, TOO_DEEP

_DEEPEST, _BRACKETS = 3000, 300  # depth of a tree, and of its brackets and blocks; Python allows 200 of these
_ENCLOSING = "list|set|dictionary|generator|parenthesized|tuple|argument_list|subscript|block|interpolation"
_BRANCHES = 500  # number of `elif` of one `if`: LibCST nests their nodes, tree-sitter does not
_UNPACKING = (3, 15), "unpacking in a comprehension"
# By the name of the class of their nodes: some exist since LibCST 1.9.
_NEW_NODES = {
    "Match": ((3, 10), "a match statement"),
    "TryStar": ((3, 11), "an except* clause"),
    "TypeAlias": ((3, 12), "a type statement"),
    "TypeParameters": ((3, 12), "type parameters"),
    "TemplatedString": ((3, 14), "a template string"),
    "StarredDictComp": _UNPACKING,
    "LazyImport": ((3, 15), "a lazy import"),
    "LazyImportFrom": ((3, 15), "a lazy import"),
}
_MARKS = re.compile(
    r"(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<prefix>\b(?:lambda|not|await|else|elif)\b|[-+*/%@&|^<>=~:]+)"
    r"|(?<!\\)\n(?P<indentation>[ \t\f]*)"
)
_JOINABLE = frozenset({"conditional_expression", "lambda"})
_FORM_FEED = re.compile(rb"^[ \t\f]*\f[ \t]+(?=[^\s#])", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class NewSyntax:
    """Syntax that a version of Python introduced.

    Attributes:
        version: The version, such as `(3, 12)`.
        line: The line of its first use, 1-based.
    """

    version: tuple[int, int]
    name: str
    line: int

    def __str__(self) -> str:
        """The need, in words."""
        return f"it needs Python {self.needed}: {self.name} in line {self.line}"

    @property
    def needed(self) -> str:
        """The version as users write it."""
        return ".".join(map(str, self.version))


def parse_concrete(source: str, tree: tree_sitter.Tree) -> cst.Module:
    """The LibCST tree of a source, if the parser cannot crash the process on it.

    Raises:
        SourceError: it is nested too deeply, or LibCST refuses it although it is valid.
        libcst.ParserSyntaxError: LibCST cannot read it.
    """
    if (
        _is_too_deep(tree)
        or (source.count("elif") > _BRANCHES and _longest_chain(tree) > _BRANCHES)
        or (tree.root_node.has_error and _may_be_deep(source))
    ):
        raise SourceError(TOO_DEEP, SPLIT)
    try:
        return cst.parse_module(source)
    except (cst.CSTValidationError, TypeError) as error:
        # LibCST refuses `return(a if b else c)`, as its own printer would never write it.
        line = next(_joined_words(source, tree), None)
        if line is None:
            raise SourceError(f"mutations cannot read the source, which is valid Python: {error}") from None
        raise SourceError(
            f"mutations cannot read line {line}, which is valid Python: a parenthesis touches a word",
            "Write a blank between them",
        ) from None


def _joined_words(source: str, tree: tree_sitter.Tree) -> Iterator[int]:
    """The lines where a parenthesis with a condition or a lambda follows a word without a blank."""
    data, pending = source.encode(), [tree.root_node]
    while pending:
        node = pending.pop()
        inner = node.named_children
        pending += reversed(inner)
        joined = data[node.start_byte - 1 : node.start_byte].isalpha()
        if node.type == "parenthesized_expression" and joined and inner[0].type in _JOINABLE:
            yield node.start_point[0] + 1


def newest_syntax(source: str) -> NewSyntax | None:
    """The newest syntax in a text; None if it has none since Python 3.10, or is valid in no version."""
    try:
        module = parse_concrete(source, parser_for("python").parse(source.encode()))
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        places = wrapper.resolve(PositionProvider)
        introductions = [
            NewSyntax(version, name, places[node].start.line)
            for node in places
            for version, name in _introductions(node, module)
        ]
    except (cst.ParserSyntaxError, SourceError, RecursionError, KeyError, UnicodeEncodeError):
        return None
    return max(introductions, key=lambda syntax: (syntax.version, -syntax.line), default=None)


def newer_syntax(source: str, version: tuple[int, int] = sys.version_info[:2]) -> NewSyntax | None:
    """The newest syntax in a text if a version of Python, by default the running one, is older; else None."""
    syntax = newest_syntax(source)
    return syntax if syntax is not None and syntax.version > version else None


def parse_error(source: str, error: Exception) -> SourceError:
    """The error for a user whose text the running Python cannot parse.

    Args:
        error: The error of `parse_module`.
    """
    if isinstance(error, RecursionError | MemoryError):
        return SourceError("the source is nested too deeply to be parsed")
    syntax = newer_syntax(source)
    if syntax is not None:
        running = ".".join(map(str, sys.version_info[:2]))
        return SourceError(
            f"the source needs Python {syntax.needed}: {syntax.name} in line {syntax.line}",
            f"Run Counterlens with Python {syntax.needed} or later; this is Python {running}",
        )
    if isinstance(error, SyntaxError):
        where = f" in line {error.lineno}" if error.lineno else ""
        return SourceError(f"the source is not valid Python{where}: {error.msg}")
    return SourceError(f"the source is not valid Python: {error}")


def form_feed_in_indentation(source: str, tree: tree_sitter.Tree) -> int | None:
    """The first line with a form feed in its indentation: Python counts from the form feed on.

    LibCST takes it for a blank, and so would edits that indent lines.
    """
    data = source.encode()
    for feed in _FORM_FEED.finditer(data) if "\f" in source else ():
        node = tree.root_node.descendant_for_byte_range(feed.end(), feed.end() + 1)
        while node is not None and node.parent is not None:
            if node.parent.type in {"module", "block", "ERROR"} or node.type.endswith("_clause"):
                return data.count(b"\n", 0, feed.end()) + 1
            node = node.parent if node.parent.start_byte == feed.end() else None
    return None


def _introductions(node: cst.CSTNode, module: cst.Module) -> Iterator[tuple[tuple[int, int], str]]:
    """The versions that introduced the syntax of a node, with its names."""
    kind = type(node).__name__
    if kind in _NEW_NODES:
        yield _NEW_NODES[kind]
    match node:
        case cst.TypeParam() if node.default is not None:
            yield (3, 13), "the default of a type parameter"
        case cst.ExceptHandler(type=cst.Tuple() as types) | cst.ExceptStarHandler(type=cst.Tuple() as types):
            if not types.lpar:
                yield (3, 14), "an except clause of several types without parentheses"
        case cst.ListComp(elt=cst.StarredElement()) | cst.SetComp(elt=cst.StarredElement()):
            yield _UNPACKING
        case cst.GeneratorExp(elt=cst.StarredElement()):
            yield _UNPACKING
        case cst.FormattedString() if _is_free(node, module):
            yield (3, 12), "an f-string with quotes, backslashes or line ends in its expressions"


def _is_free(string: cst.FormattedString, module: cst.Module) -> bool:
    """Whether the expressions of an f-string have what only PEP 701 allows."""
    quote = string.end
    for part in string.parts:
        if isinstance(part, cst.FormattedStringExpression):
            code = module.code_for_node(part)
            if quote in code or "\\" in code or "#" in code or (len(quote) == 1 and "\n" in code):
                return True
    return False


def _is_too_deep(tree: tree_sitter.Tree) -> bool:
    """Whether LibCST's parser, which recurses in machine code, might crash the process on a source."""
    deepest = _depth(tree, "")
    return deepest > _DEEPEST or (deepest > _BRACKETS and _depth(tree, _ENCLOSING) > _BRACKETS)


def _may_be_deep(source: str) -> bool:
    """Whether a text may be nested deeply, by its characters: a tree with errors does not show its depth."""
    if source.count("elif") > _BRANCHES:
        return True
    depth = nested = 0
    for mark in _MARKS.finditer(source):
        if mark["indentation"] is not None and len(mark["indentation"]) > _BRACKETS:
            return True
        if mark["open"] or mark["close"]:
            depth = max(depth + (1 if mark["open"] else -1), 0)
        elif mark["prefix"]:
            nested += 1
        elif not depth:
            nested = 0
        if depth > _BRACKETS or nested > _DEEPEST:
            return True
    return False


def _longest_chain(tree: tree_sitter.Tree) -> int:
    """Largest number of `elif` of one `if`."""
    longest, todo = 0, [tree.root_node]
    while todo:
        inner = todo.pop().children
        longest = max(longest, sum(node.type == "elif_clause" for node in inner))
        todo += inner
    return longest


def _depth(tree: tree_sitter.Tree, kinds: str) -> int:
    """Maximum nesting depth of nodes whose type matches; an empty pattern matches all."""
    cursor = tree.walk()
    within: list[bool] = []  # for each ancestor, whether it counts
    depth = deepest = 0
    while True:
        counts = not kinds or re.match(kinds, cursor.node.type if cursor.node else "") is not None
        if cursor.goto_first_child():
            within.append(counts)
            depth += counts
            deepest = max(deepest, depth)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return deepest
            depth -= within.pop()
