"""Runs in the forms of other harnesses: EvalPlus, lm-evaluation-harness, Inspect."""
