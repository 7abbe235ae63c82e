"""The third face: evidence for assistants that speak the Model Context Protocol. Needs the extra `mcp`."""
