"""Reports in the formats for readers: each format does escaping, fences and table layout in one place."""
