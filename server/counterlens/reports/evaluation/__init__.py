"""What a run found: Markdown, JSON, CSV, a page, and the comparison of two runs."""
