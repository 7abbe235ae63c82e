"""The concept category of every named node type of the C++ grammar.

Node types that C has, too, have the same category here. Template parameters, their constraints (`concept`,
`requires`), base classes and type inference (`auto`, `decltype`) are `types`; `template` itself is `scope`,
like the node around a decorated definition in Python. `new` and `delete` are calls: `functional programming`,
and so are coroutines and folds. Initialisers of a constructor are `operators`, like assignments. `noexcept`
and `throw()` are `exceptions`, and `static_assert` is `testing`.
"""

from __future__ import annotations

from counterlens.c.concepts import C_AND_CPP
from counterlens.syntax.concepts.categories import Category, merge

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
