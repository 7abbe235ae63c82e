"""`if-else-flip`: negates the condition of an if-else and swaps its branches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import libcst as cst

from counterlens.mutations.base import EQ_NE_CONSISTENT, TOTAL_ORDER, Concept
from counterlens.mutations.edits import Edit, Slice, exchange, indenting, insert, is_word, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.acting_reads import COMPARISON, acting_reads
from counterlens.python.mutations.module import Module, block_indent
from counterlens.python.mutations.mutation import PythonContext, PythonMutation

Flavour = Literal["complement", "not"]
_COMPLEMENTS: dict[type[cst.BaseCompOp], tuple[str, str | None]] = {
    cst.Is: ("is not", None),
    cst.IsNot: ("is", None),
    cst.In: ("not in", None),
    cst.NotIn: ("in", None),
    cst.Equal: ("!=", EQ_NE_CONSISTENT),
    cst.NotEqual: ("==", EQ_NE_CONSISTENT),
    cst.LessThan: (">=", TOTAL_ORDER),
    cst.GreaterThanEqual: ("<", TOTAL_ORDER),
    cst.GreaterThan: ("<=", TOTAL_ORDER),
    cst.LessThanEqual: (">", TOTAL_ORDER),
}
_NAN = {"nan", "NaN", "NAN", "isnan"}
_ORDERED = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_EXACT_VALUES = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString, cst.Integer)
# Expressions that need no parentheses after `not`, because they bind more tightly.
_TIGHT = (
    cst.Name,
    cst.Call,
    cst.Attribute,
    cst.Subscript,
    cst.Await,
    cst.Integer,
    cst.Float,
    cst.SimpleString,
)


@dataclass(eq=False)
class IfElseFlip(PythonMutation):
    """Negate the condition of an `if` with an `else`, and swap its branches.

    The flavour `complement` negates by complementary operators (`==` to `!=`, `<` to `>=`) and De Morgan's
    laws, and falls back to `not` if a part of the condition has no complement. The flavour `not` always
    writes `not`. The text after a colon, comments included, moves with its branch.

    An `elif` counts as an `if` in the `else` branch, and becomes one. An `if` without `else` whose body
    always jumps (`return`, `raise`, `break`, `continue`) has the rest of its block as its `else` branch.
    """

    id = "if-else-flip"
    concept = Concept.CONTROL_FLOW
    source = "Hooda et al. 2024, section 3.3; Ahmed et al. 2024, section 3.1.2; Nguyen et al. 2024, Table 1"
    types = (cst.If,)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="if a == b:\n    x = 1\nelse:\n    x = 2\n",
            after="if a != b:\n    x = 2\nelse:\n    x = 1\n",
        ),
        Example(
            before="if a < 0 and b is None:  # neither\n    pass\nelse:  # some\n    f()\n",
            after="if a >= 0 or b is not None:  # some\n    f()\nelse:  # neither\n    pass\n",
        ),
        Example(
            before="if a or b == 1 and c:\n    pass\nelse: f()\n",
            after="if not (a or b == 1 and c): f()\nelse:\n    pass\n",
        ),
        Example(
            before="""
            if a:  # one
                x = 1
            # two
            elif b:
                x = 2
            """,
            after="""
            if not a:
                # two
                if b:
                    x = 2
            else:  # one
                x = 1
            """,
            refused="no else",
        ),
        Example(
            before="""
            def f(a):
                if not a: return 0  # none

                # the rest
                x = g(a,
                  1)
                return x

            f(1)
            """,
            after="""
            def f(a):
                if a:

                    # the rest
                    x = g(a,
                      1)
                    return x
                else: return 0  # none

            f(1)
            """,
        ),
        Example(before="if 0 < a < 9: x = 1\nelse: x = 2", after="if not (0 < a < 9): x = 2\nelse: x = 1"),
        Example(before="if a:\n    x = 1\n", refused="no else"),
    )

    flavour: Flavour = "complement"
    published: bool = field(default=False, kw_only=True)
    """Whether to restrict to the sites of Hooda et al. 2024, section 3.3."""

    def site(self, context: PythonContext, node: cst.If) -> Site | SiteRefused | None:
        module = context.module
        start, end = module.span(node)
        reason = _why_unpublished(context, node) if self.published else None
        if reason is not None:
            return SiteRefused(start, reason)
        shape = _flip(module, node)
        if shape is None:
            return SiteRefused(
                start, "there is no else branch, and its body may continue with the code that follows"
            )
        negation = self._negate(module, node.test)
        return Site(
            span=(start, end),
            description=f"negated the condition `{module.shown(node.test)}` and {shape.done}",
            edits=(*negation.edits, *shape.edits),
            assumptions=negation.assumptions,
            cut=shape.cut,
            reindented=shape.reindented,
        )

    def _negate(self, module: Module, test: cst.BaseExpression) -> Negation:
        negation = complement(module, test) if self.flavour == "complement" else None
        return negation if negation is not None else wrap_in_not(module, test)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The rewriting that swaps the branches."""

    done: str
    edits: tuple[Edit, ...]
    cut: tuple[int, int] | None
    reindented: tuple[tuple[int, int], ...] = ()


