"""The concept category of every named node type of the TypeScript grammar, and of its dialect with JSX.

Node types that JavaScript has, too, have the same category here. Nodes that name, restrict or convert a type
are `types`, if they have no value of their own at run time: also `extends` and `implements`, aliases, and
assertions such as `as`, `satisfies` and `!`. Declarations of members and parameters are `scope`, with their
visibility. An `enum` has the category of Java's, because its body contains values.
"""

from __future__ import annotations

from counterlens.scored.javascript import ECMASCRIPT, JSX
from counterlens.syntax.concepts.categories import Category, merge

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
