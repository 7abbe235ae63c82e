"""The concept category of every named node type of the C# grammar.

The paper categorises Python; constructs that Python has, too, keep its category, and others have Java's.
Node types of neither: a query is a comprehension, so its clauses are `functional programming`; a property and
its accessors are `scope`, like methods, and so is `using`, which is Python's `with`. A copy with changes
(`with`), a range and `?.` are `data structures`. `checked` turns an overflow into an exception: `exceptions`.
Regions and pragmas are `scope`, conditional compilation is `decision`. C# has no `assert`, so no node is
`testing`.
"""

from __future__ import annotations

from counterlens.syntax.concepts.categories import Category

CSHARP: dict[Category, str] = {
    Category.DATA_STRUCTURES: """
        anonymous_object_creation_expression array_creation_expression array_rank_specifier
        collection_element collection_expression conditional_access_expression element_access_expression
        element_binding_expression enum_member_declaration enum_member_declaration_list expression_element
        implicit_array_creation_expression implicit_stackalloc_expression initializer_expression
        member_access_expression member_binding_expression parenthesized_variable_designation
        range_expression spread_element stackalloc_expression tuple_expression tuple_pattern
        with_expression with_initializer""",
    Category.DECISION: """
        and_pattern conditional_expression constant_pattern declaration_pattern discard if_statement
        list_pattern negated_pattern or_pattern parenthesized_pattern positional_pattern_clause
        preproc_elif preproc_else preproc_if preproc_if_in_attribute_list property_pattern_clause
        recursive_pattern relational_pattern subpattern switch_body switch_expression
        switch_expression_arm switch_section switch_statement type_pattern var_pattern when_clause""",
    Category.EXCEPTIONS: """
        catch_clause catch_declaration catch_filter_clause checked_expression checked_statement
        finally_clause throw_expression throw_statement try_statement""",
    Category.FUNCTIONAL: """
        anonymous_method_expression attribute attribute_argument attribute_argument_list attribute_list
        attribute_target_specifier await_expression constructor_initializer from_clause global_attribute
        group_clause implicit_object_creation_expression implicit_parameter invocation_expression
        join_clause join_into_clause lambda_expression let_clause object_creation_expression
        order_by_clause primary_constructor_base_type query_expression select_clause where_clause
        yield_statement""",
    Category.ITERATION: """
        break_statement continue_statement do_statement for_statement foreach_statement goto_statement
        labeled_statement while_statement""",
    Category.NATURAL_LANGUAGE: """
        alias_qualified_name character_literal character_literal_content comment escape_sequence
        identifier interpolated_string_expression interpolation interpolation_alignment_clause
        interpolation_brace interpolation_format_clause interpolation_quote interpolation_start
        preproc_arg qualified_name raw_string_content raw_string_end raw_string_literal raw_string_start
        shebang_directive string_content string_literal string_literal_content string_literal_encoding
        verbatim_string_literal""",
    Category.OPERATORS: """
        assignment_expression binary_expression is_expression is_pattern_expression makeref_expression
        postfix_unary_expression prefix_unary_expression ref_expression refvalue_expression
        unary_expression variable_declarator""",
    Category.SCOPE: """
        accessor_declaration accessor_list arrow_expression_clause block bracketed_parameter_list
        class_declaration constructor_declaration conversion_operator_declaration declaration_expression
        declaration_list delegate_declaration destructor_declaration enum_declaration event_declaration
        event_field_declaration extern_alias_directive field_declaration file_scoped_namespace_declaration
        fixed_statement indexer_declaration interface_declaration local_declaration_statement
        local_function_statement lock_statement method_declaration modifier namespace_declaration
        operator_declaration parameter parameter_list preproc_define preproc_endregion preproc_error
        preproc_line preproc_nullable preproc_pragma preproc_region preproc_undef preproc_warning
        property_declaration record_declaration return_statement struct_declaration unsafe_statement
        using_directive using_statement variable_declaration""",
    Category.TYPES: """
        array_type as_expression base_list boolean_literal calling_convention cast_expression
        constructor_constraint default_expression explicit_interface_specifier function_pointer_parameter
        function_pointer_type generic_name implicit_type integer_literal null_literal nullable_type
        pointer_type predefined_type real_literal ref_type reftype_expression scoped_type
        sizeof_expression tuple_element tuple_type type_argument_list type_parameter
        type_parameter_constraint type_parameter_constraints_clause type_parameter_list
        typeof_expression""",
    Category.STRUCTURE: """
        argument argument_list bracketed_argument_list compilation_unit empty_statement
        expression_statement global_statement parenthesized_expression""",
}
