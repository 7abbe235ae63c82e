"""The analysis of Python: from source text to the dependences of its functions."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from counterlens.dependence.analysing import MODULE, AnalysedLanguage, find
from counterlens.dependence.effects import DEFAULT, Rules
from counterlens.dependence.graph import Dependences
from counterlens.python.dependence.lookups import find_lookups
from counterlens.python.dependence.lowering import Lowering
from counterlens.python.dependence.reading import Reader
from counterlens.python.dependence.rules import PythonRules
from counterlens.python.dependence.scopes import FUNCTIONS, BlockNames, Variables
from counterlens.python.dependence.statements import FunctionNode, Statements
from counterlens.python.syntax.parsing import parse_module
from counterlens.syntax.functions import functions
from counterlens.text import BOM


class Program:
    """A source text, parsed once.

    Args:
        source: Python source.
        rules: Options of the analysis.

    Raises:
        SourceError: the source is not valid Python; the message gives the place.
    """

    def __init__(self, source: str, rules: Rules = DEFAULT) -> None:
        rules = PythonRules.of(rules)
        self.rules = rules
        self.tree = parse(source)
        self._text = source.removeprefix(BOM)
        self._scopes = BlockNames(rules)
        lookups = find_lookups(self.tree, source, self._scopes)
        self._reader = Reader(self._scopes, rules, lookups, postponed=_postpones_annotations(self.tree))
        self._functions = list(_functions(self.tree))

    @property
    def functions(self) -> list[str]:
        """The qualified names of all functions, outer ones first, in source order."""
        return [name for name, _ in self._functions]

    def dependences(self, function: str = MODULE) -> Dependences:
        """The dependences of one function.

        Args:
            function: Its qualified name (`Class.method`, `outer.inner`), its own name if that is unambiguous,
                or `<module>`. The last of several definitions is used.

        Raises:
            SourceError: there is no such function, or the name is ambiguous.
        """
        if function == MODULE:
            return self._analyse(MODULE, self.tree)
        named_functions = [(name, node.name, node) for name, node in self._functions]
        return self._analyse(*find(named_functions, function.replace("<locals>.", "")))

    def all(self) -> Iterator[Dependences]:
        """The dependences of the module's top-level statements and of every function."""
        yield self._analyse(MODULE, self.tree)
        for name, node in self._functions:
            yield self._analyse(name, node)

    def _analyse(self, name: str, block: FunctionNode | ast.Module) -> Dependences:
        module = isinstance(block, ast.Module)
        statements = Statements(block)
        variables = Variables(self._scopes.names(block), module=module)
        lowering = Lowering(statements, variables, self._scopes, self._reader, self.rules)
        graph = lowering.function(block.body, None if isinstance(block, ast.Module) else block.args)
        return Dependences(name, self._text, statements, graph)


def parse(source: str) -> ast.Module:
    """Parse Python source.

    Raises:
        SourceError: it is not valid Python; the message gives the place.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like do not concern the analysis
            return parse_module(source.removeprefix(BOM))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        # Imported here: it uses LibCST, which takes longer to load than the analysis takes.
        from counterlens.python.syntax.versions import parse_error

        raise parse_error(source, error) from error


def _functions(tree: ast.Module) -> Iterator[tuple[str, FunctionNode]]:
    stack: list[tuple[ast.AST, str]] = [(node, "") for node in reversed(tree.body)]
    while stack:
        node, path = stack.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            if not isinstance(node, ast.ClassDef):
                yield path + node.name, node
            path += f"{node.name}."
        inside = [
            inner
            for field in ("body", "handlers", "orelse", "finalbody", "cases")
            for inner in getattr(node, field, ())
        ]
        stack += [(inner, path) for inner in reversed(inside)]


def _postpones_annotations(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )


PYTHON = AnalysedLanguage(Program, functions)
