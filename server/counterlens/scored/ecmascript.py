"""The concept category of every named node type of JavaScript and TypeScript, JSX included.

The paper categorises Python; constructs that Python has, too, keep its category. Others: a function
expression (`arrow_function`, `function_expression`) is `functional programming`, like a lambda, and so is
`new`, which is a call in Python. JSX elements build values: `data structures`; their text and regular
expressions are `natural language`, like strings. JavaScript has no `assert`, so no node is `testing`.

Nodes of TypeScript that name, restrict or convert a type are `types`, if they have no value of their own at
run time: also `extends` and `implements`, aliases, and assertions such as `as`, `satisfies` and `!`.
Declarations of members and parameters are `scope`, with their visibility. An `enum` has the category of
Java's, because its body contains values.
"""

from __future__ import annotations

from counterlens.syntax.concepts.categories import Category, merge

ECMASCRIPT: dict[Category, str] = {
    Category.DATA_STRUCTURES: """
        array array_pattern computed_property_name member_expression object object_assignment_pattern
        object_pattern optional_chain pair pair_pattern rest_pattern sequence_expression spread_element
        subscript_expression""",
    Category.DECISION: """
        else_clause if_statement switch_body switch_case switch_default switch_statement
        ternary_expression""",
    Category.EXCEPTIONS: "catch_clause finally_clause throw_statement try_statement",
    Category.FUNCTIONAL: """
        arrow_function await_expression call_expression decorator function_expression generator_function
        new_expression yield_expression""",
    Category.ITERATION: """
        break_statement continue_statement do_statement for_in_statement for_statement labeled_statement
        while_statement""",
    Category.NATURAL_LANGUAGE: """
        comment escape_sequence hash_bang_line html_comment identifier jsx_text private_property_identifier
        property_identifier regex regex_flags regex_pattern shorthand_property_identifier
        shorthand_property_identifier_pattern statement_identifier string string_fragment template_string
        template_substitution""",
    Category.OPERATORS: """
        assignment_expression augmented_assignment_expression binary_expression unary_expression
        update_expression variable_declarator""",
    Category.SCOPE: """
        assignment_pattern class class_body class_declaration class_heritage class_static_block
        export_clause export_specifier export_statement formal_parameters function_declaration
        generator_function_declaration import import_attribute import_clause import_specifier
        import_statement lexical_declaration meta_property method_definition named_imports
        namespace_export namespace_import return_statement statement_block super this
        variable_declaration with_statement""",
    Category.TYPES: "false null number true undefined",
    Category.STRUCTURE: """
        arguments debugger_statement empty_statement expression_statement parenthesized_expression
        program""",
}
"""Node types that the grammars of JavaScript and TypeScript share."""

JSX: dict[Category, str] = {
    Category.DATA_STRUCTURES: """
        jsx_attribute jsx_closing_element jsx_element jsx_opening_element jsx_self_closing_element""",
    Category.NATURAL_LANGUAGE: "html_character_reference jsx_namespace_name",
    Category.STRUCTURE: "jsx_expression",
}

JAVASCRIPT = merge(ECMASCRIPT, JSX, {Category.SCOPE: "field_definition using_declaration"})


_SHARED: dict[Category, str] = {
    Category.DATA_STRUCTURES: "enum_assignment enum_body",
    Category.NATURAL_LANGUAGE: "nested_identifier",
    Category.SCOPE: """
        abstract_class_declaration abstract_method_signature accessibility_modifier ambient_declaration
        call_signature construct_signature enum_declaration function_signature import_alias
        import_require_clause index_signature interface_body interface_declaration internal_module
        method_signature module optional_parameter override_modifier property_signature
        public_field_definition required_parameter""",
    Category.TYPES: """
        adding_type_annotation array_type as_expression asserts asserts_annotation conditional_type
        constraint constructor_type default_type existential_type extends_clause extends_type_clause
        flow_maybe_type function_type generic_type implements_clause index_type_query infer_type
        instantiation_expression intersection_type literal_type lookup_type mapped_type_clause
        nested_type_identifier non_null_expression object_type omitting_type_annotation
        opting_type_annotation optional_type parenthesized_type predefined_type readonly_type rest_type
        satisfies_expression template_literal_type template_type this_type tuple_type
        type_alias_declaration type_annotation type_arguments type_identifier type_parameter
        type_parameters type_predicate type_predicate_annotation type_query union_type""",
}

TYPESCRIPT = merge(ECMASCRIPT, _SHARED, {Category.TYPES: "type_assertion"})
TYPESCRIPTREACT = merge(ECMASCRIPT, JSX, _SHARED)
