"""The node types of the Python grammar: their concept categories, operators and definitions."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from counterlens.syntax.concepts import Category
from counterlens.syntax.definitions import FunctionDefinition, named_definitions

PYTHON: dict[Category, str] = {
    Category.DATA_STRUCTURES: """
        attribute concatenated_string dictionary dictionary_splat expression_list list list_splat pair
        parenthesized_list_splat pattern_list set slice subscript tuple tuple_pattern list_pattern
        list_splat_pattern dictionary_splat_pattern""",
    Category.DECISION: """
        case_clause case_pattern class_pattern complex_pattern conditional_expression dict_pattern elif_clause
        else_clause if_statement keyword_pattern match_statement splat_pattern union_pattern
        as_pattern as_pattern_target""",
    Category.EXCEPTIONS: "except_clause finally_clause raise_statement try_statement",
    Category.FUNCTIONAL: """
        await dictionary_comprehension generator_expression lambda lambda_parameters list_comprehension
        set_comprehension for_in_clause if_clause yield call decorator""",
    Category.ITERATION: "break_statement continue_statement for_statement while_statement",
    Category.NATURAL_LANGUAGE: """
        comment dotted_name identifier string string_content string_start string_end escape_sequence
        escape_interpolation interpolation format_expression format_specifier type_conversion""",
    Category.OPERATORS: """
        assignment augmented_assignment binary_operator boolean_operator comparison_operator
        named_expression not_operator unary_operator""",
    Category.SCOPE: """
        block class_definition decorated_definition default_parameter function_definition global_statement
        nonlocal_statement parameters return_statement with_clause with_item with_statement
        aliased_import future_import_statement import_from_statement import_prefix import_statement
        relative_import wildcard_import delete_statement keyword_separator positional_separator""",
    Category.TESTING: "assert_statement",
    Category.TYPES: """
        constrained_type false float generic_type integer member_type none splat_type true type
        type_alias_statement type_parameter typed_default_parameter typed_parameter union_type ellipsis""",
    Category.STRUCTURE: """
        argument_list chevron exec_statement expression_statement keyword_argument line_continuation module
        parenthesized_expression pass_statement print_statement""",
}


def python_definitions(root: Node) -> Iterator[FunctionDefinition]:
    """The functions and methods of Python, outer ones first, in source order."""
    for path, node in named_definitions(root, {"class_definition", "function_definition"}):
        if node.type == "function_definition":
            yield FunctionDefinition(path, None, node)
