"""The executed blocks of a Java method, from the same program with a note at the start of each block.

A step is one entry of a block; a call with too many steps is ended by an error, so that inputs on which
a method takes very long cost little.
"""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from counterlens.syntax.document import Document

OWNER = "counterlens.reach.Reach"
STEPS = 3_000_000  # blocks entered in one call
TOO_MANY = "counterlens.reach.Reach$TooMany"
SOURCE = f"""package counterlens.reach;
public final class Reach {{
    static final class TooMany extends Error {{
        TooMany() {{ super("", null, false, false); }}
    }}
    private static int steps;
    private static boolean[] seen = new boolean[16];
    public static void in(int block) {{
        if (++steps > {STEPS}) {{ throw new TooMany(); }}
        if (block >= seen.length) {{ seen = java.util.Arrays.copyOf(seen, 2 * block); }}
        seen[block] = true;
    }}
    public static boolean[] take() {{
        boolean[] found = seen;
        seen = new boolean[found.length];
        steps = 0;
        return found;
    }}
}}
"""
_BODIES = {
    "if_statement": ("consequence", "alternative"), "while_statement": ("body",), "for_statement": ("body",),
    "do_statement": ("body",), "enhanced_for_statement": ("body",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Noted:
    """A program with notes.

    Attributes:
        text: Its source.
        blocks: The numbers of the blocks in the method.
    """

    text: str
    blocks: frozenset[int]


def add_notes(document: Document, method: Node) -> Noted | None:
    """A document with notes in all its blocks; None if it is nested too deeply.

    Args:
        method: The declaration whose blocks count.
    """
    writer = _Writer(document.data, method)
    try:
        writer.write(document.tree.root_node)
    except RecursionError:
        return None
    return Noted(b"".join(writer.parts).decode("utf-8", "replace"), frozenset(writer.counted))


class _Writer:
    def __init__(self, data: bytes, method: Node) -> None:
        self._data, self._method = data, method
        self.parts: list[bytes] = []
        self.counted: list[int] = []
        self._blocks = 0

    def write(self, node: Node) -> None:
        """A node with its notes."""
        at = node.start_byte
        bodies = [node.child_by_field_name(name) for name in _BODIES.get(node.type, ())]
        ids = {body.id for body in bodies if body is not None}
        lone = node.type == "if_statement" and bodies[1] is None
        last_label = _last_label(node)
        for child in node.children:
            self.parts.append(self._data[at : child.start_byte])
            if child.id in ids and child.type != "block":
                self.parts.append(b"{" + self._note(child))
                self.write(child)
                self.parts.append(b"}")
            else:
                self.write(child)
            at = child.end_byte
            if node.type == "block" and child.type == "{":
                self.parts.append(self._note(node))
            if lone and child.id in ids:
                self.parts.append(b" else {" + self._note(child) + b"}")
            if last_label is not None and child == last_label:
                self.parts.append(self._note(node))
        self.parts.append(self._data[at : node.end_byte])

    def _note(self, place: Node) -> bytes:
        number = self._blocks
        self._blocks += 1
        if self._method.start_byte <= place.start_byte < self._method.end_byte:
            self.counted.append(number)
        return f" {OWNER}.in({number}); ".encode()


def _last_label(node: Node) -> Node | None:
    """The colon after the last label of a group of a switch that has statements."""
    if node.type != "switch_block_statement_group":
        return None
    labels = [child for child in node.children if child.type == "switch_label"]
    after = [child for child in node.children if child.start_byte >= labels[-1].end_byte] if labels else []
    return after[0] if after and after[0].type == ":" else None