def _flip(module: Module, node: cst.If) -> _Shape | None:
    if isinstance(node.orelse, cst.Else):
        edits = exchange(module.suite(node.body), module.suite(node.orelse.body))
        cut = _first_lines(module, node.body, node.orelse.body)
        return _Shape("swapped its branches", edits, cut)
    if isinstance(node.orelse, cst.If):
        keyword = module.start(node.orelse)
        end = module.without_newline(module.statement_end(node))
        return _nest(module, node, end, (replace(keyword, keyword + len("elif"), "if"),))
    block = module.parent(node)
    if isinstance(block, cst.IndentedBlock) and block.body[-1] is not node and always_leaves(node.body):
        return _nest(module, node, module.suite(block)[1], ())
    return None


def _nest(module: Module, node: cst.If, end: int, more: tuple[Edit, ...]) -> _Shape:
    """Move the code after a body, up to an offset, into its place, and the body into an `else` after it."""
    body = module.suite(node.body)
    base = module.indentation(node)
    indented = isinstance(node.body, cst.IndentedBlock)
    extra = block_indent(module, node.body) if isinstance(node.body, cst.IndentedBlock) else "    "
    rest = module.next_line(body[1])
    edits = (
        Edit(*body, ()),
        *more,
        *indenting(module, rest, end, base, extra),
        Edit(end, end, (f"{module.newline}{base}else:", Slice(*body))),
    )
    cut = (module.next_line(body[0]), rest) if indented else None
    return _Shape("moved the code that follows into the other branch", edits, cut, ((rest, end),))


def _why_unpublished(context: PythonContext, node: cst.If) -> str | None:
    """The reason why Hooda et al. 2024 (section 3.3) do not flip an `if`; None if they do."""
    module = context.module
    above = module.parent(node)
    if not isinstance(node.orelse, cst.Else) or (isinstance(above, cst.If) and above.orelse is node):
        return "it is not an if-else: it has no `else`, or is an `elif`"
    if not compares(node.test) or complement(module, node.test) is None:
        return "its condition does not consist of comparisons that have complementary operators"
    if not context.effects.of(node.test).inert:
        return "its condition may change the state of the program"
    return None


def always_leaves(suite: cst.BaseSuite) -> bool:
    """Whether a body always ends in a jump, so that the code after it in its block never runs after it."""
    last = suite.body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    while isinstance(last, cst.If):
        if last.orelse is None or not always_leaves(last.body):
            return False
        if isinstance(last.orelse, cst.Else):
            return always_leaves(last.orelse.body)
        last = last.orelse
    return isinstance(last, cst.Return | cst.Raise | cst.Break | cst.Continue)


def _first_lines(module: Module, then: cst.BaseSuite, other: cst.BaseSuite) -> tuple[int, int] | None:
    """The offsets of the first lines of two indented bodies, after the newlines of their headers."""
    if isinstance(then, cst.IndentedBlock) and isinstance(other, cst.IndentedBlock):
        return module.end(then.header), module.end(other.header)
    return None


@dataclass(frozen=True, slots=True)
class Negation:
    """The edits that negate a condition, and their assumptions."""

    edits: tuple[Edit, ...]
    assumptions: tuple[str, ...]


def complement(module: Module, test: cst.BaseExpression) -> Negation | None:
    """Negate by complementary operators and De Morgan's laws; None if a leaf has no complement.

    Evaluation order and short circuits are kept: the negation of `a and b` is `not a or not b`, which
    evaluates `b` in the same cases.
    """
    edits: list[Edit] = []
    assumed: set[str] = set()
    if not _negate(module, test, None, edits, assumed):
        return None
    return Negation(tuple(edits), tuple(sorted(assumed)))


