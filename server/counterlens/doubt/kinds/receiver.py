"""A variable instead of the attribute of the same name, or the reverse."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_ASSIGNING = frozenset({"assignment", "augmented_assignment"})


class WrongReceiver(DoubtKind):
    """`self.name` is replaced by a variable `name`, and a variable by the attribute of `self` of its name."""

    id = "receiver"
    EXAMPLES = (
        DoubtExample(
            "class A:\n    def f(self, size):\n        self.size = size\n"
            "    def g(self, size):\n        return size\n",
            ("size -> self.size", "size -> self.size"),
        ),
        DoubtExample("class A:\n    def g(self, size):\n        return self.size\n", ("self.size -> size",)),
        DoubtExample("def g(size):\n    return size\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        own = scope.file.attributes.get("self", {})
        listed = scope.root.child_by_field_name("parameters")
        names = [text_of(parameter) for parameter in listed.named_children] if listed is not None else []
        if names[:1] != ["self"]:
            return
        for node in scope.reads:  # also where no such variable exists
            if text_of(node) in own and text_of(node) != "self":
                yield self.instead(node, f"self.{text_of(node)}")
        for node in scope.bindings:
            parent = node.parent
            if parent is not None and parent.type in _ASSIGNING and text_of(node) in own:
                yield Alternative(
                    self.id, node.start_byte, node.end_byte, f"self.{text_of(node)}", refuted=True
                )
        for node in scope.of("attribute"):
            receiver, name = (
                node.child_by_field_name("object"),
                text_of(node.child_by_field_name("attribute")),
            )
            parent = node.parent
            bound = (
                parent is not None
                and parent.type == "assignment"
                and parent.child_by_field_name("left") == node
            )
            before = scope.variables.get(name, node.start_byte) < node.start_byte
            if text_of(receiver) == "self" and before and not bound:
                yield self.instead(node, name)
