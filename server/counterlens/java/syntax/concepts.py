"""The node types of the Java grammar: their concept categories, operators and definitions.

The paper categorises Python; constructs that Python has, too, keep its category. Others: declarations with
types and modifiers are `scope`, names and conversions of types are `types`. An annotation is `functional
programming`, like a decorator, and so is creating an object, which is a call in Python. `yield` ends an arm
of a `switch`: `decision`. A label serves loops: `iteration`. The resources of a `try` are `exceptions`, like
the `try` itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from counterlens.syntax.concepts import Category
from counterlens.syntax.definitions import FunctionDefinition, named_definitions, text_of
from counterlens.syntax.operators import COMPARISON, Family, Kinds

JAVA: dict[Category, str] = {
    Category.DATA_STRUCTURES: """
        array_access array_creation_expression array_initializer dimensions dimensions_expr
        element_value_array_initializer element_value_pair enum_body enum_constant field_access""",
    Category.DECISION: """
        guard if_statement pattern record_pattern record_pattern_body record_pattern_component switch_block
        switch_block_statement_group switch_expression switch_label switch_rule ternary_expression
        type_pattern underscore_pattern yield_statement""",
    Category.EXCEPTIONS: """
        catch_clause catch_formal_parameter catch_type finally_clause resource resource_specification
        throw_statement throws try_statement try_with_resources_statement""",
    Category.FUNCTIONAL: """
        annotation annotation_argument_list explicit_constructor_invocation inferred_parameters
        lambda_expression marker_annotation method_invocation method_reference object_creation_expression""",
    Category.ITERATION: """
        break_statement continue_statement do_statement enhanced_for_statement for_statement
        labeled_statement while_statement""",
    Category.NATURAL_LANGUAGE: """
        block_comment character_literal escape_sequence identifier line_comment multiline_string_fragment
        scoped_identifier string_fragment string_interpolation string_literal template_expression""",
    Category.OPERATORS: """
        assignment_expression binary_expression instanceof_expression unary_expression update_expression
        variable_declarator""",
    Category.SCOPE: """
        annotation_type_body annotation_type_declaration annotation_type_element_declaration asterisk block
        class_body class_declaration compact_constructor_declaration constant_declaration constructor_body
        constructor_declaration enum_body_declarations enum_declaration exports_module_directive
        field_declaration formal_parameter formal_parameters import_declaration interface_body
        interface_declaration local_variable_declaration method_declaration modifiers module_body
        module_declaration opens_module_directive package_declaration provides_module_directive
        receiver_parameter record_declaration requires_modifier requires_module_directive return_statement
        spread_parameter static_initializer super synchronized_statement this uses_module_directive""",
    Category.TESTING: "assert_statement",
    Category.TYPES: """
        annotated_type array_type binary_integer_literal boolean_type cast_expression class_literal
        decimal_floating_point_literal decimal_integer_literal extends_interfaces false floating_point_type
        generic_type hex_floating_point_literal hex_integer_literal integral_type null_literal
        octal_integer_literal permits scoped_type_identifier super_interfaces superclass true type_arguments
        type_bound type_identifier type_list type_parameter type_parameters void_type wildcard""",
    Category.STRUCTURE: "argument_list expression_statement parenthesized_expression program",
}


_TYPES = frozenset(
    {
        *("class_declaration", "interface_declaration", "enum_declaration", "record_declaration"),
        "annotation_type_declaration",
    }
)
_METHODS = frozenset({"method_declaration", "constructor_declaration", "compact_constructor_declaration"})


def java_definitions(root: Node) -> Iterator[FunctionDefinition]:
    """The methods and constructors with a body; one of a class inside a method is nested in that method."""
    for path, node in named_definitions(root, _TYPES | _METHODS):
        if node.type in _METHODS:
            listed = node.child_by_field_name("parameters")
            type_names = []
            for parameter in listed.named_children if listed is not None else ():
                if parameter.type == "formal_parameter":
                    dimensions = text_of(parameter.child_by_field_name("dimensions"))
                    type_names.append(text_of(parameter.child_by_field_name("type")) + dimensions)
                elif parameter.type == "spread_parameter":
                    type_names.append(text_of(parameter).rpartition("...")[0].strip() + "...")
            yield FunctionDefinition(path, ", ".join(type_names), node)


OPERATORS: Kinds = {
    "binary_expression": (
        COMPARISON,
        (Family.ARITHMETIC, "+ - * / %"),
        (Family.BITWISE, "& | ^ << >> >>>"),
        (Family.BOOLEAN, "&& ||"),
    ),
    "assignment_expression": (
        (Family.AUGMENTED, "+= -= *= /= %="),
        (Family.AUGMENTED, "&= |= ^= <<= >>= >>>="),
    ),
}
