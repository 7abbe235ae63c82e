"""From a source text in a language with braces to the dependences of its functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node, Tree

from counterlens.dependence.analysing import MODULE, AnalysedLanguage, find
from counterlens.dependence.braces.lowering import BraceLayout
from counterlens.dependence.braces.reading import Syntax
from counterlens.dependence.braces.statements import BraceStatements, header_of
from counterlens.dependence.cfg import ENTRY, EXIT, NOWHERE, Arc, ControlFlowGraph
from counterlens.dependence.effects import DEFAULT, Rules
from counterlens.dependence.graph import Dependences, Statement
from counterlens.errors import SourceError
from counterlens.languages.registry import title_of
from counterlens.syntax.definitions import FunctionDefinition, with_names
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.grammars import parser_for
from counterlens.text import BOM


@dataclass(frozen=True, slots=True)
class BraceLanguage:
    """The analysis of one language.

    Attributes:
        id: Its id, as editors use it.
        functions: Finds the functions in a tree, in source order.
        syntax: The rules for reading its expressions.
        unreadable: Why the tree of a text is not the one that the language sees; None if it is.
    """

    id: str
    functions: Callable[[Node], Iterator[FunctionDefinition]]
    layout: type[BraceLayout]
    syntax: Syntax
    unreadable: Callable[[str], str | None] = lambda _: None

    @property
    def analysed(self) -> AnalysedLanguage:
        """The analysis in the form common to all languages."""
        return AnalysedLanguage(lambda source, rules: BraceProgram(source, self, rules), self.located)

    def located(self, document: Document) -> list[Function]:
        """The functions of a document in this language, in source order."""
        functions = []
        for name, function in with_names(self.functions(document.tree.root_node)):
            start = header_of(function.node)
            functions.append(
                Function(
                    name=function.path[-1],
                    qualname=name,
                    start=function.node.start_byte,
                    end=function.node.end_byte,
                    header=start.start_byte,
                    body=function.body,
                    start_line=function.node.start_point.row + 1,
                    end_line=function.node.end_point.row + 1,
                    column=start.start_point.column,
                )
            )
        return functions


class BraceProgram:
    """A source text, parsed once.

    Args:
        rules: Options of the analysis; effects of calls come from the language's own lists.

    Raises:
        SourceError: the source cannot be parsed; the message gives the place.
    """

    def __init__(self, source: str, language: BraceLanguage, rules: Rules = DEFAULT) -> None:
        self.rules = rules
        self.language = language
        self._text = source.removeprefix(BOM)
        unreadable = language.unreadable(source)
        if unreadable is not None:
            raise SourceError(unreadable)
        self._tree: Tree = parser_for(language.id).parse(self._text.encode("utf-8", "surrogatepass"))
        self._refuse_errors(self._tree.root_node)
        self._functions = [
            (name, function.path[-1], function.node)
            for name, function in with_names(language.functions(self._tree.root_node))
        ]

    @property
    def functions(self) -> list[str]:
        """The qualified names of all functions, outer ones first, in source order."""
        return [full for full, _, _ in self._functions]

    def dependences(self, function: str = MODULE) -> Dependences:
        """The dependences of one function.

        Args:
            function: Its qualified name (`Class.method`, with parameter types if there are several:
                `Class.method(int, String)`), its own name if that is unambiguous, or `<module>`, which has
                no statements.

        Raises:
            SourceError: there is no such function, the name is ambiguous, or the function cannot be parsed.
        """
        if function == MODULE:
            return self._nothing()
        return self._analyse(*find(self._functions, function))

    def all(self) -> Iterator[Dependences]:
        """The dependences of `<module>`, which has none, and of every function."""
        yield self._nothing()
        for full, _, node in self._functions:
            yield self._analyse(full, node)

    def _nothing(self) -> Dependences:
        graph = ControlFlowGraph(NOWHERE)
        graph.connect([(ENTRY, Arc.NEXT)], EXIT)
        return Dependences(MODULE, self._text, NoStatements(), graph, language=self.language.id)

    def _analyse(self, name: str, node: Node) -> Dependences:
        statements = BraceStatements(node)
        layout = self.language.layout(statements, self.language.syntax, self.rules)
        graph = layout.function(node)
        return Dependences(name, self._text, statements, graph, language=self.language.id)

    def _refuse_errors(self, root: Node) -> None:
        if not root.has_error:
            return
        stack = [root]
        while stack:
            node = stack.pop()
            if node.is_error or node.is_missing:
                line = node.start_point.row + 1
                raise SourceError(f"the {title_of(self.language.id)} source is not valid at line {line}")
            stack += [child for child in reversed(node.children) if child.has_error or child.is_missing]


class NoStatements:
    """The statement table of a function without statements."""

    header = NOWHERE
    last_line = 0
    nodes: Sequence[Node] = ()

    def line(self, number: int) -> int:
        """Raise IndexError, because there are no statements."""
        raise IndexError(number)

    def listed(self, text: str) -> tuple[Statement, ...]:  # noqa: ARG002 - there is none to look for in it
        """No statements."""
        return ()
