"""The concept category of every named node type of the languages that are only scored.

The paper categorises Python; constructs that Python has, too, keep its category.

C#: Constructs of Java have its category. Node types of neither: a query is a comprehension, so its clauses
are `functional programming`; a property and its accessors are `scope`, like methods, and so is `using`, which
is Python's `with`. A copy with changes (`with`), a range and `?.` are `data structures`. `checked` turns an
overflow into an exception: `exceptions`. Regions and pragmas are `scope`, conditional compilation is
`decision`. C# has no `assert`, so no node is `testing`.

C: A declaration is `scope`, and its initialiser `operators`, as in Java. A declarator of a pointer is
`types`, one of an array `data structures`; so is the comma operator, as in JavaScript. `struct`, `union` and
`enum` open a scope, even if only their name is used, because the node type is the same. Conditional
compilation and `_Generic` are `decision`; a macro or an included file is `scope`. Attributes are `functional
programming`, like decorators, and so is assembler code, like a call. A label or `goto` is `iteration`.
`assert` is an ordinary macro, so no node is `testing`.

C++: Node types that C has, too, have the same category here. Template parameters, their constraints
(`concept`, `requires`), base classes and type inference (`auto`, `decltype`) are `types`; `template` itself
is `scope`, like the node around a decorated definition in Python. `new` and `delete` are calls: `functional
programming`, and so are coroutines and folds. Initialisers of a constructor are `operators`, like
assignments. `noexcept` and `throw()` are `exceptions`, and `static_assert` is `testing`.

Go: `:=` and the specifications of `var` and `const` are `operators`, like assignments, and so are sending to
a channel and receiving from one. `go` starts a call: `functional programming`, like `await`. `defer` runs
however its function ends, like `finally`: `exceptions`, the only such node, because errors are values.
`select` is `decision`, and a label or `goto` is `iteration`. Go has no `assert`, so no node is `testing`.

Rust: `let` is `operators`, like an assignment. A pattern is `decision`, except those of tuples and slices,
which also destructure in assignments: `data structures`. `?` propagates an error: `exceptions`. A macro call
is `functional programming`, like a call, its definition is `scope`, and a repetition in it `iteration`; its
token trees are unparsed and only group tokens. Lifetimes, bounds and `where` restrict types: `types`.
`assert!` is an ordinary macro, so no node is `testing`.

JavaScript and TypeScript: A function expression (`arrow_function`, `function_expression`) is `functional
programming`, like a lambda, and so is `new`, which is a call in Python. JSX elements build values: `data
structures`; their text and regular expressions are `natural language`, like strings. JavaScript has no
`assert`, so no node is `testing`.

Nodes of TypeScript that name, restrict or convert a type are `types`, if they have no value of their own at
run time: also `extends` and `implements`, aliases, and assertions such as `as`, `satisfies` and `!`.
Declarations of members and parameters are `scope`, with their visibility. An `enum` has the category of
Java's, because its body contains values.
"""

from __future__ import annotations

from counterlens.syntax.concepts import Category, merge

C_AND_CPP: dict[Category, str] = {
    Category.DATA_STRUCTURES: """
        abstract_array_declarator array_declarator comma_expression compound_literal_expression
        concatenated_string enumerator enumerator_list field_designator field_expression initializer_list
        initializer_pair subscript_designator subscript_expression subscript_range_designator""",
    Category.DECISION: """
        case_statement conditional_expression else_clause generic_expression if_statement preproc_elif
        preproc_elifdef preproc_else preproc_if preproc_ifdef switch_statement""",
    Category.EXCEPTIONS: "seh_except_clause seh_finally_clause seh_leave_statement seh_try_statement",
    Category.FUNCTIONAL: """
        attribute attribute_declaration attribute_specifier call_expression gnu_asm_expression""",
    Category.ITERATION: """
        break_statement continue_statement do_statement for_statement goto_statement labeled_statement
        while_statement""",
    Category.NATURAL_LANGUAGE: """
        char_literal character comment escape_sequence field_identifier identifier statement_identifier
        string_content string_literal system_lib_string""",
    Category.OPERATORS: """
        assignment_expression binary_expression init_declarator pointer_expression preproc_defined
        unary_expression update_expression""",
    Category.SCOPE: """
        attributed_declarator attributed_statement compound_statement declaration declaration_list
        enum_specifier field_declaration field_declaration_list function_declarator function_definition
        gnu_asm_qualifier linkage_specification ms_call_modifier ms_declspec_modifier
        parameter_declaration parameter_list preproc_arg preproc_call preproc_def preproc_directive
        preproc_function_def preproc_include preproc_params return_statement storage_class_specifier
        struct_specifier union_specifier""",
    Category.TYPES: """
        abstract_function_declarator abstract_pointer_declarator alignas_qualifier alignof_expression
        bitfield_clause cast_expression false ms_based_modifier ms_pointer_modifier ms_restrict_modifier
        ms_signed_ptr_modifier ms_unaligned_ptr_modifier ms_unsigned_ptr_modifier null number_literal
        offsetof_expression pointer_declarator primitive_type sized_type_specifier sizeof_expression true
        type_definition type_descriptor type_identifier type_qualifier""",
    Category.STRUCTURE: """
        abstract_parenthesized_declarator argument_list expression_statement extension_expression
        gnu_asm_clobber_list gnu_asm_goto_list gnu_asm_input_operand gnu_asm_input_operand_list
        gnu_asm_output_operand gnu_asm_output_operand_list parenthesized_declarator
        parenthesized_expression translation_unit""",
}
"""Node types that the grammars of C and C++ share."""

C = merge(C_AND_CPP, {Category.SCOPE: "variadic_parameter", Category.TYPES: "macro_type_specifier"})

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


_OWN: dict[Category, str] = {
    Category.DATA_STRUCTURES: "new_declarator parameter_pack_expansion structured_binding_declarator",
    Category.EXCEPTIONS: "catch_clause noexcept throw_specifier throw_statement try_statement",
    Category.FUNCTIONAL: """
        co_await_expression co_yield_statement delete_expression fold_expression lambda_capture_initializer
        lambda_capture_specifier lambda_default_capture lambda_expression new_expression""",
    Category.ITERATION: "for_range_loop",
    Category.NATURAL_LANGUAGE: """
        dependent_name destructor_name literal_suffix namespace_identifier operator_name
        qualified_identifier raw_string_content raw_string_delimiter raw_string_literal""",
    Category.OPERATORS: "field_initializer",
    Category.SCOPE: """
        access_specifier class_specifier co_return_statement default_method_clause delete_method_clause
        explicit_function_specifier friend_declaration namespace_alias_definition namespace_definition
        nested_namespace_specifier operator_cast optional_parameter_declaration pure_virtual_clause
        ref_qualifier template_declaration this using_declaration variadic_declarator
        variadic_parameter_declaration virtual_specifier""",
    Category.TESTING: "static_assert_declaration",
    Category.TYPES: """
        abstract_reference_declarator alias_declaration auto base_class_clause compound_requirement
        concept_definition constraint_conjunction constraint_disjunction decltype dependent_type
        optional_type_parameter_declaration placeholder_type_specifier pointer_type_declarator
        reference_declarator requirement_seq requires_clause requires_expression simple_requirement
        template_argument_list template_function template_instantiation template_method
        template_parameter_list template_template_parameter_declaration template_type
        trailing_return_type type_parameter_declaration type_requirement user_defined_literal
        variadic_type_parameter_declaration""",
    Category.STRUCTURE: """
        condition_clause field_initializer_list init_statement subscript_argument_list""",
}

CPP = merge(C_AND_CPP, _OWN)


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
