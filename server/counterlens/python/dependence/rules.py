"""Options of the analysis of Python; the defaults agree best with people's labels."""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.dependence.effects import Rules
from counterlens.python.dependence.heap import MUTATING_FUNCTIONS, MUTATING_METHODS, RESETTING_METHODS


@dataclass(frozen=True, slots=True)
class PythonRules(Rules):
    """The options of the analysis of a Python function: those of all languages, and the effects of calls.

    Attributes:
        mutating_methods: Methods that change their receiver.
        mutating_functions: Functions that change their first argument.
        resetting_methods: The methods that make earlier changes invisible.
        suppressors: Context managers that may swallow an exception.
        terminators: Calls that do not return, as written in the source.
        eager: Callables that call a lambda argument, or consume a generator expression, before they return.
    """

    mutating_methods: frozenset[str] = MUTATING_METHODS
    mutating_functions: frozenset[str] = MUTATING_FUNCTIONS
    resetting_methods: frozenset[str] = RESETTING_METHODS
    suppressors: frozenset[str] = frozenset(
        {"suppress", "raises", "assertRaises", "assertRaisesRegex", "ExitStack", "AsyncExitStack"}
    )
    terminators: frozenset[str] = frozenset({"exit", "quit", "sys.exit", "os._exit", "os.abort"})
    eager: frozenset[str] = frozenset(
        {
            *("sorted", "sort", "min", "max", "sum", "any", "all", "join", "reduce"),
            *("list", "tuple", "set", "frozenset", "dict", "Counter"),
        }
    )

    @classmethod
    def of(cls, rules: Rules) -> PythonRules:
        """Options with Python's defaults for what they leave open."""
        return rules if isinstance(rules, cls) else cls(implicit_exceptions=rules.implicit_exceptions)
