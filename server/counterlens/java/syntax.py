r"""The node types of the Java grammar: their concept categories, operators and definitions; and its escapes.

The paper categorises Python; constructs that Python has, too, keep its category. Others: declarations with
types and modifiers are `scope`, names and conversions of types are `types`. An annotation is `functional
programming`, like a decorator, and so is creating an object, which is a call in Python. `yield` ends an arm
of a `switch`: `decision`. A label serves loops: `iteration`. The resources of a `try` are `exceptions`, like
the `try` itself.

Unicode escapes of Java may be syntax, because Java translates them before it reads tokens: `\u007b` is a
brace, and `\u000a` ends a line comment (Java Language Specification, 3.3). Tree-sitter sees the text as it is
written, so the tree of a file with such an escape is not the one that Java sees.
"""

from __future__ import annotations

import re
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
_TOKEN = re.compile(
    r"""
    (?P<line>//[^\r\n]*)
    | (?P<block>/\*.*?(?:\*/|\Z))
    | (?P<text>\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z))
    | (?P<string>"(?:\\.|[^"\\\r\n])*)
    | (?P<character>'(?:\\.|[^'\\\r\n])*)
    | (?P<code>\\u+[0-9a-fA-F]{4})
    """,
    re.DOTALL | re.VERBOSE,
)
# A backslash behind an odd number of backslashes begins no escape.
_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(?P<escape>\\u+(?P<digits>[0-9a-fA-F]{4}))")
_ENDING = {"line": "\r\n", "block": "*/", "text": '"\\', "string": '"\\\r\n', "character": "'\\\r\n"}
"""The characters that end a token, or change how the rest of it is read."""


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


def escape_that_is_syntax(source: str) -> str | None:
    r"""Why the tree of a Java source is not the one that Java sees; None if it is.

    Escapes in literals and comments are text, unless they end one, as `\u0022` does.
    """
    for token in _TOKEN.finditer(source) if "\\u" in source else ():
        for escape in _ESCAPE.finditer(token[0]):
            kind = token.lastgroup
            if kind == "code" or chr(int(escape["digits"], 16)) in _ENDING[str(kind)]:
                line = source.count("\n", 0, token.start() + escape.start("escape")) + 1
                return (
                    f"line {line} has the unicode escape {escape['escape']}, which Java translates before it "
                    "reads tokens; Counterlens cannot"
                )
    return None


def as_java_reads_it(source: str) -> str:
    """The text with its unicode escapes translated, if one of them is syntax; the same program for Java.

    An escaped backslash before another one or a `u` stays, as do halves of surrogate pairs and controls.
    """
    return source if escape_that_is_syntax(source) is None else _ESCAPE.sub(_translate, source)


def _translate(escape: re.Match[str]) -> str:
    character = chr(int(escape["digits"], 16))
    follows = escape.string[escape.end() : escape.end() + 1]
    begins_another = character == "\\" and follows in {"u", "\\"}
    if begins_another or not (character.isprintable() or character in "\t\n\f\r"):
        return escape[0]
    return escape[0].removesuffix(escape["escape"]) + character
