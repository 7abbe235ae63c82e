"""Statements and expressions of languages with braces, such as Java, on tree-sitter's trees."""
