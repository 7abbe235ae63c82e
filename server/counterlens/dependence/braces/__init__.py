"""The common part of Java and C: blocks, statements and expressions over their tree-sitter trees."""