def compares(test: cst.BaseExpression) -> bool:
    """Whether a condition is a comparison, or comparisons joined by `and`, `or` and `not`."""
    if isinstance(test, cst.BooleanOperation):
        return compares(test.left) and compares(test.right)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return compares(test.expression)
    return isinstance(test, cst.Comparison)


def wrap_in_not(module: Module, test: cst.BaseExpression) -> Negation:
    """Negate by `not`, with parentheses if precedence requires them."""
    start, end = module.outer(test)
    before = "" if module.data[start - 1 : start] in (b" ", b"\t", b"(", b"\f") else " "
    if test.lpar or isinstance(test, _TIGHT):
        return Negation((insert(start, f"{before}not "),), ())
    after = module.data[end : end + 1]
    assert after, "a condition is never the last token of a file"
    return Negation((insert(start, f"{before}not ("), Edit(end, end, (")",))), ())


def _negate(
    module: Module,
    node: cst.BaseExpression,
    above: type[cst.BaseBooleanOp] | None,
    edits: list[Edit],
    assumed: set[str],
) -> bool:
    if isinstance(node, cst.Comparison):
        return _negate_comparison(module, node, edits, assumed)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return _drop_not(module, node, above, edits)
    if isinstance(node, cst.BooleanOperation):
        is_and = isinstance(node.operator, cst.And)
        becomes = cst.Or if is_and else cst.And
        edits.append(replace(*module.span(node.operator), "or" if is_and else "and"))
        # `a and b or c` groups by precedence; its negation needs parentheses for the same grouping.
        if above is cst.And and becomes is cst.Or and not node.lpar:
            start, end = module.span(node)
            edits += [insert(start, "("), insert(end, ")")]
        return _negate(module, node.left, becomes, edits, assumed) and _negate(
            module, node.right, becomes, edits, assumed
        )
    return False


def _negate_comparison(module: Module, node: cst.Comparison, edits: list[Edit], assumed: set[str]) -> bool:
    if len(node.comparisons) != 1:
        return False  # `a < b < c` evaluates b once; operators alone cannot express its negation
    target = node.comparisons[0]
    operator = target.operator
    if type(operator) not in _COMPLEMENTS:
        return False
    text, assumption = _COMPLEMENTS[type(operator)]
    sides = (node.left, target.comparator)
    # values may be partially ordered: a side visibly is, or the file mentions NaN
    partial = bool(_NAN & module.words) or any(map(_visibly_partial, sides))
    if isinstance(operator, _ORDERED) and partial:
        return False
    if assumption and acting_reads(module).runs(COMPARISON, sides):
        return False  # the complement is another method, with other effects
    exact = isinstance(operator, cst.Equal | cst.NotEqual) and all(
        isinstance(s, _EXACT_VALUES) for s in sides
    )
    if assumption and not exact:
        assumed.add(assumption)
    start, end = module.span(operator)
    if text[0].isalpha() or text == "in":
        before = " " if is_word(module.data[start - 1 : start]) and text[0].isalpha() else ""
        text = before + text
    edits.append(replace(start, end, text))
    return True


def _drop_not(
    module: Module, node: cst.UnaryOperation, above: type[cst.BaseBooleanOp] | None, edits: list[Edit]
) -> bool:
    """`not x` becomes `x`."""
    operand = node.expression
    loose = isinstance(operand, cst.BooleanOperation | cst.IfExp | cst.Lambda | cst.NamedExpr)
    if loose and not operand.lpar and above is not None:
        return False
    start = module.start(node)
    end = module.outer(operand)[0]
    edits.append(replace(start, end, ""))
    return True


def _visibly_partial(node: cst.BaseExpression) -> bool:
    """Whether a value visibly belongs to a partially ordered class: a set, or NaN."""
    if isinstance(node, cst.Set | cst.SetComp):
        return True
    if isinstance(node, cst.Attribute):
        return node.attr.value.lower() == "nan"
    if isinstance(node, cst.Name):
        return node.value.lower() == "nan"
    if isinstance(node, cst.Call):
        called = node.func.value if isinstance(node.func, cst.Name) else ""
        return called in {"set", "frozenset", "float"} or (
            isinstance(node.func, cst.Attribute)
            and node.func.attr.value
            in {"keys", "items", "union", "intersection", "difference", "symmetric_difference"}
        )
    if isinstance(node, cst.BinaryOperation):
        return _visibly_partial(node.left) or _visibly_partial(node.right)
    return False
