"""Whether a statement can complete normally (Java Language Specification, section 14.22)."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from counterlens.java.mutations.module import JavaModule

_LEAVE = {"return_statement", "throw_statement", "break_statement", "continue_statement", "yield_statement"}
_LOOPS = {"for_statement", "enhanced_for_statement", "while_statement", "do_statement"}
_CLOSED = {"lambda_expression", "class_body"}


def completes(module: JavaModule, node: Node) -> bool:
    """Whether a statement can complete normally by the compiler's rules."""
    if node.type in _LEAVE:
        return False
    if node.type in {"block", "constructor_body"}:
        statements = module.statements(node)
        return not statements or completes(module, statements[-1])
    if node.type == "if_statement":
        other = node.child_by_field_name("alternative")
        then = node.child_by_field_name("consequence")
        return other is None or any(
            completes(module, branch) for branch in (then, other) if branch is not None
        )
    if node.type in _LOOPS:
        return _loop_completes(module, node)
    if node.type == "labeled_statement":
        return completes(module, node.named_children[-1]) or left_by(module, node, "break_statement")
    if node.type in {"try_statement", "try_with_resources_statement"}:
        return _try_completes(module, node)
    if node.type == "switch_expression":
        return _switch_completes(module, node)
    if node.type == "synchronized_statement":
        return completes(module, node.named_children[-1])
    return True


def _loop_completes(module: JavaModule, node: Node) -> bool:
    condition = node.child_by_field_name("condition")
    endless = node.type != "enhanced_for_statement" and (
        condition is None or module.text(condition).strip("() \t\n") == "true"
    )
    if left_by(module, node, "break_statement"):
        return True
    body = node.child_by_field_name("body")
    if node.type == "do_statement" and body is not None:
        reached = completes(module, body) or left_by(module, node, "continue_statement")
        return reached and not endless
    return not endless


def _try_completes(module: JavaModule, node: Node) -> bool:
    body = node.child_by_field_name("body")
    parts = [child for child in node.named_children if child.type in {"catch_clause", "finally_clause"}]
    final = [child.named_children[-1] for child in parts if child.type == "finally_clause"]
    if final and not completes(module, final[0]):
        return False
    caught = [child.child_by_field_name("body") for child in parts if child.type == "catch_clause"]
    return any(completes(module, block) for block in (body, *caught) if block is not None)


def _switch_completes(module: JavaModule, node: Node) -> bool:
    body = node.child_by_field_name("body")
    if body is None or left_by(module, node, "break_statement"):
        return True
    labels = [child for child in _within(body) if child.type == "switch_label"]
    if not any(module.text(label).startswith("default") for label in labels):
        return True
    groups = [child for child in body.named_children if child.type.startswith("switch_")]
    if groups and groups[-1].type == "switch_block_statement_group":
        statements = module.statements(groups[-1])
        return not statements or completes(module, statements[-1])
    return any(completes(module, child.named_children[-1]) for child in groups)


def left_by(module: JavaModule, target: Node, kind: str) -> bool:
    """Whether a statement contains a `break` or `continue` that targets it.

    Args:
        target: A loop, a switch or a labelled statement.
        kind: `break_statement` or `continue_statement`.
    """
    return any(jumps_to(module, jump, target) for jump in _within(target) if jump.type == kind)


def jumps_to(module: JavaModule, jump: Node, target: Node) -> bool:
    """Whether a `break` or `continue` targets a statement, with its label or without a label."""
    if jump.named_children:
        label = module.text(jump.named_children[0])
        labelled = target if target.type == "labeled_statement" else module.parent(target)
        return labelled.type == "labeled_statement" and module.text(labelled.named_children[0]) == label
    around = (*_LOOPS, "switch_expression") if jump.type == "break_statement" else _LOOPS
    for above in module.ancestors(jump):
        if above.type in around:
            return above.id == target.id
    return False


def _within(node: Node) -> Iterator[Node]:
    """A node and its descendants, without the bodies of classes and lambdas."""
    todo = [node]
    while todo:
        descendant = todo.pop()
        yield descendant
        todo += [child for child in descendant.named_children if child.type not in _CLOSED]


def is_caught(module: JavaModule, node: Node) -> bool:
    """Whether a statement of the same method may observe the state after an exception at a node."""
    for above in module.ancestors(node):
        if above.type in {"try_statement", "try_with_resources_statement"}:
            return True
        if above.type in {"method_declaration", "constructor_declaration", "lambda_expression"}:
            return False
    return False
