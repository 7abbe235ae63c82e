"""A program without the parts that reveal the answer to a question.

A file may contain the answer to the question: in an `assert` at its end, a doctest of its module, a test or a
comment. Before a model sees the program, this module removes every statement, string and comment that calls
the function with the input of the question (Liu et al. 2024, definition 1: the output follows from program
and input).
"""

from __future__ import annotations

import ast
import bisect
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from counterlens.errors import SourceError
from counterlens.python.execution.calls import Asked, Mention
from counterlens.python.syntax.parsing import parse_module
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_TESTS = re.compile(r"_?(?:test|check)", re.IGNORECASE)
_BLOCKS = ("body", "orelse", "finalbody")
_PARTS = ("handlers", "cases")  # they have blocks of their own
_NEVER = "the code that reveals the answer cannot be removed from the program"
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def without_answer(document: Document, function: Function, call: str) -> Document:
    """A document without the code that calls a function with one input, or may do so in a test.

    The removed parts: statements that make the call, with literal arguments in any equivalent form;
    statements of tests that use the function with other than literal arguments; whole strings and comments
    that contain the call; and top-level definitions that only these parts used. The function itself keeps all
    its code, but not such comments.

    Args:
        document: The program; it is unchanged if it does not parse.
        function: The function, at the top level of its module.
        call: The call in the question.

    Returns:
        The same document if there is nothing to remove.

    Raises:
        SourceError: the removal would change the function, or break the program.
    """
    try:
        tree = parse_module(document.text)
        asked = Asked.of(tree, function.name, call)
    except (SyntaxError, ValueError, RecursionError):
        return document
    if asked is None:
        return document
    cuts = _Cuts(document.text)
    statements = _Statements(asked, function)
    cut = statements.cut(tree)
    cut |= statements.orphans(tree, cut)
    for owner, block in _blocks(tree):
        _cut_block(cuts, owner, [node for node in block if node in cut], whole=all(n in cut for n in block))
    cuts.comments(asked)
    if not cuts.ranges:
        return document
    text = cuts.text
    try:
        same = _code_of(parse_module(text), function.name) == _code_of(tree, function.name)
    except (SyntaxError, ValueError):
        same = False
    if not same:
        raise SourceError(_NEVER)
    return replace(document, text=text)


@dataclass(frozen=True, slots=True)
class _Statements:
    """Finds the statements to remove."""

    asked: Asked
    function: Function

    def cut(self, tree: ast.Module) -> set[ast.AST]:
        """The statements to remove; statements inside a removed one may be included."""
        return set(self._of_block(tree.body, testing=True))

    def _of_block(self, block: Sequence[ast.AST], *, testing: bool) -> Iterator[ast.AST]:
        for node in block:
            if isinstance(node, Definition) and self._is_it(node):
                yield from self._texts_of(node)
            elif isinstance(node, Definition):
                bases = [ast.unparse(base) for base in node.bases] if isinstance(node, ast.ClassDef) else []
                test = bool(_TESTS.match(node.name)) or any("TestCase" in base for base in bases)
                if test and (
                    self._mentions(node) & {Mention.UNKNOWN} or self._contains_call(node.decorator_list)
                ):
                    yield node
                    continue
                yield from self._of_block(node.body, testing=test)
                if self._contains_call([*node.decorator_list, *_header(node)]):
                    yield node
            elif any(True for _ in _own_blocks(node)):
                yield from self._of_compound(node, testing=testing)
            elif self._contains_call([node]) or (testing and _checks(node) and self._mentions(node)):
                yield node

    def _of_compound(self, node: ast.AST, *, testing: bool) -> Iterator[ast.AST]:
        """The parts of a compound statement to remove."""
        header = _header(node)
        unknown = any(self._mentions(part) & {Mention.UNKNOWN} for part in header)
        looped = isinstance(node, ast.For | ast.While | ast.With) and Mention.UNKNOWN in self._mentions(node)
        if self._contains_call(header) or (testing and (unknown or looped)):
            yield node
            return
        for block in _own_blocks(node):
            yield from self._of_block(block, testing=testing)

    def _is_it(self, node: Definition) -> bool:
        """Whether a definition is that of the function."""
        function = self.function
        return node.name == function.name and function.start_line <= node.lineno <= function.end_line

    def _texts_of(self, node: Definition) -> Iterator[ast.AST]:
        """The strings in the function that contain the call; the docstring is hidden when it is shown."""
        hidden = node.body[0] if len(node.body) > 1 else None
        for child in ast.walk(node):
            if child is hidden:
                continue
            if (
                isinstance(child, ast.Expr)
                and isinstance(child.value, ast.Constant)
                and self._contains_call([child])
            ):
                yield child

    def orphans(self, tree: ast.Module, cut: set[ast.AST]) -> set[ast.AST]:
        """The top-level definitions and assignments that only removed code used."""
        gone = {name for node in cut for name in _used_names(node)} - {self.function.name}
        unused: set[ast.AST] = set()
        while True:
            left = {name for node in tree.body for name in _used_names(node, without=cut | unused)}
            more = {
                node
                for node in tree.body
                if node not in cut | unused
                and (names := _bound_names(node))
                and names <= gone
                and not names & (left - (_used_names(node) if isinstance(node, Definition) else set()))
            }
            if not more:
                return unused
            unused |= more
            gone |= {name for node in more for name in _used_names(node)} - {self.function.name}

    def _contains_call(self, nodes: Sequence[ast.AST]) -> bool:
        """Whether some code makes the call, or contains a string that does."""
        for node in nodes:
            if Mention.ASKED in self._mentions(node):
                return True
            for child in ast.walk(node):
                text = child.value if isinstance(child, ast.Constant) else None
                if isinstance(text, str) and self.asked.occurs_in(text):
                    return True
        return False

    def _mentions(self, node: ast.AST) -> set[Mention]:
        """The ways in which some code uses the function, except with another input."""
        return self.asked.mentions(node) - {Mention.OTHER}


