"""The third front end: evidence for assistants through the Model Context Protocol. Needs the extra `mcp`."""
