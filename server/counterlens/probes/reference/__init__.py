"""The usual scores of benchmarks, by the published prompts and counting, beside the published values."""
