"""The concept category of every named node type of the C grammar, with its GNU and Microsoft extensions.

The paper categorises Python; constructs that Python has, too, keep its category. Others: a declaration is
`scope`, and its initialiser `operators`, as in Java. A declarator of a pointer is `types`, one of an array
`data structures`; so is the comma operator, as in JavaScript. `struct`, `union` and `enum` open a scope, even
if only their name is used, because the node type is the same. Conditional compilation and `_Generic` are
`decision`; a macro or an included file is `scope`. Attributes are `functional programming`, like decorators,
and so is assembler code, like a call. A label or `goto` is `iteration`. `assert` is an ordinary macro, so no
node is `testing`.
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
