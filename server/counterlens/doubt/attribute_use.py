"""The use of an attribute of a name: only an attribute with the same use can replace it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import tree_sitter

TARGET, CONDITION, VALUE, CALLED = "target", "condition", "value", "called"
_CONDITIONS = frozenset(
    {"if_statement", "elif_clause", "while_statement", "assert_statement", "not_operator", "boolean_operator"}
)


@dataclass(frozen=True, slots=True)
class AttributeUse:
    """One use of an attribute.

    Attributes:
        receiver: The name whose attribute it is.
        role: `target` of an assignment, `condition`, `value`, or `called` with a number of arguments; without
            a number if arguments are unpacked.
    """

    receiver: tree_sitter.Node
    name: tree_sitter.Node
    role: str

    def allows(self, roles: Collection[str]) -> bool:
        """Whether an attribute with these roles elsewhere may replace it."""
        if self.role in roles:
            return True
        if self.role.startswith(CALLED):
            return CALLED in roles or (self.role == CALLED and any(role.startswith(CALLED) for role in roles))
        return set(roles) == {TARGET}  # it is never read, so its type is unknown


def attribute_use(node: tree_sitter.Node) -> AttributeUse | None:
    """The use of an attribute of a name by a node; None if the node is something else."""
    receiver, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
    if node.type != "attribute" or receiver is None or name is None or receiver.type != "identifier":
        return None
    return AttributeUse(receiver, name, _role(node))


def _role(node: tree_sitter.Node) -> str:
    parent = node.parent
    if parent is None:
        return VALUE
    if parent.type == "call" and parent.child_by_field_name("function") == node:
        return _call_use(parent)
    if parent.type == "assignment" and parent.child_by_field_name("left") == node:
        return TARGET
    if parent.type == "conditional_expression" and parent.named_children[1] == node:
        return CONDITION
    return CONDITION if parent.type in _CONDITIONS else VALUE


def _call_use(call: tree_sitter.Node) -> str:
    given = call.child_by_field_name("arguments")
    if given is None or given.type != "argument_list":
        return CALLED
    arguments = [argument for argument in given.named_children if argument.type != "comment"]
    if any(argument.type in {"list_splat", "dictionary_splat"} for argument in arguments):
        return CALLED
    return f"{CALLED} with {len(arguments)}"
