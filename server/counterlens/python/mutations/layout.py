"""The places of nodes in a Python file that matter to edits: indentation, and strings."""

from __future__ import annotations

import libcst as cst

from counterlens.python.mutations.module import Module


def block_indent(module: Module, block: cst.IndentedBlock) -> str:
    """The indentation of a block relative to its header."""
    return module.tree.default_indent if block.indent is None else block.indent


def in_format_string(module: Module, node: cst.CSTNode) -> bool:
    """Whether a node is inside an f-string, where quotes and braces are restricted."""
    return any(
        isinstance(above, cst.FormattedStringExpression | cst.TemplatedStringExpression)
        for above in module.ancestors(node)
    )
