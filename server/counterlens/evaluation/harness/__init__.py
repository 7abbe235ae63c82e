"""Runs in the formats of other harnesses: EvalPlus, lm-evaluation-harness, Inspect."""
