"""The common part of Java and C: blocks, statements and expressions on their tree-sitter trees."""
