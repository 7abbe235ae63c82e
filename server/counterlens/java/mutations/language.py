"""Java's mutations, placebos and parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.declarations import JavaReorderParameters, JavaVarTypes
from counterlens.java.mutations.if_else_flip import JavaIfElseFlip
from counterlens.java.mutations.loops import JavaForWhileConvert
from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.java.mutations.operators import JavaOperandSwap, JavaReplaceArithmetic
from counterlens.java.mutations.rename import (
    JavaDefUseBreak,
    JavaRenameGeneric,
    JavaRenameRandom,
    JavaRenameShuffle,
)
from counterlens.java.mutations.simple_conditionals import (
    JavaBlockSwapPlain,
    JavaNegateCondition,
    JavaRefactorCondition,
    JavaRemoveConditional,
)
from counterlens.java.mutations.statements import JavaIndependentSwap, JavaRemoveDefinition
from counterlens.mutations.edits import insert, replace
from counterlens.mutations.languages import MutatedLanguage
from counterlens.mutations.mutation import AnyMutation, Example, Site, SiteRefused, Transformation
from counterlens.mutations.placebos import ABOVE, BELOW, WIDEST, BlankLine, CommentMove
from counterlens.syntax.grammars import parser_for

_OWN: tuple[JavaMutation, ...] = (
    # control flow
    JavaIfElseFlip(),
    JavaIndependentSwap(),
    JavaForWhileConvert(),
    JavaRefactorCondition(),
    JavaNegateCondition(),
    JavaRemoveConditional(),
    JavaBlockSwapPlain(),
    # data flow
    JavaDefUseBreak(),
    JavaOperandSwap(),
    JavaReorderParameters(),
    JavaReplaceArithmetic(),
    JavaRemoveDefinition(),
    # naming
    JavaRenameRandom(),
    JavaRenameShuffle(),
    JavaRenameGeneric(),
    # types
    JavaVarTypes(),
)

MUTATIONS = {mutation.id: mutation for mutation in _OWN}


_COMMENTS = frozenset({"line_comment", "block_comment"})
_FOR_TOOLS = re.compile(r"//\s*(NOSONAR|NOPMD|noinspection|CHECKSTYLE|spotless|@formatter|\$)", re.IGNORECASE)
_CODE_ENDS = (b";", b"{", b"}")


class JavaBlankLine(BlankLine):
    """Insert a blank line before a statement of a method, or remove one.

    A placebo: the program keeps its tokens.
    """

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A {\n    int f(int a) {\n        int b = a;\n        return b;\n    }\n}\n",
            after="class A {\n    int f(int a) {\n\n        int b = a;\n\n        return b;\n    }\n}\n",
        ),
        Example(before="class A { int f() { return 1; } }\n", refused="no statement in it starts a line"),
    )


class JavaCommentMove(CommentMove[JavaContext]):
    """Move a comment of a method by one line: from the end of a statement to above it, or back.

    A placebo: the program keeps its tokens. Comments that tools read are not moved.
    """

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            class A {
                int f(int a) {
                    int b = a + 1; // the next
                    // and back
                    return b;
                }
            }
            """,
            after="""
            class A {
                int f(int a) {
                    // the next
                    int b = a + 1;
                    return b;  // and back
                }
            }
            """,
        ),
        Example(
            before="class A {\n    int f() {\n        return 1; // NOSONAR\n    }\n}\n", refused="no comment"
        ),
    )

    def moves(self, context: JavaContext) -> Iterator[Site]:
        """Like `CommentMove.moves`: those of the comments that end a line."""
        module = context.module
        begun = {line for function in module.functions for line in module.lines_of(function)}
        return (site for node in module.nodes("line_comment") for site in _moves(module, node, begun))


_ALL: tuple[AnyMutation, ...] = (JavaCommentMove(), JavaBlankLine())
PLACEBOS = {placebo.id: placebo for placebo in _ALL}


def java_meaning(source: str) -> str | None:
    """The tokens of a source as text, without comments; None if the source does not parse."""
    root = parser_for("java").parse(source.encode()).root_node
    return None if root.has_error else "\0".join(_tokens(root))


def _tokens(root: Node) -> Iterator[str]:
    todo = [root]
    while todo:
        node = todo.pop()
        if node.type in _COMMENTS:
            continue
        if not node.children:
            yield (node.text or b"").decode("utf-8", "replace")
        todo += reversed(node.children)


def _moves(module: JavaModule, comment: Node, begun: set[int]) -> Iterator[Site]:
    """The possible move of a comment that ends its line, if there is one."""
    start, line = comment.start_byte, module.line_start(comment.start_byte)
    after = module.next_line(start)
    text = module.data[start:after].rstrip().decode("utf-8", "replace")
    if _FOR_TOOLS.match(text):
        return
    if line in begun and not module.begins_line(start):
        above = module.data[module.line_start(line - 1) : line].strip() if line else b""
        if not above.startswith(b"//") and module.data[line:start].rstrip().endswith(_CODE_ENDS):
            code = line + len(module.data[line:start].rstrip())
            moved = f"{module.indentation(start)}{text}{module.newline}"
            edits = insert(line, moved), replace(code, start + len(text.encode()), "")
            yield Site((code, start + 1), ABOVE, edits)
    elif module.begins_line(start) and after in begun:
        below = module.data[after : module.next_line(after)]
        stop = after + len(below.rstrip())
        above = module.data[module.line_start(line - 1) : line].strip() if line else b""
        wide = len(below.rstrip().decode("utf-8", "replace")) + 2 + len(text) > WIDEST
        if b"//" in below or b"/*" in below or above.startswith(b"//") or wide:
            return
        if below.rstrip().endswith(_CODE_ENDS):
            edits = replace(line, after, ""), insert(stop, f"  {text}")
            yield Site((after + 1, stop), BELOW, edits)


class ExplicitJavaIfElseFlip(JavaIfElseFlip):
    """Flip only an `if` with its own `else`, and negate by `!` (Nguyen et al. 2024, Table 1)."""

    def __init__(self) -> None:
        super().__init__(by_not=True)

    def site(self, context: JavaContext, node: Node) -> Site | SiteRefused | None:
        other = node.child_by_field_name("alternative")
        return super().site(context, node) if other is not None and other.type != "if_statement" else None


JAVA_TRANSFORMATIONS = (
    Transformation("Convert For/While", "control", JavaForWhileConvert()),
    Transformation("Flip IfElse", "control", ExplicitJavaIfElseFlip()),
    Transformation("Rename Variable", "data", JavaRenameGeneric("VAR")),
    Transformation("Reorder Parameters", "data", JavaReorderParameters(whole_program=True)),
    Transformation("Negate Relational Condition", "control", JavaNegateCondition(by_not=True)),
    Transformation("Remove Conditional Statement", "control", JavaRemoveConditional()),
    Transformation("Replace Arithmetic Operator", "data", JavaReplaceArithmetic(across_precedence=True)),
    Transformation("Remove Def Statement", "data", JavaRemoveDefinition()),
)
"""The operators in the order of the table, like `empica.TRANSFORMATIONS`."""


JAVA = MutatedLanguage(
    own=MUTATIONS,
    kind=JavaMutation,
    parse=JavaModule,
    context=JavaContext,
    placebos=PLACEBOS,
    meaning=java_meaning,
    transformations=JAVA_TRANSFORMATIONS,
    missing=("loop-unroll", "partial-unroll", "annotate-strip", "annotate-shuffle"),
)
