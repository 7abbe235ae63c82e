"""Side-effect analysis: the variables, objects, exceptions and jumps that code can affect.

Lowering rules, from the strongest:

- A call of anything except a known builtin or method is opaque: it may run any code.
- Iteration over a possible iterator consumes it, which is a write to an object.
- A store to an attribute or subscript, `+=` on what may be mutable, and methods such as `append` write to an
  object; objects are not distinguished, so one write conflicts with every read of any object.
- Operators, attribute and subscript reads, and non-mutating methods of built-in classes read objects and
  may raise. That their implementations have no side effects is assumed (`pure-operators`).
"""

from __future__ import annotations

from counterlens.python.mutations import effect_calls, effect_expressions, effect_statements
from counterlens.python.mutations.effect_rules import EffectAnalysis, Rules
from counterlens.python.mutations.module import Module

_RULES: Rules = {**effect_expressions.RULES, **effect_calls.RULES, **effect_statements.RULES}


def effects_in(module: Module) -> EffectAnalysis:
    """A side-effect analysis of the statements and expressions of a module."""
    return EffectAnalysis(module, _RULES)
