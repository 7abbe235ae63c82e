"""What Java and C have in common: blocks, statements and expressions over their tree-sitter trees."""
