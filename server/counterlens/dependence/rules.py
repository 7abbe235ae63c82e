"""Options of the analysis; the defaults agree best with people's labels.

What calls do is chosen for Python alone; Java and C have lists of their own (`calls.py` in their folders).
"""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.dependence.heap import MUTATING_FUNCTIONS, MUTATING_METHODS, RESETTING_METHODS


@dataclass(frozen=True, slots=True)
class Rules:
    """How a function is analysed.

    Attributes:
        implicit_exceptions: Whether every statement that may raise is a branch to where its exception goes.
            People do not see control dependence so (precision against CoRe falls from 0.97 to 0.33); data
            dependence accounts for exceptions inside `try` either way.
        mutating_methods: Methods that change their receiver.
        mutating_functions: Functions that change their first argument.
        resetting_methods: Those of the methods after which earlier changes cannot be seen.
        suppressors: Context managers that may swallow an exception.
        terminators: Calls that do not return, as they are written.
        eager: Callables that have called a lambda or used up a generator expression given to them when they
            return.
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