@dataclass(slots=True)
class _Cuts:
    """Ranges to remove from a text, each with its replacement."""

    source: str
    ranges: list[tuple[int, int, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", self.source)  # lines as `ast` counts them
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    @property
    def text(self) -> str:
        """The text without the ranges."""
        pieces, at = [], 0
        for start, end, instead in sorted(self.ranges):
            if start >= at:
                pieces += [self.source[at:start], instead]
            at = max(at, end)
        return "".join([*pieces, self.source[at:]])

    def statement(self, node: ast.AST, instead: str) -> None:
        """Remove a statement with its decorators, the comment on its line, and the comments below."""
        first = min([node, *getattr(node, "decorator_list", [])], key=lambda part: part.lineno)
        start = self._at(first.lineno, first.col_offset) - (1 if first is not node else 0)
        end = self._at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        row = bisect.bisect_right(self.starts, start) - 1
        last = bisect.bisect_right(self.starts, end) - 1
        alone = not self.source[self.starts[row] : start].strip()
        behind = self.source[end : self.starts[last + 1]].strip()
        if behind and not behind.startswith("#"):  # another statement on its line
            self.ranges.append((start, end, "pass"))
            return
        if not alone or instead:
            ending = self.lines[last][len(self.lines[last].rstrip("\r\n")) :]
            self.ranges.append((start, self.starts[last + 1], (instead or "pass") + ending))
        else:
            self.ranges.append((self.starts[row], self.starts[last + 1], ""))
        self._comments_from(last + 1)

    def comments(self, asked: Asked) -> None:
        """Remove the comments that contain the call, with the comment lines right above and below."""
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(self.source).readline))
        except (tokenize.TokenError, SyntaxError):
            return
        for token in tokens:
            if token.type != tokenize.COMMENT or not asked.occurs_in(token.string):
                continue
            row, column = token.start[0] - 1, token.start[1]
            line = self.lines[row]
            if line[:column].strip():
                kept = len(line[:column].rstrip())
                self.ranges.append((self.starts[row] + kept, self.starts[row] + len(line.rstrip("\r\n")), ""))
                continue
            while row and self.lines[row - 1].lstrip().startswith("#"):
                row -= 1
            self._comments_from(row)

    def _comments_from(self, row: int) -> None:
        """Remove the consecutive comment lines from a line on."""
        first = row
        while row < len(self.lines) and self.lines[row].lstrip().startswith("#"):
            row += 1
        if row > first:
            self.ranges.append((self.starts[first], self.starts[row], ""))

    def _at(self, line: int, column: int) -> int:
        """The character offset of a position in `ast`, whose columns are bytes."""
        text = self.lines[line - 1].encode("utf-8", "surrogatepass")
        return self.starts[line - 1] + len(text[:column].decode("utf-8", "surrogatepass"))


def _cut_block(cuts: _Cuts, owner: ast.AST, nodes: Sequence[ast.AST], *, whole: bool) -> None:
    """Remove statements of a block; a block that would be empty gets a `pass`."""
    for number, node in enumerate(nodes):
        last = whole and number == len(nodes) - 1 and not isinstance(owner, ast.Module)
        cuts.statement(node, "pass" if last else "")


def _blocks(tree: ast.AST) -> Iterator[tuple[ast.AST, list[ast.AST]]]:
    for node in ast.walk(tree):
        for block in _own_blocks(node, parts=False):
            yield node, block


def _own_blocks(node: ast.AST, *, parts: bool = True) -> Iterator[list[ast.AST]]:
    """The blocks of a statement, including those of its handlers and cases."""
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            yield block
    for name in _PARTS if parts else ():
        for part in getattr(node, name, None) or []:
            yield part.body


def _header(node: ast.AST) -> list[ast.AST]:
    """The parts of a compound statement outside its blocks."""
    inside = {id(statement) for block in _own_blocks(node) for statement in block}
    parts = [subnode for name in _PARTS for subnode in getattr(node, name, None) or []]
    outside = [
        child for child in ast.iter_child_nodes(node) if id(child) not in inside and child not in parts
    ]
    return [*outside, *(child for part in parts for child in _header(part))]


def _checks(node: ast.AST) -> bool:
    """Whether a statement among tests binds nothing, so that it can be removed."""
    return isinstance(node, ast.Assert | ast.Expr)


def _used_names(node: ast.AST, without: set[ast.AST] | frozenset[ast.AST] = frozenset()) -> set[str]:
    """The names that some code reads."""
    if node in without:
        return set()
    own = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else set()
    return own.union(*(_used_names(child, without) for child in ast.iter_child_nodes(node)))


def _bound_names(node: ast.AST) -> set[str]:
    """The names that a top-level statement binds; none if it may have other effects."""
    if isinstance(node, Definition):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    return names if len(names) == len(targets) else set()


def _code_of(tree: ast.Module, name: str) -> list[str]:
    """The definitions of a name, without string statements and `pass`."""
    dumps = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            for part in ast.walk(node):
                if isinstance(body := getattr(part, "body", None), list):
                    part.body = [statement for statement in body if not _has_no_effect(statement)]  # type: ignore[attr-defined]
            dumps.append(ast.dump(node))
    return dumps


def _has_no_effect(node: ast.AST) -> bool:
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text or isinstance(node, ast.Pass)
