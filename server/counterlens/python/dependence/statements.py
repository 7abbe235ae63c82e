"""The statements of a function, numbered in source order, with their lines and texts.

Rules:

- Statement 0 of a function is its header, which defines the parameters; `<module>` has none.
- A compound statement is its header only (`if x:`, `case [a, b]:`, `except E as e:`); `else`, `finally` and
  the lines of nested functions are not statements of the function.
- A statement's line is its first one; for a decorated function, that of its `def`.
"""

from __future__ import annotations

import ast

from counterlens.dependence.graph import Statement

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_BODY = (ast.stmt, ast.ExceptHandler, ast.match_case)


class Statements:
    """The numbering of one Python function's statements.

    Attributes:
        nodes: The syntax node of each statement.
        number: The number of each syntax node.
        header: The number of the function's header; -1 for a module.
    """

    def __init__(self, block: FunctionNode | ast.Module) -> None:
        self.nodes: list[ast.AST] = []
        self.header = -1
        if not isinstance(block, ast.Module):
            self.nodes.append(block)
            self.header = 0
        stack: list[ast.AST] = list(reversed(block.body))
        while stack:
            node = stack.pop()
            self.nodes.append(node)
            stack.extend(reversed(_inside(node)))
        self.number = {node: number for number, node in enumerate(self.nodes)}

    @property
    def last_line(self) -> int:
        """The last line of the function, which must have a header."""
        return self.nodes[self.header].end_lineno  # type: ignore[attr-defined, no-any-return]

    def line(self, number: int) -> int:
        """The first line of a statement."""
        node = self.nodes[number]
        return (node.pattern if isinstance(node, ast.match_case) else node).lineno  # type: ignore[attr-defined, no-any-return]

    def listed(self, text: str) -> tuple[Statement, ...]:
        """The statements with their lines and texts."""
        lines = _lines(text)
        statements = []
        for number, node in enumerate(self.nodes):
            line, column = _start(node, lines)
            if hasattr(node, "body") or isinstance(node, ast.Match):
                end_line, end_column = _header_end(node, lines, line, column)
            else:
                end_line, end_column = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
            inside = lines[line - 1 : end_line]
            inside[-1] = inside[-1][:end_column]
            inside[0] = inside[0][column:]
            statements.append(Statement(number, line, end_line, b"".join(inside).decode("utf-8", "replace")))
        return tuple(statements)


def _lines(text: str) -> list[bytes]:
    """The lines as Python's parser counts them, each ending in a single newline."""
    data = text.encode("utf-8", "surrogatepass").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return [line + b"\n" for line in data.split(b"\n")]


def _start(node: ast.AST, lines: list[bytes]) -> tuple[int, int]:
    if not isinstance(node, ast.match_case):
        return node.lineno, node.col_offset  # type: ignore[attr-defined]
    line, column = node.pattern.lineno, node.pattern.col_offset
    while (offset := lines[line - 1].rfind(b"case", 0, column)) < 0:
        line, column = line - 1, len(lines[line - 2])
    return line, offset


def _header_end(node: ast.AST, lines: list[bytes], line: int, column: int) -> tuple[int, int]:
    """The position after the colon of a compound statement's header."""
    inside = [child for child in ast.iter_child_nodes(node) if not isinstance(child, _BODY)]
    inside = [child for child in inside if child not in getattr(node, "decorator_list", ())]
    ends = [
        (part.end_lineno, part.end_col_offset)  # type: ignore[attr-defined]
        for child in inside
        for part in ast.walk(child)
        if getattr(part, "end_lineno", None) is not None
    ]
    line, column = max([(line, column), *ends])
    while True:  # before the colon there may be closing brackets, names, comments and line ends
        rest = lines[line - 1][column:].partition(b"#")[0]
        colon = rest.find(b":")
        if colon >= 0:
            return line, column + colon + 1
        line, column = line + 1, 0


def _inside(node: ast.AST) -> list[ast.AST]:
    """The statements nested in a statement, in source order."""
    if isinstance(node, FunctionNode):
        return []
    return [
        inner
        for field in ("body", "handlers", "orelse", "finalbody", "cases")
        for inner in getattr(node, field, ())
    ]
