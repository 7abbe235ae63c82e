"""Reading Java's escapes, and its tables of node types."""
