"""Tests of readings, with models that understand, guess, or agree on something else."""
