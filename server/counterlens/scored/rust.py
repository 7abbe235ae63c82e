"""The concept category of every named node type of the Rust grammar.

The paper categorises Python; constructs that Python has, too, keep its category. Others: `let` is
`operators`, like an assignment. A pattern is `decision`, except those of tuples and slices, which also
destructure in assignments: `data structures`. `?` propagates an error: `exceptions`. A macro call is
`functional programming`, like a call, its definition is `scope`, and a repetition in it `iteration`; its
token trees are unparsed and only group tokens. Lifetimes, bounds and `where` restrict types: `types`.
`assert!` is an ordinary macro, so no node is `testing`.
"""

from __future__ import annotations

from counterlens.syntax.concepts.categories import Category

RUST: dict[Category, str] = {
    Category.DATA_STRUCTURES: """
        array_expression base_field_initializer enum_variant enum_variant_list field_expression
        field_initializer field_initializer_list index_expression range_expression
        shorthand_field_initializer slice_pattern struct_expression tuple_expression tuple_pattern""",
    Category.DECISION: """
        captured_pattern else_clause field_pattern generic_pattern if_expression let_chain let_condition
        match_arm match_block match_expression match_pattern mut_pattern or_pattern range_pattern
        ref_pattern reference_pattern remaining_field_pattern struct_pattern tuple_struct_pattern""",
    Category.EXCEPTIONS: "try_block try_expression",
    Category.FUNCTIONAL: """
        async_block attribute attribute_item await_expression call_expression closure_expression
        closure_parameters gen_block inner_attribute_item macro_invocation yield_expression""",
    Category.ITERATION: """
        break_expression continue_expression for_expression label loop_expression token_repetition
        token_repetition_pattern while_expression""",
    Category.NATURAL_LANGUAGE: """
        block_comment char_literal doc_comment escape_sequence field_identifier identifier
        inner_doc_comment_marker line_comment metavariable outer_doc_comment_marker raw_string_literal
        scoped_identifier shebang shorthand_field_identifier string_content string_literal""",
    Category.OPERATORS: """
        assignment_expression binary_expression compound_assignment_expr let_declaration
        reference_expression unary_expression""",
    Category.SCOPE: """
        block const_block const_item crate declaration_list enum_item extern_crate_declaration
        extern_modifier field_declaration field_declaration_list foreign_mod_item function_item
        function_modifiers function_signature_item impl_item macro_definition macro_rule mod_item
        mutable_specifier ordered_field_declaration_list parameter parameters return_expression
        scoped_use_list self self_parameter static_item struct_item super token_binding_pattern trait_item
        union_item unsafe_block use_as_clause use_declaration use_list use_wildcard variadic_parameter
        visibility_modifier""",
    Category.TYPES: """
        abstract_type array_type associated_type boolean_literal bounded_type bracketed_type
        const_parameter dynamic_type float_literal for_lifetimes fragment_specifier function_type
        generic_function generic_type generic_type_with_turbofish higher_ranked_trait_bound integer_literal
        lifetime lifetime_parameter negative_literal never_type pointer_type primitive_type qualified_type
        reference_type removed_trait_bound scoped_type_identifier trait_bounds tuple_type type_arguments
        type_binding type_cast_expression type_identifier type_item type_parameter type_parameters
        unit_expression unit_type use_bounds where_clause where_predicate""",
    Category.STRUCTURE: """
        arguments empty_statement expression_statement parenthesized_expression source_file token_tree
        token_tree_pattern""",
}
