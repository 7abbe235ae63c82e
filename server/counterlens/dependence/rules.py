"""Options of the analysis; the defaults agree best with people's labels.

The effects of calls are options for Python only; Java and C have their own lists (`calls.py` in their
folders).
"""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.dependence.heap import MUTATING_FUNCTIONS, MUTATING_METHODS, RESETTING_METHODS


@dataclass(frozen=True, slots=True)
class Rules:
    """The options of the analysis of a function.

    Attributes:
        implicit_exceptions: Whether every statement that may raise is a branch to the handler of its
            exception. People do not label control dependence that way (precision against CoRe falls from 0.97
            to 0.33); data dependence accounts for exceptions inside `try` either way.
        mutating_methods: Methods that change their receiver.
        mutating_functions: Functions that change their first argument.
        resetting_methods: The methods that make earlier changes invisible.
        suppressors: Context managers that may swallow an exception.
        terminators: Calls that do not return, as written in the source.
        eager: Callables that call a lambda argument, or consume a generator expression, before they return.
    """

    implicit_exceptions: bool = False
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


DEFAULT = Rules()
