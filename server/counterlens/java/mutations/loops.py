"""`for-while-convert` for Java."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.flow import completes, left_by
from counterlens.java.mutations.if_else_flip import tested
from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit, Piece, Slice, indenting, insert, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused


class JavaForWhileConvert(JavaMutation):
    """Write a three-part `for` as a `while`, and a `while` as a `for` with only a condition.

    The initialisation moves before the loop (in a separate block if the rest of the block uses the loop's
    names for something else), and the update to the end of the body. A loop whose body contains `continue`,
    or never reaches its end, is refused, because the update would be skipped.
    """

    id = "for-while-convert"
    concept = Concept.CONTROL_FLOW
    source = "Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            class A {
                void f(int n) {
                    for (int i = 0, j = 1; i < n; i++, j--) { // up
                        g(i);
                    }
                    while (n > 0) n--;
                }
            }
            """,
            after="""
            class A {
                void f(int n) {
                    int i = 0, j = 1;
                    while (i < n) { // up
                        g(i);
                        i++;
                        j--;
                    }
                    for (; n > 0; ) n--;
                }
            }
            """,
        ),
        Example(
            before="""
            class A {
                void f(int n) {
                    for (int i = 0; i < n; i++)
                        g(i);
                    for (;;) {
                        if (n++ > 3) break;
                    }
                    int i = 0;
                }
            }
            """,
            after="""
            class A {
                void f(int n) {
                    {
                        int i = 0;
                        while (i < n) {
                            g(i);
                            i++;
                        }
                    }
                    while (true) {
                        if (n++ > 3) break;
                    }
                    int i = 0;
                }
            }
            """,
        ),
        Example(
            before="class A { void f(int n) { for (int i = 0; i < n; i++) { if (g(i)) continue; h(i); } } }",
            refused="continue",
        ),
        Example(
            before="class A { int f(int n) { for (int i = 0; i < n; i++) return i; return 0; } }",
            refused="never reaches its end",
        ),
        Example(
            before="class A { int i; void f(int n) { for (; n > 0; i++) { int i = n--; g(i); } } }",
            refused="declares `i`",
        ),
    )

    def sites(self, context: JavaContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for node in module.nodes("for_statement"):
            reason = _why_not(module, node)
            yield SiteRefused(node.start_byte, reason) if reason else _as_while(module, node)
        for node in module.nodes("while_statement"):
            yield _as_for(module, node)


def _as_for(module: JavaModule, node: Node) -> Site:
    test = tested(node)
    return Site(
        span=(node.start_byte, node.end_byte),
        description=f"wrote the while over `{module.shown(test)}` as a for",
        edits=(
            replace(node.start_byte, node.start_byte + len("while"), "for"),
            insert(test.start_byte, "; "),
            insert(test.end_byte, "; "),
        ),
    )


def _body(node: Node) -> Node:
    body = node.child_by_field_name("body")
    assert body is not None, node.type
    return body


def _why_not(module: JavaModule, node: Node) -> str | None:
    body, updates = _body(node), node.children_by_field_name("update")
    if any(child.is_extra and child.end_byte <= body.start_byte for child in node.children):
        return "its header contains a comment"
    if not updates:
        return None
    if left_by(module, node, "continue_statement"):
        return "a continue in its body would skip the update"
    if not completes(module, body):
        return "its body never reaches its end, where the update would be"
    named = {word for update in updates for word in re.findall(r"[\w$]+", module.text(update))}
    inside = {variable.name for variable in module.scopes.within(body.start_byte, body.end_byte)}
    hidden = sorted(named & inside)
    return f"its body declares `{hidden[0]}`, which the update uses for something else" if hidden else None


def _as_while(module: JavaModule, node: Node) -> Site:
    above = module.parent(node)
    anchor = above if above.type == "labeled_statement" else node
    setup = _setup(module, node)
    wrapped = bool(setup) and (not module.in_sequence(anchor) or _clashes(module, node, anchor))
    on_lines = module.begins_line(anchor.start_byte)
    base = module.indentation(anchor.start_byte)
    inner = base + module.indent if wrapped else base
    gap = f"{module.newline}{inner}" if on_lines else " "
    condition = node.child_by_field_name("condition")
    test: Piece = Slice(condition.start_byte, condition.end_byte) if condition is not None else "true"
    lead: list[Piece] = [piece for part in setup for piece in (part, ";", gap)]
    edits = [
        Edit(node.start_byte, _header_end(node), ("while (", test, ")")),
        *_with_updates(module, node, inner, on_lines=on_lines),
    ]
    if wrapped:
        lead = ["{", gap, *lead]
        behind = f"{module.newline}{base}" if on_lines else " "
        edits.append(Edit(anchor.end_byte, anchor.end_byte, (f"{behind}}}",)))
    if lead:
        edits.insert(0, Edit(anchor.start_byte, anchor.start_byte, tuple(lead)))
    reindented: tuple[tuple[int, int], ...] = ()
    if wrapped and on_lines:
        reindented = ((anchor.start_byte + 1, anchor.end_byte),)
        edits += indenting(module, *reindented[0], base, module.indent)
    shown = module.shown(condition) if condition is not None else "true"
    return Site(
        span=(node.start_byte, node.end_byte),
        description=f"wrote the for over `{shown}` as a while",
        edits=tuple(edits),
        reindented=reindented,
    )


def _header_end(node: Node) -> int:
    """The offset after the closing parenthesis of a `for`."""
    return next(child.end_byte for child in reversed(node.children) if child.type == ")")


def _setup(module: JavaModule, node: Node) -> list[Slice]:
    """Return the initialisers of a `for`, without semicolons."""
    parts = node.children_by_field_name("init")
    return [
        Slice(part.start_byte, part.end_byte - (1 if module.text(part).endswith(";") else 0))
        for part in parts
        if part.is_named
    ]


def _clashes(module: JavaModule, node: Node, anchor: Node) -> bool:
    """Whether the rest of the block uses a name that the loop declares."""
    names = {
        module.text(name)
        for part in node.children_by_field_name("init")
        for declarator in part.children_by_field_name("declarator")
        if (name := declarator.child_by_field_name("name")) is not None
    }
    around = module.parent(anchor)
    if around.type == "switch_block_statement_group":
        around = module.parent(around)
    rest = module.data[anchor.end_byte : around.end_byte].decode("utf-8", "replace")
    return bool(names & set(re.findall(r"[\w$]+", rest)))


def _with_updates(module: JavaModule, node: Node, base: str, *, on_lines: bool) -> list[Edit]:
    """The edits that move the updates of a `for` to the end of its body."""
    body = _body(node)
    updates = [
        Slice(child.start_byte, child.end_byte)
        for child in node.children_by_field_name("update")
        if child.is_named
    ]
    if not updates:
        return []
    gap = f"{module.newline}{base}{module.indent}" if on_lines else " "
    if body.type == "block":
        inside = body.named_children
        if not (inside and module.begins_line(body.end_byte - 1)):
            gap = " "
        elif module.begins_line(inside[-1].start_byte):
            extra = "" if not _deeper(module, node, base) else module.indent
            gap = f"{module.newline}{module.indentation(inside[-1].start_byte)}{extra}"
        at = _end_of(module, inside[-1]) if inside else body.start_byte + 1
        pieces = [piece for update in updates for piece in (gap, update, ";")]
        return [Edit(at, at, tuple(pieces))]
    behind = f"{module.newline}{base}}}" if on_lines else " }"
    stays = module.begins_line(body.start_byte)
    first = "{" if stays else f"{{{gap}"
    pieces = [first, Slice(body.start_byte, body.end_byte)]
    pieces += [piece for update in updates for piece in (gap, update, ";")]
    if stays:  # the body remains on its line
        end = _header_end(node)
        return [insert(end, " {"), Edit(body.end_byte, body.end_byte, (*pieces[2:], behind))]
    return [Edit(body.start_byte, body.end_byte, (*pieces, behind))]


def _deeper(module: JavaModule, node: Node, base: str) -> bool:
    """Whether the new base indentation differs from that of the loop's statement."""
    above = module.parent(node)
    anchor = above if above.type == "labeled_statement" else node
    return base != module.indentation(anchor.start_byte)


def _end_of(module: JavaModule, node: Node) -> int:
    """The offset after a node; for a line comment, before its newline."""
    return node.end_byte - 1 if module.data[node.end_byte - 1 : node.end_byte] == b"\n" else node.end_byte
