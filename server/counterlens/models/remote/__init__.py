"""Remote models: any OpenAI-compatible endpoint, through its completions or its chat API."""
