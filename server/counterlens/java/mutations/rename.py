"""`rename-random`, `rename-shuffle`, `rename-generic` and `def-use-break` for Java."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.java.mutations.variables import JavaKind, JavaVariable
from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.mutations.parsed import FreshNames, FunctionSpan, numbered_names, renaming_described

_QUIET = {"@Override", "@Deprecated", "@SafeVarargs", "@SuppressWarnings"}
_BEFORE = """
class A {
    int total;
    int f(int[] xs) {
        int sum = 0;
        for (int x : xs) sum += x;
        return this.total + sum;
    }
}
"""
_FIELD = Example(
    before="class A { int x; int f(int y) { { int x = 1; g(x, y); } return x; } }",
    after=None,
    refused="also means something else",
)
_BLOCKS = {"block", "constructor_body"}


@dataclass(frozen=True, slots=True)
class JavaLocals:
    """The variables and parameters of one method, by name: a name is renamed at all places in the method.

    Attributes:
        safe: Those that can be renamed, by their first occurrence.
        refused: The names that cannot be renamed, with their offsets and the reasons.
    """

    safe: tuple[JavaVariable, ...]
    refused: tuple[tuple[str, int, str], ...]

    @property
    def names(self) -> list[str]:
        """The names that can be replaced; several variables may share one."""
        return list(dict.fromkeys(variable.name for variable in self.safe))


def locals_of(module: JavaModule, function: FunctionSpan) -> JavaLocals:
    """The variables of a method, those of its lambdas included, by whether they can be renamed."""
    variables = module.scopes.within(function.start, function.end)
    free = module.scopes.free_names(function.start, function.end)
    node = module.function_nodes[function.start]
    annotated = _is_annotated(module, node)
    of_record = (
        node.type == "constructor_declaration"
        and module.parent(module.parent(node)).type == "record_declaration"
    )
    reasons: dict[str, tuple[int, str]] = {}
    for variable in variables:
        reason = _why_not(variable, free)
        if reason is None and variable.kind is JavaKind.PARAMETER:
            reason = _why_fixed(variable.name, annotated=annotated, of_record=of_record)
            if reason is None and "getParameters" in module.words:
                reason = f"reflection may read the name of the parameter `{variable.name}`"
        if reason is not None:
            reasons.setdefault(variable.name, (variable.declared.start_byte, reason))
    safe = tuple(variable for variable in variables if variable.name not in reasons)
    return JavaLocals(safe, tuple((name, at, why) for name, (at, why) in reasons.items()))


def _why_not(variable: JavaVariable, free: set[str]) -> str | None:
    name = variable.name
    if variable.kind is JavaKind.PATTERN:
        return f"`{name}` is bound by a pattern, and its scope depends on the control flow"
    if variable.in_class:
        return f"`{name}` is used in a class inside the method, which may have a field of that name"
    if variable.in_label:
        return f"`{name}` is used in a case, where it may be an enum constant"
    if name in free:
        return f"`{name}` also means something else in the method, such as a field"
    return None


def _why_fixed(name: str, *, annotated: bool, of_record: bool) -> str | None:
    """The reason why a parameter must keep its name; None if it need not."""
    if annotated:
        return f"an annotation may read the name of the parameter `{name}`"
    return f"the constructor of a record needs the name of the parameter `{name}`" if of_record else None


def _is_annotated(module: JavaModule, function: Node) -> bool:
    """Whether a method or one of its parameters has an annotation that other code may read."""
    parameters = function.child_by_field_name("parameters")
    parts = [function, *(parameters.named_children if parameters is not None else ())]
    annotations = (
        annotation
        for part in parts
        for modifiers in part.named_children
        if modifiers.type == "modifiers"
        for annotation in modifiers.named_children
        if "annotation" in annotation.type
    )
    return any(module.text(node).partition("(")[0] not in _QUIET for node in annotations)


def renaming_edits(variables: Sequence[JavaVariable], new: dict[str, str]) -> tuple[Edit, ...]:
    """The edits that rename variables at all their occurrences."""
    return tuple(
        replace(node.start_byte, node.end_byte, new[variable.name])
        for variable in variables
        for node in variable.occurrences
        if variable.name in new
    )


def outermost(module: JavaModule) -> list[FunctionSpan]:
    """The methods of a file that are not nested in another one."""
    functions: list[FunctionSpan] = []
    for function in module.functions:
        if not functions or function.start >= functions[-1].end:
            functions.append(function)
    return functions


class JavaRenaming(JavaMutation):
    """Base class: renames the variables and parameters of each method."""

    concept = Concept.NAMING

    @abstractmethod
    def choose(self, context: JavaContext, function: FunctionSpan, names: list[str]) -> dict[str, str]:
        """The new name of each old one; empty if there are none."""

    refusal = "the method has no variables that can be renamed"

    def sites(self, context: JavaContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for function in outermost(module):
            variables = locals_of(module, function)
            yield from (SiteRefused(at, why) for _, at, why in variables.refused)
            new = self.choose(context, function, variables.names)
            if not new:
                yield SiteRefused(function.start, self.refusal)
                continue
            renamed = [variable for variable in variables.safe if variable.name in new]
            yield Site(
                span=(function.start, function.end),
                description=renaming_described(new.items()),
                edits=renaming_edits(renamed, new),
            )


def derangement(names: list[str], chance: random.Random) -> dict[str, str]:
    """A random permutation of names without fixed points: a cycle in random order."""
    shuffled = list(names)
    chance.shuffle(shuffled)
    return dict(zip(shuffled, [*shuffled[1:], shuffled[0]], strict=True))


class JavaRenameRandom(JavaRenaming):
    """Give each variable and parameter of a method a random name of five letters.

    Java passes no argument by name. Names are kept if the method also uses them for a field, if a class
    inside it uses them, if a pattern binds them, or if an annotation may read them.
    """

    id = "rename-random"
    source = "Hooda et al. 2024, section 3.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before=_BEFORE,
            after="""
            class A {
                int total;
                int f(int[] wqnhq) {
                    int nvoov = 0;
                    for (int nzwfw : wqnhq) nvoov += nzwfw;
                    return this.total + nvoov;
                }
            }
            """,
        ),
        Example(
            before="class A { Object f(final int x) { return new B() { int g() { return x; } }; } }",
            refused="a class inside the method",
        ),
        Example(before="class A { void f() { g(); } }", refused="no variables"),
    )

    def choose(self, context: JavaContext, function: FunctionSpan, names: list[str]) -> dict[str, str]:
        fresh = FreshNames(context.module, context.seed)
        return {name: fresh.draw(self.id, function.qualname, name) for name in names}


class JavaRenameShuffle(JavaRenaming):
    """Permute the names among the variables and parameters of a method, so that none keeps its own.

    The renamed variables and the refusals are those of `rename-random`.
    """

    id = "rename-shuffle"
    source = "Hooda et al. 2024, section 3.3"
    refusal = "the method has fewer than two names that could be swapped"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { int f(int a) { int b = a; return b - this.b; } }",
            after="class A { int f(int b) { int a = b; return a - this.b; } }",
        ),
        Example(before="class A { int f(int a) { return a; } }", refused="fewer than two names"),
        Example(
            before="class A { int f(Object o, int i) { if (o instanceof B b) return i; return 0; } }",
            after="class A { int f(Object i, int o) { if (i instanceof B b) return o; return 0; } }",
            refused="bound by a pattern",
        ),
    )

    def choose(self, context: JavaContext, function: FunctionSpan, names: list[str]) -> dict[str, str]:
        chance = random.Random(repr((context.seed, self.id, function.qualname)))  # noqa: S311
        return derangement(names, chance) if len(names) > 1 else {}


class JavaRenameGeneric(JavaRenaming):
    """Name the variables and parameters of a method `var1`, `var2` and so on, as they appear.

    The renamed variables and the refusals are those of `rename-random`.
    """

    id = "rename-generic"
    source = "Ahmed et al. 2024, section 3.2; Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { int f(int n) { Op p = k -> k + n; l: for (;;) break l; return p.at(n); } }",
            after="class A { int f(int var1) { Op var2 = var3 -> var3 + var1; l: for (;;) break l; "
            "return var2.at(var1); } }",
        ),
        Example(
            before="class A { int x; int f(int y) { { int x = 1; g(x, y); } return x; } }",
            after="class A { int x; int f(int var1) { { int x = 1; g(x, var1); } return x; } }",
            refused="also means something else",
        ),
        Example(
            before='class A { @Path("/") void f(@Query int n) { g(n); } }', refused="an annotation may read"
        ),
        Example(
            before="class A { void f(B b, int c) { switch (b) { case c: g(c); } } }",
            after="class A { void f(B var1, int c) { switch (var1) { case c: g(c); } } }",
            refused="used in a case",
        ),
    )

    def __init__(self, prefix: str = "var") -> None:
        self.prefix = prefix

    def choose(
        self,
        context: JavaContext,
        function: FunctionSpan,  # noqa: ARG002
        names: list[str],
    ) -> dict[str, str]:
        return dict(zip(names, numbered_names(context.module, self.prefix), strict=False))


class JavaDefUseBreak(JavaMutation):
    """Declare a new variable for a later value of a variable, and use it from then on.

    `x = read(); x = clean(x); use(x);` becomes `x = read(); T y = clean(x); use(y);`. The assignment must be
    in the block that declares the variable (for a parameter, in the method's own block), so that it runs
    before all code after it.
    """

    id = "def-use-break"
    concept = Concept.DATA_FLOW
    source = "Hooda et al. 2024, section 3.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { int f(int a) { a = g(a); while (a > 9) a--; return a; } }",
            after="class A { int f(int a) { int ygsit = g(a); while (ygsit > 9) ygsit--; return ygsit; } }",
        ),
        Example(
            before="class A { int f(int a) { if (a > 1) { a = 1; } return a; } }",
            refused="may be skipped",
        ),
        Example(before="class A { int f() { int a; a = 1; return a; } }", refused="no value before"),
        Example(before="class A { void f(int a) { a = 1; } }", refused="never used after it"),
    )

    def sites(self, context: JavaContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for node in module.nodes("expression_statement"):
            assignment = node.named_children[0]
            left = assignment.child_by_field_name("left")
            operator = assignment.child_by_field_name("operator")
            if assignment.type != "assignment_expression" or left is None or operator is None:
                continue
            variable = module.scopes.variable(left)
            if variable is not None and module.text(operator) == "=":
                yield self._site(context, node, left, variable)

    def _site(
        self, context: JavaContext, node: Node, left: Node, variable: JavaVariable
    ) -> Site | SiteRefused:
        module = context.module
        later = [use for use in variable.uses if use.start_byte >= node.end_byte]
        reason = _why_whole(module, node, variable, later)
        if reason is not None:
            return SiteRefused(node.start_byte, reason)
        around = module.function_at(node.start_byte)
        names = FreshNames(module, context.seed)
        new = names.draw(self.id, around.qualname if around else "", variable.name, module.text(node))
        edits = [replace(left.start_byte, left.end_byte, f"{variable.type} {new}")]
        edits += [replace(use.start_byte, use.end_byte, new) for use in later]
        return Site(
            span=(node.start_byte, later[-1].end_byte),
            description=f"renamed `{variable.name}` to `{new}` from its definition in this line on",
            edits=tuple(edits),
        )


def _why_whole(module: JavaModule, node: Node, variable: JavaVariable, later: list[Node]) -> str | None:
    name = variable.name
    if variable.kind is JavaKind.LOCAL and variable.value is None:
        return f"`{name}` may have no value before"
    if not later:
        return f"`{name}` is never used after it"
    if variable.kind not in {JavaKind.LOCAL, JavaKind.PARAMETER} or not variable.type:
        return f"`{name}` is not declared with a type"
    if variable.in_class or variable.in_label:
        return f"`{name}` may mean something else in a class or a case"
    block = module.parent(node)
    if block.type not in _BLOCKS or block.id != _block_of(module, variable):
        return f"the definition of `{name}` may be skipped before its later uses"
    return None


def _block_of(module: JavaModule, variable: JavaVariable) -> int:
    """Node id of the block that declares a variable; for a parameter, of the method's body."""
    if variable.kind is JavaKind.LOCAL:
        return module.parent(module.parent(module.parent(variable.declared))).id
    for above in module.ancestors(variable.declared):
        body = above.child_by_field_name("body")
        if body is not None:
            return body.id
    return 0
