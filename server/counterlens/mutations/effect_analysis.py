"""Side-effect analysis: the variables, objects, exceptions and jumps that a piece of code can affect.

Lowering rules, from the strongest:

- A call of anything but a known builtin or method is opaque: it may run any code.
- Iterating over what may be an iterator uses it up, which is a write to an object.
- A store to an attribute or subscript, `+=` on what may be mutable, and methods such as `append` write to an
  object; which object is not followed, so one write conflicts with every read of any object.
- Operators, attribute and subscript reads, and methods that built-in classes have and do not mutate, read
  objects and may raise. That their implementations have no side effects is assumed (`pure-operators`).
"""

from __future__ import annotations

from counterlens.mutations import effect_calls, effect_expressions, effect_statements
from counterlens.mutations.effect_rules import EffectAnalysis, Rules
from counterlens.mutations.module import Module

_RULES: Rules = {**effect_expressions.RULES, **effect_calls.RULES, **effect_statements.RULES}


def effects_in(module: Module) -> EffectAnalysis:
    """The effects of the statements and expressions of a module."""
    return EffectAnalysis(module, _RULES)
