"""The concept category of every named node type of the Go grammar.

The paper categorises Python; constructs that Python has, too, keep its category. Others: `:=` and the
specifications of `var` and `const` are `operators`, like assignments, and so are sending to a channel and
receiving from one. `go` starts a call: `functional programming`, like `await`. `defer` runs however its
function ends, like `finally`: `exceptions`, the only such node, because errors are values. `select` is
`decision`, and a label or `goto` is `iteration`. Go has no `assert`, so no node is `testing`.
"""

from __future__ import annotations

from counterlens.syntax.concepts.categories import Category

GO: dict[Category, str] = {
    Category.DATA_STRUCTURES: """
        composite_literal index_expression keyed_element literal_element literal_value selector_expression
        slice_expression variadic_argument""",
    Category.DECISION: """
        communication_case default_case expression_case expression_switch_statement fallthrough_statement
        if_statement select_statement type_case type_switch_statement""",
    Category.EXCEPTIONS: "defer_statement",
    Category.FUNCTIONAL: "call_expression func_literal go_statement",
    Category.ITERATION: """
        break_statement continue_statement for_clause for_statement goto_statement labeled_statement
        range_clause""",
    Category.NATURAL_LANGUAGE: """
        blank_identifier comment escape_sequence field_identifier identifier interpreted_string_literal
        interpreted_string_literal_content label_name package_identifier raw_string_literal
        raw_string_literal_content rune_literal""",
    Category.OPERATORS: """
        assignment_statement binary_expression const_spec dec_statement inc_statement receive_statement
        send_statement short_var_declaration unary_expression var_spec""",
    Category.SCOPE: """
        block const_declaration dot field_declaration field_declaration_list function_declaration
        import_declaration import_spec import_spec_list method_declaration method_elem package_clause
        parameter_declaration parameter_list return_statement type_declaration type_spec var_declaration
        var_spec_list variadic_parameter_declaration""",
    Category.TYPES: """
        array_type channel_type false float_literal function_type generic_type imaginary_literal
        implicit_length_array_type int_literal interface_type iota map_type negated_type nil
        parenthesized_type pointer_type qualified_type slice_type struct_type true type_alias
        type_arguments type_assertion_expression type_constraint type_conversion_expression type_elem
        type_identifier type_instantiation_expression type_parameter_declaration type_parameter_list""",
    Category.STRUCTURE: """
        argument_list empty_statement expression_list expression_statement parenthesized_expression
        source_file statement_list""",
}
