"""Independence of two pieces of code: whether they can be swapped, and under which assumptions."""

from __future__ import annotations

from counterlens.mutations.base import NEITHER_RAISES, PURE_OPERATORS, Independence
from counterlens.python.mutations.effect_rules import Heap, SideEffects
from counterlens.python.mutations.variables import Variable


def independent(first: SideEffects, second: SideEffects, *, caught: bool) -> Independence:
    """Decide whether two adjacent pieces of code can be swapped.

    Args:
        first: The effects of the first.
        second: The effects of the second.
        caught: Whether the function continues after an exception in them (`try`, `with`).
    """
    reason = _conflict(first, second, caught)
    if reason is not None:
        return Independence(reason)
    assumptions = []
    if first.raises or second.raises:
        if caught:
            return Independence(
                "one of them may raise, and a handler of the exception could observe the order"
            )
        if (first.raises and _seen_after(second)) or (second.raises and _seen_after(first)):
            assumptions.append(NEITHER_RAISES)
    if first.operators or second.operators:
        assumptions.append(PURE_OPERATORS)
    return Independence(None, tuple(assumptions))


def _conflict(first: SideEffects, second: SideEffects, caught: bool) -> str | None:
    if first.yields or second.yields or first.jumps or second.jumps:
        return "one of them may jump or yield control"
    for effects, other in ((first, second), (second, first)):
        # Code that runs before a `return` or not at all may change nothing visible: local variables at most.
        if effects.exits and (caught or other.exits or other.raises or _seen_after(other)):
            return "one of them may leave the function, so the effect of the other could be observed"
    shared = (first.writes & (second.reads | second.writes)) | (second.writes & first.reads)
    if shared:
        return f"both touch `{min(variable.name for variable in shared)}`"
    if first.opaque and second.opaque:
        return "both call unknown code"
    for effects, other in ((first, second), (second, first)):
        if effects.opaque and (other.heap is not Heap.NONE or any(map(_visible, other.reads | other.writes))):
            return "one calls unknown code, which could affect objects that the other uses"
        if effects.heap is Heap.WRITE and other.heap is not Heap.NONE:
            return "one changes an object that the other may use"
    return None


def _visible(variable: Variable) -> bool:
    return variable.shared


def _seen_after(effects: SideEffects) -> bool:
    """Whether code may raise, or change anything that is visible outside the function."""
    return (
        effects.raises or effects.opaque or effects.heap is Heap.WRITE or any(map(_visible, effects.writes))
    )
